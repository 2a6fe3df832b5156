// Requantize and scaled reciprocals, which are functions of one code, and
// functions of two codes.
#include "compiler/lower/table.h"

#include <algorithm>

#include "compiler/exact/reciprocal.h"
#include "compiler/lower/reachable_codes.h"
#include "compiler/lower/requantization.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/pattern.h"

namespace fold {
namespace {

// Bytes that the tables of one op may take.
constexpr int64_t kMostTableBytes = int64_t{1} << 24;

constexpr char kNotANumber[] =
    "a value that is not a number; it becomes the zero point";

bool IsReciprocal(const Node& node) {
  return OpOf(node) == Op::kScaledReciprocal;
}

int64_t ChannelCount(const Lowering& lowering, const Node& node) {
  int64_t channels = 1;
  for (size_t i = 1; i < node.operands.size(); ++i) {
    if (!lowering.graph.IsConstant(node.operands[i])) continue;
    const int64_t count = ElementCount(lowering.type(node.operands[i]).shape);
    channels = std::max(channels, count);
  }
  return channels;
}

// Where one of the problems is not a number for a code that can come.
void WarnOfNan(Lowering& lowering, NodeId id,
               const std::vector<exact::TableProblem>& problems) {
  const ValueId x = lowering.graph.node(id).operands[0];
  const CodeInterval reachable = ReachableCodes(lowering.graph, x);
  for (const exact::TableProblem& problem : problems) {
    for (int64_t code = reachable.low; code <= reachable.high; ++code) {
      const exact::Rational start =
          exact::FromInt64(code - problem.zero_point) * problem.scale;
      const auto entry =
          exact::EvaluateChain(start, problem.steps, problem.quantization);
      if (entry.kind != exact::ValueKind::kNan) continue;
      WarnNan(lowering, id,
              "code " + std::to_string(code) + " of '" +
                  lowering.graph.value(x).name + "' gives " + kNotANumber);
      return;
    }
  }
}

// A chain gives NaN only from 0 / 0 and infinity times 0.
bool MayBeNan(const std::vector<exact::TableProblem>& problems) {
  for (const exact::TableProblem& problem : problems) {
    for (const exact::ChainStep& step : problem.steps) {
      if (std::holds_alternative<exact::Reciprocal>(step)) return true;
      const auto* divide = std::get_if<exact::Divide>(&step);
      if (divide && sgn(divide->divisor) == 0) return true;
    }
  }
  return false;
}

class OneInputOp {
 public:
  OneInputOp(Lowering& lowering, NodeId id)
      : lowering_(lowering), id_(id), node_(lowering.graph.node(id)) {}

  bool Run() {
    const TensorType& x = lowering_.type(node_.operands[0]);
    const TensorType& y = lowering_.type(node_.results[0]);
    if (!y.encoding || !y.encoding->per_tensor() || !x.encoding->per_tensor() ||
        ElementSize(x.element) > 2) {
      return Refuse(
          "a requantization of values that are not of 8 or 16 bits "
          "with one scale");
    }
    problems_ = ChannelTables(lowering_, id_);
    for (const exact::TableProblem& problem : problems_) {
      if (const auto fault = exact::FindFault(problem)) return Refuse(*fault);
    }
    if (MayBeNan(problems_)) WarnOfNan(lowering_, id_, problems_);
    return (IsReciprocal(node_) && Reciprocal()) || Table();
  }

 private:
  bool Refuse(const std::string& why) {
    return lowering_.Error(DiagnosticCode::unsupported_operator, id_, why);
  }

  // Where the channels lie in the physical shape; -1 for one channel.
  int Axis(const Perm& perm) const {
    const size_t rank = lowering_.type(node_.operands[0]).shape.size();
    return problems_.size() == 1 ? -1 : PlaceOf(perm, rank > 1 ? 1 : 0);
  }

  // False, and nothing is done, where no fraction gives every code.
  bool Reciprocal() {
    if (!FindTargetOp(lowering_.target, "reciprocal")) return false;
    const auto found = exact::ChooseReciprocal(problems_);
    if (!found.plan) return false;
    format_::ReciprocalParametersT p;
    p.input_zero = static_cast<int>(problems_[0].zero_point);
    for (const exact::ReciprocalChannel& channel : found.plan->channels) {
      p.numerators.push_back(channel.numerator);
      p.denominators.push_back(channel.denominator);
    }
    p.zero = static_cast<int>(found.plan->zero_point);
    p.lo = static_cast<int>(found.plan->low);
    p.hi = static_cast<int>(found.plan->high);
    const Perm perm = lowering_.LayoutOf(node_.operands[0]);
    p.axis = Axis(perm);
    const int from = lowering_.Want(node_.operands[0], perm);
    const int to = lowering_.AddValue(node_.results[0], perm);
    lowering_.AddOp(id_, format_::Opcode::RECIPROCAL, {from}, {to})
        .parameters.Set(std::move(p));
    return true;
  }

