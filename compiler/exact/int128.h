// A name for the compiler's 128-bit integer, which -Wpedantic dislikes bare.
#ifndef FOLD_COMPILER_EXACT_INT128_H_
#define FOLD_COMPILER_EXACT_INT128_H_

#include <cstdint>

namespace fold::exact {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

inline constexpr bool FitsInt64(Int128 value) {
  return value >= INT64_MIN && value <= INT64_MAX;
}

inline constexpr bool FitsInt32(Int128 value) {
  return value >= INT32_MIN && value <= INT32_MAX;
}

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_INT128_H_
