#include <gtest/gtest.h>

#include <cmath>

#include "runtime/exec/test_run.h"

namespace fold::exec {
namespace {

using format::Dims;
using format::ElementType;
using format::Opcode;
using format::TestArtifact;
using Reals = std::vector<double>;

struct Operand {
  Dims shape;
  Reals values;
};

template <typename Parameters>
Reals RunOne(Opcode opcode, const Parameters& p,
             const std::vector<Operand>& operands, const Dims& to,
             uint32_t workers = 1) {
  TestArtifact a;
  std::vector<int> indices;
  std::vector<Bytes> inputs;
  for (const Operand& operand : operands) {
    indices.push_back(a.Input("x" + std::to_string(indices.size()),
                              ElementType::F64, operand.shape));
    inputs.push_back(BytesOf(operand.values));
  }
  const int y = a.Output("y", ElementType::F64, to);
  a.Add(opcode, p, indices, y);
  return ValuesOf<double>(RunFile(a.Finish(), inputs, "portable", workers));
}

TEST(RunFloat, ConvWithGroupsAndBias) {
  format::ConvParametersT p;
  p.kernel_width = 2;
  p.groups = 2;
  const Operand x = {{1, 2, 3}, {1, 2, 3, 10, 20, 30}};
  const Operand w = {{2, 1, 2}, {1, 10, 1, -1}};
  const Operand bias = {{2}, {0.5, 100}};
  EXPECT_EQ(RunOne(Opcode::F64_CONV, p, {x, w, bias}, {1, 2, 2}, 2),
            (Reals{21.5, 32.5, 90, 90}));
}

TEST(RunFloat, GemmTransposedWithBroadcastC) {
  format::F64GemmParametersT p;
  p.transpose_a = true;
  p.transpose_b = true;
  p.alpha = 2;
  p.beta = -1;
  // a^T is [[1, 3], [2, 4]], b^T is [[5], [6]].
  EXPECT_EQ(
      RunOne(Opcode::F64_GEMM, p,
             {{{2, 2}, {1, 2, 3, 4}}, {{1, 2}, {5, 6}}, {{1}, {100}}}, {2, 1}),
      (Reals{-54, -32}));
}

TEST(RunFloat, MatmulBroadcastsBatches) {
  const Operand a = {{2, 1, 1, 2}, {1, 2, 3, 4}};
  const Operand b = {{2, 2, 1}, {1, 10, 5, 7}};
  EXPECT_EQ(
      RunOne(Opcode::F64_MATMUL, format::NoParametersT(), {a, b}, {2, 2, 1, 1}),
      (Reals{21, 19, 43, 43}));
  EXPECT_EQ(RunOne(Opcode::F64_MATMUL, format::NoParametersT(),
                   {{{2}, {1, 2}}, {{2}, {3, 4}}}, {}),
            (Reals{11}));
}

TEST(RunFloat, BinaryAndUnary) {
  format::F64BinaryParametersT p;
  p.kind = format::BinaryKind::DIV;
  EXPECT_EQ(
      RunOne(Opcode::F64_BINARY, p, {{{2, 1}, {6, 8}}, {{2}, {2, 4}}}, {2, 2}),
      (Reals{3, 1.5, 4, 2}));
  format::F64UnaryParametersT u;
  u.kind = format::UnaryKind::CLIP;
  u.alpha = -1;
  u.beta = 2;
  Reals many(5000, 9);
  many[4999] = -7;
  const Reals clipped =
      RunOne(Opcode::F64_UNARY, u, {{{5000}, many}}, {5000}, 3);
  EXPECT_EQ(clipped[0], 2);
  EXPECT_EQ(clipped[4999], -1);
}

TEST(RunFloat, SoftmaxAlongEachAxis) {
  std::mt19937 random(1);
  Reals x(24);
  for (double& value : x) value = random() % 100 / 10.0;
  const int64_t dims[] = {2, 3, 4};
  for (int axis = 0; axis < 3; ++axis) {
    format::F64SoftmaxParametersT p;
    p.axis = axis;
    const Reals y =
        RunOne(Opcode::F64_SOFTMAX, p, {{{2, 3, 4}, x}}, {2, 3, 4}, 2);
    const int64_t inner = axis == 0 ? 12 : axis == 1 ? 4 : 1;
    for (int64_t i = 0; i < 24; ++i) {
      const int64_t first = i - i / inner % dims[axis] * inner;
      double sum = 0;
      for (int64_t k = 0; k < dims[axis]; ++k) {
        sum += std::exp(x[first + k * inner]);
      }
      EXPECT_NEAR(y[i], std::exp(x[i]) / sum, 1e-15);
    }
  }
}

TEST(RunFloat, PoolsReductionsAndCasts) {
  format::PoolParametersT p;
  p.kernel_width = 2;
  p.row_divisors = {1};
  p.column_divisors = {2, 4};
  const Operand x = {{1, 2, 3}, {1, 2, 3, 10, 20, 30}};
  EXPECT_EQ(RunOne(Opcode::F64_AVERAGE_POOL, p, {x}, {1, 2, 2}),
            (Reals{1.5, 1.25, 15, 12.5}));
  EXPECT_EQ(RunOne(Opcode::F64_MAX_POOL, p, {x}, {1, 2, 2}),
            (Reals{2, 3, 20, 30}));
  format::ReduceParametersT r;
  r.kind = format::ReduceKind::MEAN;
  r.axes = {0, 2};
  EXPECT_EQ(RunOne(Opcode::F64_REDUCE, r, {x}, {2}), (Reals{2, 20}));

  TestArtifact a;
  const int codes = a.Input("x", ElementType::S8, {2});
  const int wide = a.Arena(ElementType::F64, {2});
  const int y = a.Output("y", ElementType::F32, {2});
  a.Add(Opcode::F64_CAST, format::NoParametersT(), {codes}, wide);
  a.Add(Opcode::F64_CAST, format::NoParametersT(), {wide}, y);
  EXPECT_EQ(ValuesOf<float>(RunFile(a.Finish(), {BytesOf<int8_t>({-3, 100})})),
            (std::vector<float>{-3, 100}));
}

}  // namespace
}  // namespace fold::exec
