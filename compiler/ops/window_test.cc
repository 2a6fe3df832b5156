#include "compiler/ops/window.h"

#include <gtest/gtest.h>

#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

using Ints = std::vector<int64_t>;

Node With(AttributeMap attributes) {
  Node node;
  node.attributes = std::move(attributes);
  return node;
}

WindowAxis AxisOf(const AttributeMap& attributes, int64_t input,
                  int64_t kernel) {
  std::string fault;
  const auto axes = WindowOf(With(attributes), {1, 1, input}, {kernel}, &fault);
  EXPECT_TRUE(axes) << fault;
  return axes ? (*axes)[0] : WindowAxis();
}

std::string FaultOf(const AttributeMap& attributes, const Shape& input,
                    const Shape& kernel) {
  std::string fault;
  EXPECT_EQ(WindowOf(With(attributes), input, kernel, &fault), std::nullopt);
  return fault;
}

TEST(Window, Defaults) {
  const WindowAxis axis = AxisOf({}, 7, 3);
  EXPECT_EQ(axis.stride, 1);
  EXPECT_EQ(axis.dilation, 1);
  EXPECT_EQ(axis.pad_begin + axis.pad_end, 0);
  EXPECT_EQ(axis.output, 5);
}

TEST(Window, PadsStridesAndDilations) {
  const WindowAxis axis = AxisOf(
      {{"pads", Ints{1, 2}}, {"strides", Ints{2}}, {"dilations", Ints{3}}}, 8,
      3);
  EXPECT_EQ(axis.reach(), 7);
  EXPECT_EQ(axis.output, 3);  // (8 + 3 - 7) / 2 + 1
}

// Begin of all dimensions, then end of all.
TEST(Window, PadsOfTwoDimensions) {
  std::string fault;
  const auto axes = WindowOf(With({{"pads", Ints{1, 2, 3, 4}}}), {1, 1, 5, 6},
                             {2, 2}, &fault);
  ASSERT_TRUE(axes);
  EXPECT_EQ((*axes)[0].pad_begin, 1);
  EXPECT_EQ((*axes)[0].pad_end, 3);
  EXPECT_EQ((*axes)[1].pad_begin, 2);
  EXPECT_EQ((*axes)[1].pad_end, 4);
}

TEST(Window, AutomaticPads) {
  const WindowAxis upper = AxisOf(
      {{"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{2}}}, 6, 3);
  EXPECT_EQ(upper.output, 3);
  EXPECT_EQ(upper.pad_begin, 0);
  EXPECT_EQ(upper.pad_end, 1);
  const WindowAxis lower = AxisOf(
      {{"auto_pad", std::string("SAME_LOWER")}, {"strides", Ints{2}}}, 6, 3);
  EXPECT_EQ(lower.pad_begin, 1);
  EXPECT_EQ(lower.pad_end, 0);
  const WindowAxis valid =
      AxisOf({{"auto_pad", std::string("VALID")}, {"pads", Ints{1, 1}}}, 6, 3);
  EXPECT_EQ(valid.output, 4);
  // A stride beyond the kernel leaves nothing to pad.
  const WindowAxis wide = AxisOf(
      {{"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{4}}}, 9, 1);
  EXPECT_EQ(wide.pad_begin + wide.pad_end, 0);
  EXPECT_EQ(wide.output, 3);
}

TEST(Window, CeilMode) {
  EXPECT_EQ(AxisOf({{"strides", Ints{2}}}, 6, 3).output, 2);
  EXPECT_EQ(
      AxisOf({{"strides", Ints{2}}, {"ceil_mode", int64_t{1}}}, 6, 3).output,
      3);
  EXPECT_EQ(
      AxisOf({{"strides", Ints{2}}, {"ceil_mode", int64_t{1}}}, 7, 3).output,
      3);
  // The third window would begin behind the input, in its padding.
  EXPECT_EQ(AxisOf({{"strides", Ints{2}},
                    {"pads", Ints{0, 1}},
                    {"ceil_mode", int64_t{1}}},
                   4, 1)
                .output,
            2);
}

TEST(Window, Faults) {
  const char kRank[] = "window attributes do not fit the input's rank";
  const char kRange[] = "kernel, stride or dilation is out of range";
  EXPECT_EQ(FaultOf({}, {1, 1, 4}, {2, 2}), kRank);
  EXPECT_EQ(FaultOf({{"strides", Ints{1, 1}}}, {1, 1, 4}, {2}), kRank);
  EXPECT_EQ(FaultOf({{"pads", Ints{1}}}, {1, 1, 4}, {2}), kRank);
  EXPECT_EQ(FaultOf({{"dilations", Ints{1, 1}}}, {1, 1, 4}, {2}), kRank);
  EXPECT_EQ(FaultOf({{"strides", Ints{0}}}, {1, 1, 4}, {2}), kRange);
  EXPECT_EQ(FaultOf({{"dilations", Ints{-1}}}, {1, 1, 4}, {2}), kRange);
  EXPECT_EQ(FaultOf({}, {1, 1, 4}, {0}), kRange);
  EXPECT_EQ(FaultOf({{"dilations", Ints{1 << 30}}}, {1, 1, 4}, {4}), kRange);
  EXPECT_EQ(FaultOf({{"pads", Ints{-1, 0}}}, {1, 1, 4}, {2}),
            "negative or overflowing pads");
  EXPECT_EQ(FaultOf({{"pads", Ints{0, INT64_MAX}}}, {1, 1, 4}, {2}),
            "negative or overflowing pads");
  EXPECT_EQ(FaultOf({}, {1, 1, 4}, {5}),
            "the window is larger than the padded input");
  EXPECT_EQ(FaultOf({}, {1, 1, 0}, {1}),
            "the window is larger than the padded input");
}

}  // namespace
}  // namespace fold
