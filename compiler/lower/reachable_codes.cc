#include "compiler/lower/reachable_codes.h"

#include <algorithm>
#include <cmath>

#include "compiler/ops/exact_rounding.h"
#include "compiler/passes/pattern.h"

namespace fold {
namespace {

void Limit(CodeInterval& codes, int64_t low, int64_t high) {
  codes.low = std::clamp(low, codes.low, codes.high);
  codes.high = std::clamp(high, codes.low, codes.high);
}

// The codes that numbers of [low, high] become. Rounding is monotone, so they
// lie between those of the ends, whatever its rule.
void LimitToNumbers(CodeInterval& codes, double low, double high,
                    const Encoding& e) {
  const auto code = [&](double bound, int64_t otherwise, int64_t slack) {
    if (!std::isfinite(bound)) return otherwise;
    const int64_t nearest = DivideToNearest(bound, e.scales[0]);
    // Another rule than to the nearest may go one further.
    const bool exact = e.rounding == Rounding::kHalfEven;
    return nearest + e.zero_points[0] + (exact ? 0 : slack);
  };
  Limit(codes, code(low, codes.low, -1), code(high, codes.high, 1));
}

}  // namespace

CodeInterval ReachableCodes(const Graph& graph, ValueId id) {
  const TensorType& type = graph.value(id).type;
  const Encoding& e = *type.encoding;
  CodeInterval codes = {LowestCode(type.element), HighestCode(type.element)};
  Limit(codes, e.code_low.value_or(codes.low),
        e.code_high.value_or(codes.high));
  const Node* producer = ProducerOf(graph, id);
  if (!producer) return codes;
  const Op op = OpOf(*producer);
  if (!producer->steps.empty() &&
      producer->steps.back().kind == Step::Kind::kClip) {
    const Step& clip = producer->steps.back();
    LimitToNumbers(codes, clip.low, clip.high, e);
    return codes;
  }
  const ValueId before =
      producer->operands.empty() ? ValueId() : producer->operands[0];
  const TensorType* inner_type =
      before.valid() ? &graph.value(before).type : nullptr;
  // Codes that are moved stay what they are, whatever they stand for.
  const bool moved = inner_type && inner_type->encoding &&
                     inner_type->encoding->per_tensor() &&
                     inner_type->element == type.element;
  if (moved && (MovesElements(op) || op == Op::kIdentity || op == Op::kClip)) {
    const CodeInterval inner = ReachableCodes(graph, before);
    Limit(codes, inner.low, inner.high);
  }
  return codes;
}

}  // namespace fold
