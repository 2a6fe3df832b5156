#include "compiler/check/root.h"

#include <map>
#include <utility>

namespace fold::check {
namespace {

// Pairs of (class below, class above) that occur, numbered.
class ClassPairs {
 public:
  int32_t Number(int32_t below, int32_t above) {
    const auto [at, fresh] = numbers_.emplace(
        std::make_pair(below, above), static_cast<int32_t>(pairs_.size()));
    if (fresh) pairs_.push_back(at->first);
    return at->second;
  }
  const std::vector<std::pair<int32_t, int32_t>>& pairs() const {
    return pairs_;
  }

 private:
  std::map<std::pair<int32_t, int32_t>, int32_t> numbers_;
  std::vector<std::pair<int32_t, int32_t>> pairs_;
};

void AppendSteps(const Chain& from, bool below, const ClassPairs& classes,
                 Chain* to) {
  for (Step step : from) {
    if (step.scale.size() > 1) {
      std::vector<Number> scale;
      std::vector<Number> offset;
      for (const auto& [low, high] : classes.pairs()) {
        scale.push_back(step.scale[below ? low : high]);
        offset.push_back(step.offset[below ? low : high]);
      }
      step.scale = std::move(scale);
      step.offset = std::move(offset);
    }
    to->push_back(std::move(step));
  }
}

}  // namespace

Label Patches::At(int64_t group, int64_t position, int64_t k) const {
  const int64_t taps = kernel_height * kernel_width;
  const int64_t tap = k % taps;
  const int64_t column = position % out_width;
  const int64_t row = position / out_width % out_height;
  const int64_t y = rows[row * kernel_height + tap / kernel_width];
  const int64_t x = columns[column * kernel_width + tap % kernel_width];
  if (y < 0 || x < 0) return padding;
  const int64_t picture = position / (out_width * out_height);
  const int64_t channel = group * group_channels + k / taps;
  return (*labels)[picture * batch_stride + channel * channel_stride +
                   y * row_stride + x * column_stride];
}

bool Patches::pads() const {
  for (const int32_t row : rows) {
    if (row < 0) return true;
  }
  for (const int32_t column : columns) {
    if (column < 0) return true;
  }
  return false;
}

std::vector<int32_t> WindowMap(int64_t in, int64_t out, int64_t kernel,
                               int64_t stride, int64_t dilation, int64_t pad) {
  std::vector<int32_t> map;
  for (int64_t i = 0; i < out; ++i) {
    for (int64_t r = 0; r < kernel; ++r) {
      const int64_t at = i * stride - pad + r * dilation;
      map.push_back(at < 0 || at >= in ? -1 : static_cast<int32_t>(at));
    }
  }
  return map;
}

Roots::Roots() {
  Root integers;
  integers.kind = Root::Kind::kInteger;
  integers.name = "constant";
  roots_.push_back(std::move(integers));
}

uint32_t Roots::Add(Root root) {
  roots_.push_back(std::move(root));
  return static_cast<uint32_t>(roots_.size() - 1);
}

bool Roots::Integers(const Value& value) const {
  for (const uint32_t root : value.roots) {
    if (root >= roots_.size() || !roots_[root].integer()) return false;
  }
  return true;
}

bool Roots::Expand(Value* value) const {
  if (!value->tracked() || value->roots.size() != 1) return false;
  const uint32_t number = value->roots[0];
  if (number >= roots_.size()) return false;
  const Root& root = roots_[number];
  if (root.kind != Root::Kind::kChain) return false;
  const Value& base = root.base;
  ClassPairs classes;
  auto labels = std::make_shared<std::vector<Label>>();
  auto numbers = std::make_shared<std::vector<int32_t>>();
  labels->reserve(value->labels->size());
  numbers->reserve(value->labels->size());
  int32_t last_below = -1;
  int32_t last_above = -1;
  int32_t last = 0;
  for (size_t i = 0; i < value->labels->size(); ++i) {
    const uint32_t element = ElementOf((*value->labels)[i]);
    labels->push_back((*base.labels)[element]);
    const int32_t below = base.ClassOf(element);
    const int32_t above = value->ClassOf(static_cast<int64_t>(i));
    if (below != last_below || above != last_above) {
      last = classes.Number(below, above);
      last_below = below;
      last_above = above;
    }
    numbers->push_back(last);
  }
  Value result = *value;
  result.chain.clear();
  AppendSteps(base.chain, true, classes, &result.chain);
  AppendSteps(value->chain, false, classes, &result.chain);
  result.ranges.clear();
  for (const auto& [below, above] : classes.pairs()) {
    result.ranges.push_back(base.ranges[below]);
  }
  result.labels = std::move(labels);
  result.classes = std::move(numbers);
  result.roots = base.roots;
  *value = std::move(result);
  return true;
}

}  // namespace fold::check
