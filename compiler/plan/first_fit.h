// First fit: blocks in some order, each at the lowest place that is free while
// it lives.
#ifndef FOLD_COMPILER_PLAN_FIRST_FIT_H_
#define FOLD_COMPILER_PLAN_FIRST_FIT_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/plan/packing.h"

namespace fold {

// Orders in which first fit is tried. Ties go to the lower index.
enum class BlockOrder {
  kSize,      // largest first
  kStart,     // earliest first
  kArea,      // largest size times time first
  kDuration,  // longest first
  kPressure,  // those of the fullest sections first, then the largest
};
inline constexpr BlockOrder kBlockOrders[] = {
    BlockOrder::kSize, BlockOrder::kStart, BlockOrder::kArea,
    BlockOrder::kDuration, BlockOrder::kPressure};

// All blocks of the packing in this order.
std::vector<int> SortBlocks(const Packing& packing, BlockOrder order);

// The offsets that first fit gives for this order. O(n^2 log n).
std::vector<int64_t> FirstFit(const Packing& packing,
                              const std::vector<int>& order);

}  // namespace fold

#endif  // FOLD_COMPILER_PLAN_FIRST_FIT_H_
