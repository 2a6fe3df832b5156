// REQUANTIZE, CLAMP, TABLE_1, RECIPROCAL: functions of one integer.
// ADD2, MUL2, TABLE_2: functions of two, compared on every pair by holding
// the first and comparing step functions of the second.
#include <algorithm>
#include <cstring>
#include <utility>

#include "compiler/check/op_check.h"

namespace fold::check {
namespace {

using format::ElementType;
using format::Opcode;
using Function = std::function<std::optional<int64_t>(int64_t)>;

// Lowest code of an integer tensor, 0 for floats.
int64_t LowestCode(ElementType type) {
  switch (type) {
    case ElementType::S8:
      return -128;
    case ElementType::S16:
      return -32768;
    default:
      return 0;
  }
}

// Element of a table of integers.
std::optional<int64_t> TableEntry(const CheckState& state, int32_t table,
                                  int64_t index) {
  const format::Tensor& tensor = state.tensor(table);
  const uint8_t* bytes = state.ConstantBytes(table);
  const int64_t size = format::ElementBytes(tensor.type());
  if (bytes == nullptr || index < 0 ||
      (index + 1) * size > static_cast<int64_t>(tensor.bytes())) {
    return std::nullopt;
  }
  const uint8_t* at = bytes + index * size;
  int16_t half = 0;
  int32_t word = 0;
  switch (tensor.type()) {
    case ElementType::U8:
      return *at;
    case ElementType::S8:
      return static_cast<int8_t>(*at);
    case ElementType::S16:
      std::memcpy(&half, at, sizeof(half));
      return half;
    case ElementType::U16:
      std::memcpy(&half, at, sizeof(half));
      return static_cast<uint16_t>(half);
    case ElementType::S32:
      std::memcpy(&word, at, sizeof(word));
      return word;
    default:
      return std::nullopt;
  }
}

int64_t Codes(ElementType type) {
  return format::ElementBytes(type) == 1 ? 256 : 65536;
}

// clamp(half_even(N / (D * d)) + zero) for d = x - zero of the input.
std::optional<int64_t> QuotientCode(const format::ReciprocalParameters& p,
                                    int64_t x, int64_t channel) {
  const auto numerators = format::View(p.numerators());
  const int64_t at = numerators.size == 1 ? 0 : channel;
  if (at >= numerators.size || p.lo() > p.hi()) return std::nullopt;
  const int64_t n = numerators.data[at];
  const mpz_class d = Integer(format::View(p.denominators()).data[at]) *
                      Integer(x - p.input_zero());
  if (d == 0 && n != 0) return n > 0 ? p.hi() : p.lo();
  mpz_class code = p.zero();
  if (d != 0) {
    mpq_class quotient(Integer(n), d);
    quotient.canonicalize();
    code += Number(quotient).RoundHalfEven();
  }
  if (code < p.lo()) return p.lo();
  return code > p.hi() ? int64_t{p.hi()} : int64_t{code.get_si()};
}

// The op as a function of the input's integer on one channel.
std::optional<int64_t> OneInputCode(const CheckState& state,
                                    const format::Op& op, int64_t x,
                                    int64_t channel) {
  if (op.opcode() == Opcode::REQUANTIZE) {
    const auto* parameters = op.parameters_as_RequantizeParameters();
    const Form form(parameters->requant());
    const int64_t accumulator = x - parameters->input_zero();
    return form.raw() ? accumulator : form.Code(accumulator, channel);
  }
  if (op.opcode() == Opcode::CLAMP) {
    const auto* parameters = op.parameters_as_ClampParameters();
    if (parameters->lo() > parameters->hi()) return std::nullopt;
    return std::clamp(x, parameters->lo(), parameters->hi());
  }
  if (op.opcode() == Opcode::RECIPROCAL) {
    return QuotientCode(*op.parameters_as_ReciprocalParameters(), x, channel);
  }
  const ElementType type = state.tensor(op.inputs()->Get(0)).type();
  const int32_t table = op.inputs()->Get(1);
  const int64_t row =
      op.parameters_as_TableParameters()->axis() < 0 ? 0 : channel;
  return TableEntry(state, table, row * Codes(type) + x - LowestCode(type));
}

int AxisOf(const format::Op& op) {
  if (op.opcode() == Opcode::REQUANTIZE) {
    return op.parameters_as_RequantizeParameters()->axis();
  }
  if (op.opcode() == Opcode::TABLE_1) {
    return op.parameters_as_TableParameters()->axis();
  }
  if (op.opcode() == Opcode::RECIPROCAL) {
    return op.parameters_as_ReciprocalParameters()->axis();
  }
  return -1;
}

std::optional<std::string> OneInputFault(const format::Op& op) {
  if (op.opcode() != Opcode::REQUANTIZE) return std::nullopt;
  return Form(op.parameters_as_RequantizeParameters()->requant()).Fault();
}

Outcome OneInput(const CheckState& state, const format::Op& op,
                 const std::vector<Label>& in, const Target& named) {
  Target target = named;
  if (!ExpandInto(state.network().roots(), in, &target.over)) {
    return Unchecked(named.name + " is not a function of the input");
  }
  const Value& over = target.over;
  if (!state.network().roots().Integers(over)) {
    return Unchecked("a function of reals");
  }
  const Shape shape = PhysicalShape(state.tensor(op.inputs()->Get(0)));
  const int axis = AxisOf(op);
  const int64_t inner = axis < 0 ? 1 : Strides(shape)[axis];
  const int64_t channels = axis < 0 ? 1 : shape[axis];
  const ElementIndex index(*over.labels);
  auto labels = std::make_shared<std::vector<Label>>();
  PairSet done;
  int64_t compared = 0;
  Outcome outcome{Verdict::kVerified, "", nullptr, {}};
  for (size_t i = 0; i < in.size(); ++i) {
    const int64_t at = index.Find(in[i]);
    if (at < 0) {
      labels->push_back(kUnknownLabel);
      outcome =
          Wrong("element " + std::to_string(i) +
                " of the input is not one that " + named.name + " depends on");
      continue;
    }
    labels->push_back((*target.own)[at]);
    const int64_t channel = static_cast<int64_t>(i) / inner % channels;
    const auto cls = static_cast<size_t>(over.ClassOf(at));
    if (!done.Insert(channel, static_cast<int64_t>(cls)) ||
        outcome.verdict != Verdict::kVerified) {
      continue;
    }
    StepFunction ideal;
    if (const auto why = IdealSteps(over, cls, &ideal)) {
      outcome = Unchecked(*why);
      continue;
    }
    const Function function = [&](int64_t x) {
      return OneInputCode(state, op, x, channel);
    };
    const bool everywhere =
        op.opcode() == Opcode::TABLE_1 || op.opcode() == Opcode::RECIPROCAL;
    const auto mismatch = everywhere ? CompareEverywhere(ideal, function)
                                     : CompareMonotone(ideal, function);
    compared += ideal.last - ideal.first + 1;
    if (mismatch && over.chain.empty()) {
      // Not what the op claims to make: its input, which a source names.
      return Unchecked(named.name + " is its input");
    }
    if (mismatch) {
      outcome = Wrong("channel " + std::to_string(channel) + ": input code " +
                      Describe(*mismatch));
    }
  }
  if (outcome.verdict == Verdict::kVerified) {
    outcome.detail = std::to_string(compared) + " input codes";
  }
  outcome.labels = std::move(labels);
  return outcome;
}

// A two-input op as a function of both codes.
std::optional<int64_t> TwoInputCode(const CheckState& state,
                                    const format::Op& op, int64_t a,
                                    int64_t b) {
  if (op.opcode() == Opcode::ADD2) {
    return PairCode(*op.parameters_as_Add2Parameters(), a, b);
  }
  if (op.opcode() == Opcode::MUL2) {
    const auto* parameters = op.parameters_as_Mul2Parameters();
    const Form form(parameters->requant());
    const int64_t product =
        (a - parameters->a_zero()) * (b - parameters->b_zero());
    return form.raw() ? product : form.Code(product, 0);
  }
  const int64_t row = a - LowestCode(state.tensor(op.inputs()->Get(0)).type());
  const int64_t column =
      b - LowestCode(state.tensor(op.inputs()->Get(1)).type());
  return TableEntry(state, op.inputs()->Get(2), row * 256 + column);
}

std::optional<Mismatch> Compare(const CheckState& state, const format::Op& op,
                                const StepFunction& ideal,
                                const Function& function) {
  return op.opcode() == Opcode::TABLE_2 ? CompareEverywhere(ideal, function)
                                        : CompareMonotone(ideal, function);
}

// `operand` over the roots of `labels`, or false.
bool OperandOver(const CheckState& state, const std::vector<Label>& labels,
                 Value* operand) {
  return ExpandInto(state.network().roots(), labels, operand) &&
         state.network().roots().Integers(*operand);
}

// The step that turns b into the pair's real value, for a held a.
Step PairStep(PairDefinition::Kind kind, const Number& a, bool a_second) {
  switch (kind) {
    case PairDefinition::Kind::kMul:
      return Affine(a, Number(0));
    case PairDefinition::Kind::kAdd:
      return Affine(Number(1), a);
    case PairDefinition::Kind::kSub:
      return a_second ? Affine(Number(1), -a) : Affine(Number(-1), a);
  }
  return Round();
}

// One combination of classes over all pairs of codes.
Outcome ComparePairs(const CheckState& state, const format::Op& op,
                     const Value& over, size_t cls, PairDefinition::Kind kind,
                     const Value& a, size_t a_cls, const Value& b, size_t b_cls,
                     bool swapped) {
  const Interval& a_range = a.ranges[a_cls];
  const Interval& b_range = b.ranges[b_cls];
  if (!a_range.low || !a_range.high || !b_range.low || !b_range.high) {
    return Unchecked("inputs without a known range");
  }
  const int64_t a_low = a_range.low->ToInt64();
  const int64_t a_high = a_range.high->ToInt64();
  const int64_t b_low = b_range.low->ToInt64();
  const int64_t b_high = b_range.high->ToInt64();
  constexpr int64_t kMostRows = 65536;
  constexpr int64_t kMostPairs = int64_t{1} << 24;
  if (a_high - a_low >= kMostRows ||
      (a_high - a_low + 1) * (b_high - b_low + 1) > kMostPairs) {
    return Unchecked("too many pairs of codes");
  }
  const Chain a_chain = Reduce(a.chain, a_cls, a_range, true);
  Chain b_chain = Reduce(b.chain, b_cls, b_range, true);
  Chain tail = Reduce(over.chain, cls, Interval{}, false);
  if (auto why = Undecidable(a_chain)) return Unchecked(*why);
  for (int64_t held = a_low; held <= a_high; ++held) {
    Chain chain = b_chain;
    chain.push_back(PairStep(kind, Evaluate(a_chain, Number(held)), swapped));
    chain.insert(chain.end(), tail.begin(), tail.end());
    StepFunction ideal;
    if (const auto why =
            Steps(Reduce(chain, 0, b_range, true), b_low, b_high, &ideal)) {
      return Unchecked(*why);
    }
    const auto mismatch = Compare(state, op, ideal, [&](int64_t x) {
      return swapped ? TwoInputCode(state, op, x, held)
                     : TwoInputCode(state, op, held, x);
    });
    if (mismatch) {
      return Wrong("other code " + std::to_string(held) + ", code " +
                   Describe(*mismatch));
    }
  }
  return {Verdict::kVerified,
          std::to_string((a_high - a_low + 1) * (b_high - b_low + 1)) +
              " pairs of codes",
          nullptr,
          {}};
}

uint64_t PairKey(Label a, Label b) {
  return a * 0x9E3779B97F4A7C15u ^ (b + 0x7F4A7C15u) * 0xC2B2AE3D27D4EB4Fu;
}

// Both inputs of the artifact's op spread to its output's shape.
struct Operands {
  std::vector<Label> a;
  std::vector<Label> b;
};

bool ReadOperands(CheckState* state, const format::Op& op, Operands* operands) {
  const Shape out = PhysicalShape(state->tensor(op.outputs()->Get(0)));
  for (int i = 0; i < 2; ++i) {
    const int32_t number = op.inputs()->Get(i);
    const Labels labels = state->contents(number).labels;
    const Shape shape = PhysicalShape(state->tensor(number));
    Shape both;
    if (!labels || !BroadcastShape(shape, out, &both) || both != out) {
      return false;
    }
    for (const int64_t at : BroadcastIndex(shape, out)) {
      (i == 0 ? operands->a : operands->b).push_back((*labels)[at]);
    }
  }
  return true;
}

// Both operands vary. `swapped`: the op's first input is the file's second.
Outcome TwoInputs(const CheckState& state, const format::Op& op,
                  const Operands& operands, const Target& named, bool swapped) {
  Target target = named;
  const Roots& roots = state.network().roots();
  if (!ExpandTo(roots, Root::Kind::kPair, &target.over)) {
    return Unchecked(named.name + " is not a sum or product of two values");
  }
  const Value& over = target.over;
  const PairDefinition& pair = *roots.at(over.roots[0]).pair;
  Value a = pair.a;
  Value b = pair.b;
  const std::vector<Label>& in_a = swapped ? operands.b : operands.a;
  const std::vector<Label>& in_b = swapped ? operands.a : operands.b;
  if (!OperandOver(state, in_a, &a) || !OperandOver(state, in_b, &b)) {
    return Unchecked(named.name + " is computed from other inputs");
  }
  std::unordered_map<uint64_t, int64_t> at_pair;
  for (size_t i = 0; i < over.labels->size(); ++i) {
    const uint32_t element = ElementOf((*over.labels)[i]);
    at_pair.emplace(PairKey((*a.labels)[element], (*b.labels)[element]), i);
  }
  auto labels = std::make_shared<std::vector<Label>>();
  PairSet done;
  Outcome outcome{Verdict::kVerified, "", nullptr, {}};
  for (size_t i = 0; i < in_a.size(); ++i) {
    const auto found = at_pair.find(PairKey(in_a[i], in_b[i]));
    const int64_t at = found == at_pair.end() ? -1 : found->second;
    const uint32_t element = at < 0 ? 0 : ElementOf((*over.labels)[at]);
    if (at < 0 || (*a.labels)[element] != in_a[i] ||
        (*b.labels)[element] != in_b[i]) {
      labels->push_back(kUnknownLabel);
      outcome = Wrong("element " + std::to_string(i) +
                      " combines other elements than the ONNX operator");
      continue;
    }
    labels->push_back((*target.own)[at]);
    const int64_t a_cls = a.ClassOf(element);
    const int64_t b_cls = b.ClassOf(element);
    const int64_t parts = a_cls * static_cast<int64_t>(b.ClassCount()) + b_cls;
    if (!done.Insert(over.ClassOf(at), parts) ||
        outcome.verdict != Verdict::kVerified) {
      continue;
    }
    outcome = ComparePairs(state, op, over, over.ClassOf(at), pair.kind, a,
                           a_cls, b, b_cls, swapped);
  }
  outcome.labels = std::move(labels);
  return outcome;
}

// One operand is a constant of the artifact.
Outcome WithConstant(const CheckState& state, const format::Op& op,
                     const Operands& operands, const Target& named,
                     bool constant_first) {
  const std::vector<Label>& in = constant_first ? operands.b : operands.a;
  const std::vector<Label>& constants =
      constant_first ? operands.a : operands.b;
  Target target = named;
  if (!OperandOver(state, in, &target.over)) {
    return Unchecked(named.name + " is not a function of the input");
  }
  const Value& over = target.over;
  if (std::set<Label>(over.labels->begin(), over.labels->end()).size() !=
      over.labels->size()) {
    return Unchecked("an element of the input counts more than once");
  }
  const ElementIndex index(*over.labels);
  auto labels = std::make_shared<std::vector<Label>>();
  PairSet done;
  Outcome outcome{Verdict::kVerified, "all codes of the input", nullptr, {}};
  for (size_t i = 0; i < in.size(); ++i) {
    const int64_t at = index.Find(in[i]);
    if (at < 0) {
      labels->push_back(kUnknownLabel);
      outcome = Wrong("element " + std::to_string(i) + " is another one");
      continue;
    }
    labels->push_back((*target.own)[at]);
    const int64_t code = CodeOf(constants[i]);
    const auto cls = static_cast<size_t>(over.ClassOf(at));
    if (!done.Insert(static_cast<int64_t>(cls), code) ||
        outcome.verdict != Verdict::kVerified) {
      continue;
    }
    StepFunction ideal;
    if (const auto why = IdealSteps(over, cls, &ideal)) {
      outcome = Unchecked(*why);
      continue;
    }
    const auto mismatch = Compare(state, op, ideal, [&](int64_t x) {
      return constant_first ? TwoInputCode(state, op, code, x)
                            : TwoInputCode(state, op, x, code);
    });
    if (mismatch && over.chain.empty()) {
      return Unchecked(named.name + " is its input");
    }
    if (mismatch) {
      outcome = Wrong("constant " + std::to_string(code) + ", input code " +
                      Describe(*mismatch));
    }
  }
  outcome.labels = std::move(labels);
  return outcome;
}

}  // namespace

Outcome CheckOneInput(CheckState* state, const format::Op& op) {
  const Labels in = state->contents(op.inputs()->Get(0)).labels;
  if (!in) return Unchecked("its input is not known");
  if (const auto fault = OneInputFault(op)) return Wrong(*fault);
  return ForTargets(*state, op, [&](const Target& target) {
    return OneInput(*state, op, *in, target);
  });
}

Outcome CheckTwoInputs(CheckState* state, const format::Op& op) {
  Operands operands;
  if (!ReadOperands(state, op, &operands)) {
    return Unchecked("its inputs are not known");
  }
  if (op.opcode() == Opcode::MUL2) {
    const Form form(op.parameters_as_Mul2Parameters()->requant());
    if (const auto fault = form.Fault()) return Wrong(*fault);
  }
  const bool constant_a = state->ConstantBytes(op.inputs()->Get(0)) != nullptr;
  const bool constant_b = state->ConstantBytes(op.inputs()->Get(1)) != nullptr;
  return ForTargets(*state, op, [&](const Target& target) {
    if (constant_a || constant_b) {
      return WithConstant(*state, op, operands, target, constant_a);
    }
    Outcome outcome = TwoInputs(*state, op, operands, target, false);
    if (outcome.verdict == Verdict::kVerified) return outcome;
    Outcome other = TwoInputs(*state, op, operands, target, true);
    const bool better = other.verdict == Verdict::kVerified ||
                        outcome.verdict == Verdict::kUnchecked;
    return better ? other : outcome;
  });
}

}  // namespace fold::check
