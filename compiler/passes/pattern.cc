#include "compiler/passes/pattern.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/ops/broadcast.h"

namespace fold {

const Node* ProducerOf(const Graph& graph, ValueId id) {
  if (!id.valid()) return nullptr;
  const NodeId producer = graph.value(id).producer;
  return producer.valid() ? &graph.node(producer) : nullptr;
}

const Node* ProducerOf(const Graph& graph, ValueId id, Op op) {
  const Node* node = ProducerOf(graph, id);
  return node && OpOf(*node) == op ? node : nullptr;
}

bool TakesSteps(Op op) {
  switch (op) {
    case Op::kConv:
    case Op::kGemm:
    case Op::kMatMul:
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv:
    case Op::kScaledReciprocal:
    case Op::kAveragePool:
    case Op::kGlobalAveragePool:
    case Op::kReduceMean:
    case Op::kRequantize:
      return true;
    default:
      return false;
  }
}

bool IsPair(Op op) {
  return op == Op::kAdd || op == Op::kSub || op == Op::kMul || op == Op::kDiv;
}

bool IsIntegerOp(const Graph& graph, const Node& node) {
  if (!TakesSteps(OpOf(node))) return false;
  const auto codes = [&](size_t at) {
    const TensorType& type = graph.value(node.operands[at]).type;
    return IsInteger(type.element) && type.encoding.has_value();
  };
  if (!IsPair(OpOf(node))) return codes(0);
  const bool first = graph.IsConstant(node.operands[0]);
  const bool second = graph.IsConstant(node.operands[1]);
  return (first || codes(0)) && (second || codes(1)) && !(first && second);
}

bool MovesElements(Op op) {
  switch (op) {
    case Op::kReshape:
    case Op::kFlatten:
    case Op::kSqueeze:
    case Op::kUnsqueeze:
    case Op::kTranspose:
    case Op::kMaxPool:
      return true;
    default:
      return false;
  }
}

int64_t ChannelAxis(const Node& node, const Shape& result) {
  const Op op = OpOf(node);
  const auto rank = static_cast<int64_t>(result.size());
  if (op == Op::kGemm || op == Op::kMatMul) return rank - 1;
  return rank > 1 ? 1 : 0;
}

std::optional<std::vector<double>> AsChannelVector(const Tensor& constant,
                                                   const Shape& shape,
                                                   int64_t axis) {
  const size_t rank = shape.size();
  if (constant.size() == 0 || constant.shape.size() > rank) {
    return std::nullopt;
  }
  bool uniform = true;
  for (int64_t i = 1; i < constant.size() && uniform; ++i) {
    uniform = constant.real(i) == constant.real(0);
  }
  if (uniform) return std::vector<double>{constant.real(0)};
  for (size_t d = 0; d < constant.shape.size(); ++d) {
    const size_t at = rank - constant.shape.size() + d;
    const int64_t size = constant.shape[d];
    if (size == 1) continue;
    if (static_cast<int64_t>(at) != axis || size != shape[at]) {
      return std::nullopt;
    }
  }
  std::vector<double> values;
  for (int64_t i = 0; i < constant.size(); ++i) {
    values.push_back(constant.real(i));
  }
  return values;
}

bool IsFinite(const Tensor& constant) {
  for (int64_t i = 0; IsFloat(constant.type) && i < constant.size(); ++i) {
    if (!std::isfinite(constant.real(i))) return false;
  }
  return true;
}

std::vector<double> DistinctNumbers(const Tensor& constant,
                                    const std::optional<Encoding>& encoding) {
  std::vector<double> numbers;
  if (encoding) {
    numbers = RealNumbersOf(constant, *encoding);
  } else {
    for (int64_t i = 0; i < constant.size(); ++i) {
      numbers.push_back(constant.real(i));
    }
  }
  // -0 is the real number 0, as 0 is.
  for (double& number : numbers) number += 0.0;
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

bool IsLinear(Op op) {
  return op == Op::kConv || op == Op::kGemm || op == Op::kMatMul;
}

TensorPtr NarrowestReals(Shape shape, const std::vector<double>& numbers) {
  const bool narrow =
      std::all_of(numbers.begin(), numbers.end(), [](double number) {
        return static_cast<double>(static_cast<float>(number)) == number;
      });
  return MakeRealTensor(narrow ? ElementType::f32 : ElementType::f64,
                        std::move(shape), numbers);
}

bool IsReal(const TensorType& type) {
  return IsFloat(type.element) && !type.encoding;
}

namespace {

// Each item once: a constant may be read at two places and go to one.
void Say(MigrationSheet& sheet, ConstantMove move) {
  for (const ConstantMove& said : sheet.constants) {
    if (said.from == move.from && said.to == move.to &&
        said.kind == move.kind && said.slot.kind == move.slot.kind) {
      return;
    }
  }
  sheet.constants.push_back(std::move(move));
}

}  // namespace

void SayAbsorbed(MigrationSheet& sheet, const Graph& graph, ValueId constant,
                 ValueId into, Slot slot) {
  if (!constant.valid() || !graph.IsConstant(constant)) return;
  ConstantMove move = {constant, into, ConstantMove::Kind::kAbsorbed};
  move.slot = std::move(slot);
  Say(sheet, std::move(move));
}

void SayParametersAbsorbed(MigrationSheet& sheet, const Graph& graph,
                           const Node& conversion, ValueId into) {
  SayAbsorbed(sheet, graph, OperandAt(conversion, 1), into,
              {Slot::Kind::kScales});
  SayAbsorbed(sheet, graph, OperandAt(conversion, 2), into,
              {Slot::Kind::kZeroPoints});
}

void SayTransformed(MigrationSheet& sheet, ValueId from, ValueId to,
                    std::vector<Derivation> how) {
  ConstantMove move = {from, to, ConstantMove::Kind::kTransformed};
  move.how = std::move(how);
  Say(sheet, std::move(move));
}

void SayEvaluated(MigrationSheet& sheet, ValueId from, ValueId to,
                  const Node& node) {
  Derivation step = {Derivation::Kind::kEvaluated};
  step.node = node;
  SayTransformed(sheet, from, to, {std::move(step)});
}

void SayMade(MigrationSheet& sheet, ValueId to, double number,
             std::vector<Derivation> how) {
  ConstantMove move = {ValueId(), to, ConstantMove::Kind::kMade};
  move.number = number;
  move.how = std::move(how);
  Say(sheet, std::move(move));
}

void SayMadeOf(MigrationSheet& sheet, ValueId to, Slot slot, ValueId of) {
  ConstantMove move = {ValueId(), to, ConstantMove::Kind::kMade};
  move.slot = std::move(slot);
  move.slot.of = of;
  Say(sheet, std::move(move));
}

void SayDead(MigrationSheet& sheet, const Graph& graph, ValueId id) {
  if (graph.value(id).type.encoding) {
    const auto& said = sheet.encodings;
    const bool again =
        std::any_of(said.begin(), said.end(),
                    [&](const EncodingMove& move) { return move.from == id; });
    if (!again) {
      sheet.encodings.push_back(
          {id, ValueId(), EncodingMove::Destination::kDead});
    }
  }
  if (graph.IsConstant(id)) {
    ConstantMove move = {id, ValueId(), ConstantMove::Kind::kUnneeded};
    move.why = Unneeded::kDead;
    Say(sheet, std::move(move));
  }
}

void SayNamesLost(Proposal& proposal, const Graph& graph) {
  std::set<ValueId> kept;
  for (const ResultMove& move : proposal.sheet.results) kept.insert(move.from);
  for (NodeId id : proposal.removed) {
    for (ValueId v : graph.node(id).results) {
      if (!v.valid() || kept.count(v)) continue;
      proposal.sheet.unrecoverable.push_back({LostFact::Kind::kName, v});
    }
  }
}

}  // namespace fold
