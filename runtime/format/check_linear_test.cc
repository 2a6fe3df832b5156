#include <gtest/gtest.h>

#include "runtime/format/test_artifact.h"

namespace fold::format {
namespace {

class CheckConvolution : public ::testing::Test {
 protected:
  TestArtifact a = SmallNetwork();
  OpT& op() { return *a.artifact.ops[1]; }
  ConvParametersT& p() { return *op().parameters.AsConvParameters(); }
};

TEST_F(CheckConvolution, Window) {
  p().stride_height = 0;
  EXPECT_TRUE(Refuses(&a, "kernel, stride or dilation 0"));
  p().stride_height = INT32_MAX;
  EXPECT_TRUE(Refuses(&a, "kernel, stride or dilation"));
  p().stride_height = 1;
  p().dilation_width = -1;
  EXPECT_TRUE(Refuses(&a, "kernel, stride or dilation -1"));
  p().dilation_width = 1;
  p().pad_left = -1;
  EXPECT_TRUE(Refuses(&a, "padding (0, -1)"));
}

TEST_F(CheckConvolution, Constants) {
  p().kernel_width = 3;
  EXPECT_TRUE(Refuses(&a, "weights: 192 elements, not 320"));
  p().kernel_width = 1 << 20;
  p().kernel_height = 1 << 20;
  EXPECT_TRUE(Refuses(&a, "kernel is too large"));
  p().kernel_width = p().kernel_height = 2;
  op().inputs[1] = 3;
  EXPECT_TRUE(Refuses(&a, "weights: not a constant of the right type"));
  op().inputs[1] = 2;
  op().inputs[2] = 1;
  EXPECT_TRUE(Refuses(&a, "correction: not a constant of the right type"));
  op().inputs = {1, 2, 3, 2};
  EXPECT_TRUE(Refuses(&a, "weight zero points: not a constant"));
  op().inputs = {1, 2, 3, 3};
  EXPECT_TRUE(Accepts(&a));
}

TEST_F(CheckConvolution, Groups) {
  p().groups = 2;
  EXPECT_TRUE(Refuses(&a, "2 groups"));
  p().groups = 0;
  EXPECT_TRUE(Refuses(&a, "0 groups"));
}

TEST_F(CheckConvolution, ZeroPointIsACode) {
  p().input_zero = 256;
  EXPECT_TRUE(Refuses(&a, "codes from 256 to 256"));
  p().input_zero = -1;
  EXPECT_TRUE(Refuses(&a, "codes from -1 to -1"));
}

TEST_F(CheckConvolution, Images) {
  a.artifact.tensors[4]->shape = {120};
  EXPECT_TRUE(Refuses(&a, "not images of one batch"));
  a.artifact.tensors[4]->shape = {2, 2, 5, 6};
  EXPECT_TRUE(Refuses(&a, "not images of one batch"));
}

TEST(CheckLinear, Depthwise) {
  TestArtifact a;
  const int x = a.Arena(ElementType::U8, {1, 5, 5, 3});
  const int y = a.Arena(ElementType::S32, {1, 5, 5, 6});
  const int w =
      a.Constant<int16_t>(ElementType::S16, {160}, std::vector<int16_t>(160));
  ConvParametersT p;
  p.kernel_height = p.kernel_width = 3;
  p.requant = NoRequant();
  OpT* op = a.Add(Opcode::DEPTHWISE_CONV, std::move(p), {x, w}, y);
  EXPECT_TRUE(Accepts(&a));
  op->parameters.AsConvParameters()->kernel_width = 4;
  EXPECT_TRUE(Refuses(&a, "weights: 160 elements, not 192"));
  op->parameters.AsConvParameters()->kernel_width = 3;
  a.artifact.tensors[y]->shape = {1, 6, 5, 5};
  EXPECT_TRUE(Refuses(&a, "3 channels to 5"));
}

TEST(CheckLinear, FullyConnected) {
  TestArtifact a;
  const int x = a.Arena(ElementType::S8, {3, 10});
  const int y = a.Arena(ElementType::S32, {3, 5});
  const int w =
      a.Constant<int8_t>(ElementType::S8, {192}, std::vector<int8_t>(192));
  const int c =
      a.Constant<int32_t>(ElementType::S32, {5}, std::vector<int32_t>(5));
  FullyConnectedParametersT p;
  p.requant = NoRequant();
  OpT* op = a.Add(Opcode::FULLY_CONNECTED, std::move(p), {x, w, c}, y);
  a.Scratch(op, MinimumMatrixScratch(10));
  EXPECT_TRUE(Accepts(&a));
  a.artifact.tensors[y]->shape = {5, 3};
  EXPECT_TRUE(Refuses(&a, "weights: 192 elements, not 128"));
  a.artifact.tensors[y]->shape = {3, 5};
  a.artifact.tensors[c]->shape = {4};
  a.artifact.tensors[c]->bytes = 16;
  EXPECT_TRUE(Refuses(&a, "correction: 4 elements, not 5"));
  a.artifact.tensors[y]->shape = {15};
  EXPECT_TRUE(Refuses(&a, "weights: 192 elements"));
  a.artifact.tensors[x]->type = ElementType::BOOL;
  EXPECT_TRUE(Refuses(&a, "input is not 8-bit"));
}

class CheckPools : public ::testing::Test {
 protected:
  CheckPools() {
    const int x = a.Arena(ElementType::U8, {1, 4, 4, 3});
    y = a.Arena(ElementType::U8, {1, 2, 2, 3});
    PoolParametersT p;
    p.kernel_height = p.kernel_width = 2;
    p.stride_height = p.stride_width = 2;
    p.requant = ShiftRequant(2, 0, 255);
    op = a.Add(Opcode::AVERAGE_POOL, std::move(p), {x}, y);
  }
  PoolParametersT& p() { return *op->parameters.AsPoolParameters(); }

