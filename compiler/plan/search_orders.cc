#include "compiler/plan/search_orders.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "compiler/plan/first_fit.h"

namespace fold {
namespace {

// Powers in tenths; `noise` in 1/1024 of a doubling.
struct Weights {
  int64_t size, duration, pressure, noise;
};

// Found by trying random ones on the published MiniMalloc instances.
constexpr Weights kWeights[] = {
    {3, 9, 170, 0},  {18, 19, 0, 0},  {1, 4, 80, 0},
    {8, 18, 190, 0}, {15, 2, 140, 0}, {0, 7, 100, 0},
};

// 1024 times the binary logarithm, rounded down, in integers alone.
int64_t Log2(int64_t value) {
  if (value <= 1) return 0;
  int64_t whole = 0;
  while (value >> (whole + 1)) ++whole;
  // The mantissa in [1, 2) with 30 bits behind the point.
  uint64_t mantissa = whole >= 30
                          ? static_cast<uint64_t>(value) >> (whole - 30)
                          : static_cast<uint64_t>(value) << (30 - whole);
  int64_t log = whole;
  for (int bit = 0; bit < 10; ++bit) {
    mantissa = mantissa * mantissa >> 30;
    log <<= 1;
    if (mantissa >> 31) {
      mantissa >>= 1;
      ++log;
    }
  }
  return log;
}

// SplitMix64 (G. Steele, D. Lea, C. Flood, 2014).
class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed) {}
  int64_t Below(int64_t limit) {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<int64_t>((z ^ (z >> 31)) % static_cast<uint64_t>(limit));
  }

 private:
  uint64_t state_;
};

std::vector<int> WeightedOrder(const Packing& packing, const Weights& weights,
                               Generator& noise) {
  std::vector<int64_t> pressures(packing.blocks.size());
  for (const auto& section : packing.sections) {
    int64_t sum = 0;
    for (int i : section) sum += packing.blocks[i].size;
    for (int i : section) pressures[i] = std::max(pressures[i], sum);
  }
  std::vector<int64_t> keys;
  for (size_t i = 0; i < packing.blocks.size(); ++i) {
    const Block& block = packing.blocks[i];
    keys.push_back(weights.size * Log2(block.size) +
                   weights.duration * Log2(block.last - block.first + 1) +
                   weights.pressure * Log2(pressures[i]) +
                   10 * noise.Below(weights.noise + 1));
  }
  std::vector<int> order(packing.blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return keys[a] > keys[b]; });
  return order;
}

}  // namespace

std::vector<int> SearchOrder(const Packing& packing, int attempt) {
  constexpr int kFirst = std::size(kBlockOrders), kThen = std::size(kWeights);
  if (attempt < kFirst) return SortBlocks(packing, kBlockOrders[attempt]);
  Generator generator(static_cast<uint64_t>(attempt));
  if (attempt < kFirst + kThen) {
    return WeightedOrder(packing, kWeights[attempt - kFirst], generator);
  }
  Weights weights{};
  weights.size = generator.Below(21);
  weights.duration = generator.Below(21);
  weights.pressure = generator.Below(2) ? generator.Below(201) : 0;
  weights.noise = generator.Below(3) ? generator.Below(1024) : 0;
  return WeightedOrder(packing, weights, generator);
}

int64_t AttemptLength(int attempt) {
  int64_t index = attempt + 1;
  while (true) {
    int64_t power = 1;
    while (2 * power - 1 < index) power *= 2;
    if (2 * power - 1 == index) return power;
    index -= power - 1;
  }
}

}  // namespace fold
