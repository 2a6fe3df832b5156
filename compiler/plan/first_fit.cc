#include "compiler/plan/first_fit.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace fold {
namespace {

// For each block, the fullest of its sections.
std::vector<int64_t> Pressures(const Packing& packing) {
  std::vector<int64_t> pressures(packing.blocks.size());
  for (const auto& section : packing.sections) {
    int64_t sum = 0;
    for (int i : section) sum += packing.blocks[i].size;
    for (int i : section) pressures[i] = std::max(pressures[i], sum);
  }
  return pressures;
}

}  // namespace

std::vector<int> SortBlocks(const Packing& packing, BlockOrder order) {
  const std::vector<int64_t> pressures = Pressures(packing);
  // Smaller keys come first.
  const auto key = [&](int i) -> std::pair<int64_t, int64_t> {
    const Block& block = packing.blocks[i];
    const int64_t duration = block.last - block.first + 1;
    switch (order) {
      case BlockOrder::kSize:
        return {-block.size, -duration};
      case BlockOrder::kStart:
        return {block.first, -block.size};
      case BlockOrder::kArea:
        return {-block.size * duration, -block.size};
      case BlockOrder::kDuration:
        return {-duration, -block.size};
      case BlockOrder::kPressure:
        return {-pressures[i], -block.size};
    }
    return {};
  };
  std::vector<int> sorted(packing.blocks.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](int a, int b) { return key(a) < key(b); });
  return sorted;
}

std::vector<int64_t> FirstFit(const Packing& packing,
                              const std::vector<int>& order) {
  std::vector<int64_t> offsets(packing.blocks.size());
  std::vector<bool> placed(packing.blocks.size());
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (int i : order) {
    const Block& block = packing.blocks[i];
    taken.clear();
    for (int j : packing.overlaps[i]) {
      if (!placed[j]) continue;
      taken.emplace_back(offsets[j], offsets[j] + packing.blocks[j].size);
    }
    std::sort(taken.begin(), taken.end());
    int64_t at = 0;
    for (const auto& [low, high] : taken) {
      if (low >= at + block.size) break;
      at = std::max(at, AlignUp(high, block.alignment));
    }
    offsets[i] = at;
    placed[i] = true;
  }
  return offsets;
}

}  // namespace fold
