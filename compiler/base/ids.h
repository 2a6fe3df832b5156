// Distinct integer identities for the things of a graph. An id is an index
// into its graph's table; ids are never reused, so they order, copy and print
// the same on every machine.
#ifndef FOLD_COMPILER_BASE_IDS_H_
#define FOLD_COMPILER_BASE_IDS_H_

#include <compare>
#include <cstdint>

namespace fold {

template <typename Tag>
struct Id {
  static constexpr uint32_t kNone = 0xffffffffu;
  uint32_t index = kNone;

  constexpr Id() = default;
  constexpr explicit Id(uint32_t i) : index(i) {}
  constexpr bool valid() const { return index != kNone; }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using NodeId = Id<struct NodeTag>;
using ValueId = Id<struct ValueTag>;

}  // namespace fold

#endif  // FOLD_COMPILER_BASE_IDS_H_
