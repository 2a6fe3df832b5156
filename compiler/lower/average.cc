// AveragePool, GlobalAveragePool and ReduceMean: sums of integers, divided in
// the requantization.
#include <algorithm>

#include "compiler/lower/pool_counts.h"
#include "compiler/lower/requantization.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/pool.h"

namespace fold {
namespace {

// The requantization of sums of at most `most` inputs divided by `divisor`.
exact::ChannelProblem MeanProblem(const Lowering& lowering, const Node& node,
                                  int64_t most, int64_t divisor) {
  const TensorType& x = lowering.type(node.operands[0]);
  const int64_t zero = x.encoding->zero_points[0];
  exact::ChannelProblem problem;
  problem.acc_low = std::min<int64_t>(0, (LowestCode(x.element) - zero) * most);
  problem.acc_high =
      std::max<int64_t>(0, (HighestCode(x.element) - zero) * most);
  problem.steps = {exact::Multiply{exact::FromDouble(x.encoding->scales[0])},
                   exact::Divide{exact::FromInt64(divisor)}};
  AppendSteps(lowering.graph, node, 0, &problem.steps);
  problem.quantization = QuantizationOf(lowering.type(node.results[0]), 0);
  return problem;
}

bool LowerPool(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph.node(id);
  const TensorType& x = lowering.type(node.operands[0]);
  const size_t rank = x.shape.size();
  const auto counts = PoolCounts::Of(node, x.shape);
  if (!counts || rank > 4) {
    return lowering.Error(DiagnosticCode::unsupported_operator, id,
                          "a pool over three or more dimensions");
  }
  format_::PoolParametersT p;
  counts->Fill(&p);
  std::vector<exact::ChannelProblem> problems;
  for (int64_t row : counts->row_kinds()) {
    for (int64_t column : counts->column_kinds()) {
      problems.push_back(
          MeanProblem(lowering, node, counts->window_size(), row * column));
    }
  }
  counts->FillClasses(&p);
  p.input_zero = static_cast<int>(x.encoding->zero_points[0]);
  p.requant = ProveRequant(lowering, id, problems);
  if (!p.requant) return false;
  const int from = lowering.Want(node.operands[0], ChannelsLast(rank));
  const int to = lowering.AddValue(node.results[0], ChannelsLast(rank));
  lowering.AddOp(id, format_::Opcode::AVERAGE_POOL, {from}, {to})
      .parameters.Set(std::move(p));
  return true;
}

// Sums over `axes` (logical, ascending).
bool LowerReduce(Lowering& lowering, NodeId id,
                 const std::vector<int64_t>& axes) {
  const Node& node = lowering.graph.node(id);
  const TensorType& x = lowering.type(node.operands[0]);
  const TensorType& y = lowering.type(node.results[0]);
  const Perm perm = lowering.LayoutOf(node.operands[0]);
  int64_t count = 1;
  format_::ReduceParametersT p;
  for (int64_t axis : axes) {
    count *= x.shape[axis];
    p.axes.push_back(PlaceOf(perm, axis));
  }
  std::sort(p.axes.begin(), p.axes.end());
  // Without keepdims the remaining dimensions keep their order in memory.
  Perm result_perm = perm;
  if (y.shape.size() != x.shape.size()) {
    result_perm.clear();
    for (int d : perm) {
      if (std::binary_search(axes.begin(), axes.end(), int64_t{d})) continue;
      const auto before = std::count_if(axes.begin(), axes.end(),
                                        [&](int64_t a) { return a < d; });
      result_perm.push_back(d - static_cast<int>(before));
    }
  }
  p.input_zero = static_cast<int>(x.encoding->zero_points[0]);
  p.requant =
      ProveRequant(lowering, id, {MeanProblem(lowering, node, count, count)});
  if (!p.requant) return false;
  const int from = lowering.Want(node.operands[0], perm);
  const int to = lowering.AddValue(node.results[0], result_perm);
  lowering.AddOp(id, format_::Opcode::REDUCE_SUM, {from}, {to})
      .parameters.Set(std::move(p));
  return true;
}

}  // namespace

bool LowerAverage(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph.node(id);
  const TensorType& x = lowering.type(node.operands[0]);
  const TensorType& y = lowering.type(node.results[0]);
  if (!y.encoding || !y.encoding->per_tensor() || !x.encoding->per_tensor()) {
    return lowering.Error(DiagnosticCode::unsupported_operator, id,
                          "a mean of values with more than one scale");
  }
  if (OpOf(node) == Op::kAveragePool) return LowerPool(lowering, id);
  if (OpOf(node) == Op::kGlobalAveragePool) {
    std::vector<int64_t> axes;
    for (size_t d = 2; d < x.shape.size(); ++d) axes.push_back(d);
    return LowerReduce(lowering, id, axes);
  }
  const NodeView view(lowering.graph, node);
  const auto axes = ReducedAxes(view.view());
  if (!axes) {
    return lowering.Error(DiagnosticCode::unsupported_attribute, id,
                          "its axes are not constant");
  }
  return LowerReduce(lowering, id, *axes);
}

}  // namespace fold