  TestArtifact a;
  OpT* op;
  int y;
};

TEST_F(CheckPools, Classes) {
  EXPECT_TRUE(Accepts(&a));
  p().row_classes = {0, 1};
  EXPECT_TRUE(Accepts(&a));  // one set of constants for all classes
  p().requant->multipliers = {1, 1};
  p().requant->addends = {1, 1};
  p().requant->shifts = {1, 1};
  EXPECT_TRUE(Accepts(&a));
  p().column_classes = {0, 1};
  EXPECT_TRUE(Refuses(&a, "constants for 2 of 3 channels"));
  p().column_class_count = 0;
  EXPECT_TRUE(Refuses(&a, "no column classes"));
  p().column_classes = {0, -1};
  EXPECT_TRUE(Refuses(&a, "class -1"));
  p().column_classes = {0};
  EXPECT_TRUE(Refuses(&a, "1 classes for 2 positions"));
}

TEST_F(CheckPools, Channels) {
  a.artifact.tensors[y]->shape = {1, 2, 3, 2};
  EXPECT_TRUE(Refuses(&a, "input and result do not match"));
}

TEST_F(CheckPools, MaxKeepsTheType) {
  op->opcode = Opcode::MAX_POOL;
  EXPECT_TRUE(Accepts(&a));
  a.artifact.tensors[y]->type = ElementType::S8;
  EXPECT_TRUE(Refuses(&a, "input and result do not match"));
}

TEST(CheckLinear, ReduceSum) {
  TestArtifact a;
  const int x = a.Arena(ElementType::S8, {2, 3, 4});
  const int y = a.Arena(ElementType::S32, {2, 4});
  ReduceParametersT p;
  p.axes = {1};
  p.requant = NoRequant();
  OpT* op = a.Add(Opcode::REDUCE_SUM, std::move(p), {x}, y);
  ReduceParametersT& q = *op->parameters.AsReduceParameters();
  EXPECT_TRUE(Accepts(&a));
  q.axes = {0};
  EXPECT_TRUE(Refuses(&a, "does not have the other dimensions"));
  q.axes = {1, 1};
  EXPECT_TRUE(Refuses(&a, "axis 1"));
  q.axes = {3};
  EXPECT_TRUE(Refuses(&a, "axis 3"));
  q.axes = {0, 1, 2, 3};
  EXPECT_TRUE(Refuses(&a, "too many axes"));
  q.axes = {1};
  q.kind = ReduceKind::MEAN;
  EXPECT_TRUE(Refuses(&a, "not a sum of codes"));
}

TEST(CheckLinear, Transpose) {
  TestArtifact a;
  const int x = a.Arena(ElementType::F16, {2, 3});
  const int y = a.Arena(ElementType::F16, {3, 2});
  TransposeParametersT p;
  p.permutation = {1, 0};
  OpT* op = a.Add(Opcode::TRANSPOSE, std::move(p), {x}, y);
  EXPECT_TRUE(Accepts(&a));
  op->parameters.AsTransposeParameters()->permutation = {0, 1};
  EXPECT_TRUE(Refuses(&a, "not the permuted one"));
  op->parameters.AsTransposeParameters()->permutation = {1, 1};
  EXPECT_TRUE(Refuses(&a, "not a permutation of 2"));
  op->parameters.AsTransposeParameters()->permutation = {};
  EXPECT_TRUE(Refuses(&a, "not a permutation of 2"));
}

}  // namespace
}  // namespace fold::format
