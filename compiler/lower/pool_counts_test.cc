#include "compiler/lower/pool_counts.h"

#include <gtest/gtest.h>

namespace fold {
namespace {

using Ints = std::vector<int64_t>;

Node Pool(const Ints& kernel, const Ints& pads, bool include_pad,
          const AttributeMap& others = {}) {
  Node node;
  node.attributes = others;
  node.attributes["kernel_shape"] = kernel;
  if (!pads.empty()) node.attributes["pads"] = pads;
  node.attributes["count_include_pad"] = int64_t{include_pad};
  return node;
}

PoolCounts CountsOf(const Node& node, const Shape& input) {
  const auto counts = PoolCounts::Of(node, input);
  EXPECT_TRUE(counts);
  return counts.value_or(PoolCounts());
}

// onnxruntime#24681: pads at the end alone, counted and not.
TEST(PoolCounts, PadsAtTheEnd) {
  const Node included = Pool({2, 2}, {0, 0, 1, 1}, true);
  const PoolCounts counts = CountsOf(included, {1, 1, 2, 2});
  EXPECT_EQ(counts.rows(), (Ints{2, 2}));
  EXPECT_EQ(counts.columns(), (Ints{2, 2}));
  EXPECT_EQ(counts.row_kinds(), Ints{2});
  EXPECT_EQ(counts.window_size(), 4);
  const PoolCounts excluded =
      CountsOf(Pool({2, 2}, {0, 0, 1, 1}, false), {1, 1, 2, 2});
  EXPECT_EQ(excluded.rows(), (Ints{2, 1}));
  EXPECT_EQ(excluded.row_kinds(), (Ints{1, 2}));
}

// A window that hangs over the end counts what is there: the padding that is
// declared, and not what lies beyond it.
TEST(PoolCounts, CeilMode) {
  const AttributeMap ceil = {{"strides", Ints{2}}, {"ceil_mode", int64_t{1}}};
  EXPECT_EQ(CountsOf(Pool({3}, {}, false, ceil), {1, 1, 6}).columns(),
            (Ints{3, 3, 2}));
  EXPECT_EQ(CountsOf(Pool({3}, {}, true, ceil), {1, 1, 6}).columns(),
            (Ints{3, 3, 2}));
  EXPECT_EQ(CountsOf(Pool({4}, {1, 1}, true, ceil), {1, 1, 7}).columns(),
            (Ints{4, 4, 4, 3}));
  EXPECT_EQ(CountsOf(Pool({4}, {1, 1}, false, ceil), {1, 1, 7}).columns(),
            (Ints{3, 4, 4, 2}));
}

TEST(PoolCounts, Dilations) {
  EXPECT_EQ(
      CountsOf(Pool({2}, {2, 1}, false, {{"dilations", Ints{3}}}), {1, 1, 5})
          .columns(),
      (Ints{1, 1, 2, 2, 1}));
}

TEST(PoolCounts, ClassesNumberKindsOfWindows) {
  const PoolCounts counts =
      CountsOf(Pool({3, 2}, {1, 0, 1, 1}, false), {1, 1, 4, 3});
  EXPECT_EQ(counts.rows(), (Ints{2, 3, 3, 2}));
  EXPECT_EQ(counts.columns(), (Ints{2, 2, 1}));
  format_::PoolParametersT p;
  counts.FillClasses(&p);
  EXPECT_EQ(p.row_classes, (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(p.column_classes, (std::vector<int>{1, 1, 0}));
  EXPECT_EQ(p.column_class_count, 2);
  counts.FillDivisors(&p);
  EXPECT_EQ(p.row_divisors, (std::vector<int>{2, 3, 3, 2}));
  counts.Fill(&p);
  EXPECT_EQ(p.kernel_height, 3);
  EXPECT_EQ(p.kernel_width, 2);
  EXPECT_EQ(p.pad_top, 1);
  EXPECT_EQ(p.pad_left, 0);
  // One kind needs no classes.
  format_::PoolParametersT plain;
  CountsOf(Pool({2, 2}, {}, false), {1, 1, 4, 4}).FillClasses(&plain);
  EXPECT_TRUE(plain.row_classes.empty());
}

TEST(PoolCounts, OneDimensionIsAsWideAsARow) {
  const PoolCounts counts = CountsOf(Pool({3}, {}, false), {1, 1, 7});
  EXPECT_EQ(counts.rows(), Ints{1});
  EXPECT_EQ(counts.columns(), Ints(5, 3));
  EXPECT_EQ(counts.window_size(), 3);
}

TEST(PoolCounts, WhatThereIsNoFormFor) {
  EXPECT_FALSE(PoolCounts::Of(Pool({2, 2, 2}, {}, false), {1, 1, 4, 4, 4}));
  EXPECT_FALSE(PoolCounts::Of(Pool({2}, {}, false), {1, 1, 4, 4}));
  // A window over padding alone has no mean.
  EXPECT_FALSE(PoolCounts::Of(Pool({1}, {2, 0}, false), {1, 1, 4}));
  EXPECT_TRUE(PoolCounts::Of(Pool({1}, {2, 0}, true), {1, 1, 4}));
  format_::PoolParametersT p;
  EXPECT_FALSE(FillWindow(Pool({2, 2, 2}, {}, false), {1, 1, 4, 4, 4}, &p));
  EXPECT_TRUE(FillWindow(Pool({2, 3}, {}, false), {1, 1, 4, 4}, &p));
  EXPECT_EQ(p.kernel_width, 3);
}

}  // namespace
}  // namespace fold
