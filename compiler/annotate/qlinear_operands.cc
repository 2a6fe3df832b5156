#include "compiler/annotate/qlinear_operands.h"

namespace fold {
namespace {

constexpr size_t kNoPlace = 1000;

// [input, scale, zero]... from operand 2 on; the result's parameters first.
std::vector<QLinearOperand> ConcatOperands(const Node& node) {
  std::vector<QLinearOperand> operands;
  for (size_t at = 2; at + 2 < node.operands.size(); at += 3) {
    operands.push_back({at, at + 1, at + 2});
  }
  operands.push_back({kNoPlace, 0, 1, true});
  return operands;
}

}  // namespace

bool IsQLinear(Op op) {
  switch (op) {
    case Op::kQLinearConv:
    case Op::kQLinearMatMul:
    case Op::kQLinearAdd:
    case Op::kQLinearMul:
    case Op::kQLinearAveragePool:
    case Op::kQLinearGlobalAveragePool:
    case Op::kQGemm:
    case Op::kQLinearSoftmax:
    case Op::kQLinearConcat:
      return true;
    default:
      return false;
  }
}

std::vector<QLinearOperand> QLinearOperands(const Node& node) {
  const Op op = OpOf(node);
  switch (op) {
    case Op::kQLinearConv:
      return {{0, 1, 2}, {3, 4, 5, false, true, 0}, {kNoPlace, 6, 7, true}};
    case Op::kQLinearMatMul:
      return {{0, 1, 2, false, false, -2},
              {3, 4, 5, false, true, -1},
              {kNoPlace, 6, 7, true}};
    case Op::kQGemm: {
      const bool transposed = node.attribute<int64_t>("transB", 0) != 0;
      return {{0, 1, 2},
              {3, 4, 5, false, true, transposed ? 0 : 1},
              {kNoPlace, 7, 8, true}};
    }
    case Op::kQLinearAdd:
    case Op::kQLinearMul:
      return {{0, 1, 2}, {3, 4, 5}, {kNoPlace, 6, 7, true}};
    case Op::kQLinearConcat:
      return ConcatOperands(node);
    default:
      return {{0, 1, 2}, {kNoPlace, 3, 4, true}};
  }
}

size_t QLinearBias(const Node& node) {
  switch (OpOf(node)) {
    case Op::kQLinearConv:
      return 8;
    case Op::kQGemm:
      return 6;
    default:
      return kNoPlace;
  }
}

}  // namespace fold
