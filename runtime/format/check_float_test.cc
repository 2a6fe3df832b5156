#include <gtest/gtest.h>

#include "runtime/format/test_artifact.h"

namespace fold::format {
namespace {

constexpr ElementType kReal = ElementType::F64;

TEST(CheckFloat, Conv) {
  TestArtifact a;
  const int x = a.Arena(kReal, {1, 4, 5, 5});
  const int w = a.Arena(kReal, {6, 2, 3, 3});
  const int b = a.Arena(kReal, {6});
  const int y = a.Arena(kReal, {1, 6, 3, 3});
  ConvParametersT p;
  p.kernel_height = p.kernel_width = 3;
  p.groups = 2;
  OpT* op = a.Add(Opcode::F64_CONV, std::move(p), {x, w, b}, y);
  EXPECT_TRUE(Accepts(&a));
  op->parameters.AsConvParameters()->groups = 1;
  EXPECT_TRUE(Refuses(&a, "weights do not fit the kernel"));
  op->parameters.AsConvParameters()->groups = 3;
  EXPECT_TRUE(Refuses(&a, "3 groups"));
  op->parameters.AsConvParameters()->groups = 2;
  a.artifact.tensors[b]->shape = {5};
  a.artifact.tensors[b]->bytes = 40;
  EXPECT_TRUE(Refuses(&a, "bias does not fit"));
}

TEST(CheckFloat, GemmAndMatmul) {
  TestArtifact a;
  const int x = a.Arena(kReal, {2, 3});
  const int w = a.Arena(kReal, {4, 3});
  const int c = a.Arena(kReal, {4});
  const int y = a.Arena(kReal, {2, 4});
  F64GemmParametersT p;
  p.transpose_b = true;
  OpT* op = a.Add(Opcode::F64_GEMM, p, {x, w, c}, y);
  EXPECT_TRUE(Accepts(&a));
  op->parameters.AsF64GemmParameters()->transpose_b = false;
  EXPECT_TRUE(Refuses(&a, "shapes do not fit"));
  op->parameters.AsF64GemmParameters()->transpose_b = true;
  a.artifact.tensors[c]->shape = {4, 1};
  EXPECT_TRUE(Refuses(&a, "C does not broadcast"));
  op->opcode = Opcode::F64_MATMUL;
  op->parameters.Set(NoParametersT());
  op->inputs = {x, w};
  EXPECT_TRUE(Refuses(&a, "shapes do not fit"));
  a.artifact.tensors[w]->shape = {3, 4};
  EXPECT_TRUE(Accepts(&a));
  a.artifact.tensors[w]->type = ElementType::S64;
  EXPECT_TRUE(Refuses(&a, "operand 1 is not F64"));
}

TEST(CheckFloat, Pointwise) {
  TestArtifact a;
  const int x = a.Arena(kReal, {2, 3});
  const int y = a.Arena(kReal, {2, 3});
  OpT* op = a.Add(Opcode::F64_UNARY, F64UnaryParametersT(), {x}, y);
  EXPECT_TRUE(Accepts(&a));
  op->parameters.AsF64UnaryParameters()->kind = static_cast<UnaryKind>(99);
  EXPECT_TRUE(Refuses(&a, "unknown kind"));
  op->opcode = Opcode::F64_SOFTMAX;
  op->parameters.Set(F64SoftmaxParametersT());
  EXPECT_TRUE(Refuses(&a, "axis -1"));
  op->parameters.AsF64SoftmaxParameters()->axis = 2;
  EXPECT_TRUE(Refuses(&a, "axis 2"));
  op->parameters.AsF64SoftmaxParameters()->axis = 1;
  EXPECT_TRUE(Accepts(&a));
  op->opcode = Opcode::F64_BINARY;
  op->inputs = {x, x};
  op->parameters.Set(F64BinaryParametersT());
  op->parameters.AsF64BinaryParameters()->kind = static_cast<BinaryKind>(7);
  EXPECT_TRUE(Refuses(&a, "unknown kind"));
  op->parameters.AsF64BinaryParameters()->kind = BinaryKind::POW;
  EXPECT_TRUE(Accepts(&a));
  a.artifact.tensors[x]->shape = {3, 2};
  EXPECT_TRUE(Refuses(&a, "does not broadcast"));
}

TEST(CheckFloat, PoolsAndReductions) {
  TestArtifact a;
  const int x = a.Arena(kReal, {1, 2, 6});
  const int y = a.Arena(kReal, {1, 2, 3});
  PoolParametersT p;
  p.kernel_width = 2;
  p.stride_width = 2;
  OpT* op = a.Add(Opcode::F64_MAX_POOL, std::move(p), {x}, y);
  EXPECT_TRUE(Accepts(&a));
  op->opcode = Opcode::F64_AVERAGE_POOL;
  EXPECT_TRUE(Refuses(&a, "0 divisors for 1 positions"));
  op->parameters.AsPoolParameters()->row_divisors = {1};
  op->parameters.AsPoolParameters()->column_divisors = {2, 2};
  EXPECT_TRUE(Refuses(&a, "2 divisors for 3 positions"));
  op->parameters.AsPoolParameters()->column_divisors = {2, 2, 2};
  EXPECT_TRUE(Accepts(&a));
  op->opcode = Opcode::F64_REDUCE;
  op->parameters.Set(ReduceParametersT());
  EXPECT_TRUE(Refuses(&a, "does not have the other dimensions"));
  op->parameters.AsReduceParameters()->kind = static_cast<ReduceKind>(5);
  EXPECT_TRUE(Refuses(&a, "unknown kind"));
}

TEST(CheckFloat, Cast) {
  TestArtifact a;
  const int x = a.Arena(ElementType::F32, {6});
  const int y = a.Arena(kReal, {6});
  OpT* op = a.Add(Opcode::F64_CAST, NoParametersT(), {x}, y);
  EXPECT_TRUE(Accepts(&a));
  a.artifact.tensors[x]->type = ElementType::U32;
  EXPECT_TRUE(Refuses(&a, "no such conversion"));
  a.artifact.tensors[x]->type = ElementType::S32;
  EXPECT_TRUE(Accepts(&a));
  op->outputs = {x};
  op->inputs = {y};
  EXPECT_TRUE(Refuses(&a, "no such conversion"));
}

}  // namespace
}  // namespace fold::format