  // A table of all codes, or one a channel where the steps differ by channel.
  bool Table() {
    const TensorType& y = lowering_.type(node_.results[0]);
    const int64_t codes = problems_[0].code_high - problems_[0].code_low + 1;
    const int64_t bytes =
        codes * static_cast<int64_t>(problems_.size()) * ElementSize(y.element);
    if (bytes > kMostTableBytes) {
      return Refuse("its tables would take " + std::to_string(bytes) +
                    " bytes, at most " + std::to_string(kMostTableBytes) +
                    " are allowed");
    }
    std::vector<int64_t> entries;
    for (const exact::TableProblem& problem : problems_) {
      for (const exact::TableEntry& entry : exact::EvaluateTable(problem)) {
        entries.push_back(entry.code);
      }
    }
    const Perm perm = lowering_.LayoutOf(node_.operands[0]);
    const int from = lowering_.Want(node_.operands[0], perm);
    const int to = lowering_.AddValue(node_.results[0], perm);
    const int table = AddTable(
        lowering_, lowering_.graph.value(node_.results[0]).name + "/table",
        y.element, entries);
    format_::TableParametersT p;
    p.axis = Axis(perm);
    lowering_.AddOp(id_, format_::Opcode::TABLE_1, {from, table}, {to})
        .parameters.Set(p);
    return true;
  }

  Lowering& lowering_;
  NodeId id_;
  const Node& node_;
  std::vector<exact::TableProblem> problems_;
};

// The chain from a real operand a to `node`'s result, b held.
std::vector<exact::ChainStep> WithSecond(Op op, const exact::Rational& b) {
  switch (op) {
    case Op::kAdd:
      return {exact::Add{b}};
    case Op::kSub:
      return {exact::Add{-b}};
    case Op::kMul:
      return {exact::Multiply{b}};
    default:
      return {exact::Divide{b}};
  }
}

}  // namespace

int AddTable(Lowering& lowering, const std::string& name, ElementType type,
             const std::vector<int64_t>& entries) {
  const TensorPtr table =
      MakeIntegerTensor(type, {static_cast<int64_t>(entries.size())}, entries);
  return lowering.AddConstant(name, FormatType(type), table->shape,
                              table->bytes);
}

void WarnNan(Lowering& lowering, NodeId node, const std::string& message) {
  lowering.sink.Add(DiagnosticCode::nan_reachable,
                    UserName(lowering.graph, node), message);
}

ElementType StoredAs(ElementType type) {
  return type == ElementType::i4   ? ElementType::i8
         : type == ElementType::u4 ? ElementType::u8
                                   : type;
}

std::vector<exact::TableProblem> ChannelTables(const Lowering& lowering,
                                               NodeId id) {
  const Node& node = lowering.graph.node(id);
  const TensorType& x = lowering.type(node.operands[0]);
  std::vector<exact::TableProblem> problems;
  for (int64_t c = 0; c < ChannelCount(lowering, node); ++c) {
    exact::TableProblem problem;
    problem.code_low = LowestCode(StoredAs(x.element));
    problem.code_high = HighestCode(StoredAs(x.element));
    problem.zero_point = x.encoding->zero_points[0];
    problem.scale = exact::FromDouble(x.encoding->scales[0]);
    if (IsReciprocal(node)) {
      problem.steps.push_back(
          exact::Reciprocal{RealConstant(lowering.graph, node.operands[1], c)});
    }
    AppendSteps(lowering.graph, node, c, &problem.steps);
    problem.quantization = QuantizationOf(lowering.type(node.results[0]), 0);
    problems.push_back(std::move(problem));
  }
  return problems;
}

bool LowerTable(Lowering& lowering, NodeId id) {
  return OneInputOp(lowering, id).Run();
}

bool LowerPairTable(Lowering& lowering, NodeId id, const PairAxis& a,
                    const PairAxis& b, const Perm& perm) {
  constexpr size_t kCodes = 256;
  const Node& node = lowering.graph.node(id);
  const TensorType& y = lowering.type(node.results[0]);
  const exact::Quantization quantization = QuantizationOf(y, 0);
  std::vector<int64_t> entries(kCodes * kCodes, quantization.zero_point);
  bool nan = false;
  for (size_t j = 0; j < b.numbers.size(); ++j) {
    std::vector<exact::ChainStep> steps = WithSecond(OpOf(node), b.numbers[j]);
    AppendSteps(lowering.graph, node, 0, &steps);
    for (size_t i = 0; i < a.numbers.size(); ++i) {
      const auto entry =
          exact::EvaluateChain(a.numbers[i], steps, quantization);
      entries[i * kCodes + j] = entry.code;
      nan |= entry.kind == exact::ValueKind::kNan && a.reachable[i] &&
             b.reachable[j];
    }
  }
  if (nan) {
    WarnNan(lowering, id, std::string("a pair of codes gives ") + kNotANumber);
  }
  const int result = lowering.AddValue(node.results[0], perm);
  const int table =
      AddTable(lowering, lowering.graph.value(node.results[0]).name + "/table",
               y.element, entries);
  lowering
      .AddOp(id, format_::Opcode::TABLE_2, {a.tensor, b.tensor, table},
             {result})
      .parameters.Set(format_::TableParametersT());
  return true;
}

}  // namespace fold
