// Integer element types as kernels see them, with loads and stores that give
// and take 64-bit codes.
#ifndef RUNTIME_NUMERICS_CODE_TYPE_H_
#define RUNTIME_NUMERICS_CODE_TYPE_H_

#include <cstdint>

namespace fold {

enum class CodeType : uint8_t { kU8, kS8, kU16, kS16, kU32, kS32 };

constexpr int64_t CodeBytes(CodeType type) {
  return type == CodeType::kU8 || type == CodeType::kS8     ? 1
         : type == CodeType::kU16 || type == CodeType::kS16 ? 2
                                                            : 4;
}

constexpr int64_t LowestCode(CodeType type) {
  return type == CodeType::kS8    ? INT8_MIN
         : type == CodeType::kS16 ? INT16_MIN
         : type == CodeType::kS32 ? INT32_MIN
                                  : 0;
}

constexpr int64_t HighestCode(CodeType type) {
  return type == CodeType::kU8    ? UINT8_MAX
         : type == CodeType::kS8  ? INT8_MAX
         : type == CodeType::kU16 ? UINT16_MAX
         : type == CodeType::kS16 ? INT16_MAX
         : type == CodeType::kU32 ? int64_t{UINT32_MAX}
                                  : INT32_MAX;
}

// Element `i` of the array at `base`.
inline int64_t LoadCode(CodeType type, const void* base, int64_t i) {
  switch (type) {
    case CodeType::kU8:
      return static_cast<const uint8_t*>(base)[i];
    case CodeType::kS8:
      return static_cast<const int8_t*>(base)[i];
    case CodeType::kU16:
      return static_cast<const uint16_t*>(base)[i];
    case CodeType::kS16:
      return static_cast<const int16_t*>(base)[i];
    case CodeType::kU32:
      return static_cast<const uint32_t*>(base)[i];
    case CodeType::kS32:
      return static_cast<const int32_t*>(base)[i];
  }
  return 0;
}

// Stores the low bits of `code`.
inline void StoreCode(CodeType type, void* base, int64_t i, int64_t code) {
  switch (CodeBytes(type)) {
    case 1:
      static_cast<uint8_t*>(base)[i] = static_cast<uint8_t>(code);
      return;
    case 2:
      static_cast<uint16_t*>(base)[i] = static_cast<uint16_t>(code);
      return;
    default:
      static_cast<uint32_t*>(base)[i] = static_cast<uint32_t>(code);
      return;
  }
}

template <typename Code>
inline void LoadCodesAs(const void* base, int64_t first, int64_t stride,
                        int64_t count, int64_t* codes) {
  const Code* from = static_cast<const Code*>(base) + first;
  for (int64_t i = 0; i < count; ++i) codes[i] = int64_t{from[i * stride]};
}

// codes[i] = element first + i * stride.
inline void LoadCodes(CodeType type, const void* base, int64_t first,
                      int64_t stride, int64_t count, int64_t* codes) {
  switch (type) {
    case CodeType::kU8:
      return LoadCodesAs<uint8_t>(base, first, stride, count, codes);
    case CodeType::kS8:
      return LoadCodesAs<int8_t>(base, first, stride, count, codes);
    case CodeType::kU16:
      return LoadCodesAs<uint16_t>(base, first, stride, count, codes);
    case CodeType::kS16:
      return LoadCodesAs<int16_t>(base, first, stride, count, codes);
    case CodeType::kU32:
      return LoadCodesAs<uint32_t>(base, first, stride, count, codes);
    case CodeType::kS32:
      return LoadCodesAs<int32_t>(base, first, stride, count, codes);
  }
}

template <typename Code>
inline void StoreCodesAs(void* base, int64_t first, int64_t count,
                         const int64_t* codes) {
  Code* to = static_cast<Code*>(base) + first;
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Code>(codes[i]);
}

// Element first + i = low bits of codes[i].
inline void StoreCodes(CodeType type, void* base, int64_t first, int64_t count,
                       const int64_t* codes) {
  switch (CodeBytes(type)) {
    case 1:
      return StoreCodesAs<uint8_t>(base, first, count, codes);
    case 2:
      return StoreCodesAs<uint16_t>(base, first, count, codes);
    default:
      return StoreCodesAs<uint32_t>(base, first, count, codes);
  }
}

}  // namespace fold

#endif  // RUNTIME_NUMERICS_CODE_TYPE_H_
