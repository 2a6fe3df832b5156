#include "compiler/annotate/qlinear_operands.h"

#include <set>

#include "compiler/ops/op_spec.h"
#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

Node Made(Op op, size_t operands) {
  Node node;
  node.op = ToId(op);
  node.operands.assign(operands, ValueId(0));
  return node;
}

TEST(QLinearOperands, ThoseAndNoOthers) {
#define OP(id, mnemonic, domain, onnx_name, min, max, spec)    \
  EXPECT_EQ(IsQLinear(Op::id),                                 \
            std::string(mnemonic).rfind("qlinear_", 0) == 0 || \
                std::string(mnemonic) == "qgemm")              \
      << (mnemonic);
#include "compiler/ops/ops.def"
#undef OP
}

// Every place is a value, a scale, a zero point or the bias, and each once.
TEST(QLinearOperands, EveryPlaceHasOneMeaning) {
  const std::pair<Op, size_t> cases[] = {{Op::kQLinearConv, 9},
                                         {Op::kQLinearMatMul, 8},
                                         {Op::kQLinearAdd, 8},
                                         {Op::kQLinearMul, 8},
                                         {Op::kQLinearAveragePool, 5},
                                         {Op::kQLinearGlobalAveragePool, 5},
                                         {Op::kQGemm, 9},
                                         {Op::kQLinearSoftmax, 5},
                                         {Op::kQLinearConcat, 11}};
  for (const auto& [op, count] : cases) {
    const Node node = Made(op, count);
    std::multiset<size_t> places;
    int results = 0;
    for (const QLinearOperand& operand : QLinearOperands(node)) {
      if (!operand.result) places.insert(operand.value);
      places.insert(operand.scale);
      places.insert(operand.zero);
      results += operand.result;
    }
    if (QLinearBias(node) < count) places.insert(QLinearBias(node));
    EXPECT_EQ(results, 1);
    ASSERT_EQ(places.size(), count) << Ops().Mnemonic(ToId(op));
    size_t expected = 0;
    for (size_t place : places) EXPECT_EQ(place, expected++);
  }
}

TEST(QLinearOperands, AxesOfWeights) {
  EXPECT_EQ(QLinearOperands(Made(Op::kQLinearConv, 8))[1].axis, 0);
  EXPECT_EQ(QLinearOperands(Made(Op::kQLinearMatMul, 8))[1].axis, -1);
  Node gemm = Made(Op::kQGemm, 9);
  EXPECT_EQ(QLinearOperands(gemm)[1].axis, 1);
  gemm.attributes["transB"] = int64_t{1};
  EXPECT_EQ(QLinearOperands(gemm)[1].axis, 0);
  EXPECT_TRUE(QLinearOperands(gemm)[1].weight);
}

}  // namespace
}  // namespace fold
