// Which operands of a QLinear operator are data, scales and zero points.
#ifndef FOLD_COMPILER_ANNOTATE_QLINEAR_OPERANDS_H_
#define FOLD_COMPILER_ANNOTATE_QLINEAR_OPERANDS_H_

#include <vector>

#include "compiler/ops/ops.h"

namespace fold {

struct QLinearOperand {
  size_t value, scale, zero;  // operand places; `value` unused for the result
  bool result = false;
  bool weight = false;
  int64_t axis = 1;  // of per-axis parameters
};

bool IsQLinear(Op op);
// The data operands in order, then the result.
std::vector<QLinearOperand> QLinearOperands(const Node& node);
// Place of the int32 bias, or a place that no node has.
size_t QLinearBias(const Node& node);

}  // namespace fold

#endif  // FOLD_COMPILER_ANNOTATE_QLINEAR_OPERANDS_H_
