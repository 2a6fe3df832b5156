// Between real numbers and codes: QUANTIZE and DEQUANTIZE, the signature and
// the taps.
#include <algorithm>
#include <utility>

#include "compiler/check/op_check.h"

namespace fold::check {
namespace {

using format::Opcode;

double At(format::Span<double> values, int64_t i, double otherwise) {
  if (values.size == 0) return otherwise;
  return values.data[values.size == 1 ? 0 : i];
}

int64_t At(format::Span<int64_t> values, int64_t i) {
  if (values.size == 0) return 0;
  return values.data[values.size == 1 ? 0 : i];
}

// Logical element of every physical one.
std::vector<int64_t> LogicalIndex(const Shape& logical,
                                  format::Span<int32_t> permutation) {
  if (permutation.size == 0) {
    std::vector<int64_t> index(ElementCount(logical));
    for (size_t i = 0; i < index.size(); ++i) {
      index[i] = static_cast<int64_t>(i);
    }
    return index;
  }
  return TransposeIndex(
      logical, {permutation.data, permutation.data + permutation.size});
}

bool SameStep(const Step& x, size_t x_cls, const Step& y, size_t y_cls) {
  if (x.kind != y.kind) return false;
  if (x.kind == Step::Kind::kAffine || x.kind == Step::Kind::kOver) {
    const size_t i = x.scale.size() == 1 ? 0 : x_cls;
    const size_t j = y.scale.size() == 1 ? 0 : y_cls;
    return x.scale[i] == y.scale[j] && x.offset[i] == y.offset[j];
  }
  if (x.kind == Step::Kind::kRound) return x.rounding == y.rounding;
  const auto same = [](const std::optional<Number>& a,
                       const std::optional<Number>& b) {
    return a.has_value() == b.has_value() && (!a || *a == *b);
  };
  return same(x.clamp.low, y.clamp.low) && same(x.clamp.high, y.clamp.high);
}

// The op's own function of the real number.
Chain QuantizeChain(const format::QuantizeParameters& p, int64_t channel) {
  const Number scale =
      Number::FromDouble(At(format::View(p.scales()), channel, 1));
  return {Affine(Number(1) / scale, Number(0)),
          Round(static_cast<Rounding>(p.rounding())),
          Affine(Number(1), Number(At(format::View(p.zero_points()), channel))),
          Clamp(Whole(p.lo(), p.hi()))};
}

// Two functions from reals to the codes low..high, compared at every step.
std::optional<std::string> CompareReal(const Chain& ideal, const Chain& op,
                                       int64_t low, int64_t high) {
  if (auto why = Undecidable(ideal)) return why;
  if (auto why = Undecidable(op)) return why;
  constexpr int64_t kMostCodes = 65536;
  if (high - low >= kMostCodes) return "too many codes";
  for (int64_t code = low + 1; code <= high; ++code) {
    HalfLine reached{HalfLine::Kind::kAbove, false, Number(code)};
    if (!(PullBack(ideal, reached) == PullBack(op, reached))) {
      return "reaches code " + std::to_string(code) + " elsewhere";
    }
  }
  return std::nullopt;
}

std::pair<int64_t, int64_t> TypeRange(format::ElementType type) {
  switch (type) {
    case format::ElementType::S8:
      return {-128, 127};
    case format::ElementType::U16:
      return {0, 65535};
    case format::ElementType::S16:
      return {-32768, 32767};
    default:
      return {0, 255};
  }
}

class QuantizeCheck {
 public:
  QuantizeCheck(CheckState* state, const format::Op& op)
      : state_(state),
        p_(*op.parameters_as_QuantizeParameters()),
        in_(op.inputs()->Get(0)),
        out_type_(state->tensor(op.outputs()->Get(0)).type()),
        logical_(PhysicalShape(state->tensor(in_))),
        source_(state->network().Find(TensorName(state->tensor(in_)))) {}

  Outcome Against(const Target& target) {
    Value over = target.over;
    if (!state_->network().roots().Expand(&over)) {
      return Unchecked(target.name + " is not a quantization");
    }
    const Labels in = state_->contents(in_).labels;
    const bool known = in && source_ != nullptr && source_->tracked();
    constexpr size_t kQuantizeSteps = 4;
    const size_t prefix =
        known ? source_->chain.size()
              : over.chain.size() - std::min(over.chain.size(), kQuantizeSteps);
    if (known && !ExpandInto(state_->network().roots(), *in, &over)) {
      return Unchecked(target.name + " is not computed from the input");
    }
    if (over.chain.size() < prefix) return Unchecked("steps that do not fit");
    const ElementIndex index(known ? *over.labels : std::vector<Label>());
    auto labels = std::make_shared<std::vector<Label>>();
    Outcome outcome{Verdict::kVerified, "", nullptr, {}};
    PairSet done;
    for (const int64_t i :
         LogicalIndex(logical_, format::View(p_.permutation()))) {
      const int64_t at = known ? index.Find((*in)[i]) : i;
      if (at < 0 || at >= static_cast<int64_t>(target.own->size())) {
        labels->push_back(kUnknownLabel);
        outcome = Wrong("reads other elements than the QuantizeLinear");
        continue;
      }
      labels->push_back((*target.own)[at]);
      const int64_t channel = ChannelOf(i);
      const int64_t source_cls = known ? source_->ClassOf(i) : 0;
      const int64_t cls = over.ClassOf(at);
      const int64_t key =
          channel * static_cast<int64_t>(over.ClassCount()) + cls;
      if (!done.Insert(key, source_cls) ||
          outcome.verdict != Verdict::kVerified) {
        continue;
      }
      outcome = Compare(over, cls, source_cls, prefix, known, channel);
    }
    if (outcome.verdict == Verdict::kVerified) {
      outcome.detail = known ? "every step" : "every step; behind an island";
    }
    outcome.labels = std::move(labels);
    return outcome;
  }

 private:
  int64_t ChannelOf(int64_t element) const {
    if (p_.axis() < 0) return 0;
    return element / Strides(logical_)[p_.axis()] % logical_[p_.axis()];
  }

  Outcome Compare(const Value& over, int64_t cls, int64_t source_cls,
                  size_t prefix, bool known, int64_t channel) const {
    for (size_t s = 0; known && s < prefix; ++s) {
      if (!SameStep(over.chain[s], cls, source_->chain[s], source_cls)) {
        return Unchecked("its input is another function of the same values");
      }
    }
    const Chain rest(over.chain.begin() + static_cast<std::ptrdiff_t>(prefix),
                     over.chain.end());
    const Chain ideal = Reduce(rest, cls, Interval{}, false);
    const auto [low, high] = TypeRange(out_type_);
    if (const auto why =
            CompareReal(ideal, QuantizeChain(p_, channel), low, high)) {
      return Wrong("channel " + std::to_string(channel) + ": " + *why);
    }
    return {Verdict::kVerified, "", nullptr, {}};
  }

  CheckState* state_;
  const format::QuantizeParameters& p_;
  int32_t in_;
  format::ElementType out_type_;
  Shape logical_;
  const Value* source_;
};

// (x - zero) * scale + offset against the value's one affine step.
std::optional<std::string> CompareAffine(const format::DequantizeParameters& p,
                                         const Value& value, size_t cls,
                                         int64_t channel) {
  const Chain chain = Reduce(value.chain, cls, value.ranges[cls], true);
  if (auto why = Undecidable(chain)) return why;
  Number a(1);
  Number b(0);
  if (chain.size() > 1 ||
      (chain.size() == 1 && chain[0].kind != Step::Kind::kAffine)) {
    return "more than a scale and an offset lies between";
  }
  if (chain.size() == 1) {
    a = chain[0].scale[0];
    b = chain[0].offset[0];
  }
  const double scale = At(format::View(p.scales()), channel, 1);
  const double offset = At(format::View(p.offsets()), channel, 0);
  const int64_t zero = At(format::View(p.zero_points()), channel);
  if (!a.NearestDoubleIs(scale)) {
    return "scale " + std::to_string(scale) + ", not " +
           std::to_string(a.Approximate());
  }
  if (!(b + Number(zero) * a).NearestDoubleIs(offset)) {
    return "zero point " + std::to_string(zero) + " and offset " +
           std::to_string(offset) + " do not give " +
           std::to_string(b.Approximate());
  }
  return std::nullopt;
}

Outcome Dequantize(CheckState* state, const format::Op& op,
                   const std::vector<Label>& in, const Value* value,
                   const std::string& name) {
  const auto& p = *op.parameters_as_DequantizeParameters();
  const Shape logical = PhysicalShape(state->tensor(op.outputs()->Get(0)));
  if (value == nullptr || !value->tracked()) {
    return Unchecked("no ONNX value is named " + name);
  }
  if (value->size() != ElementCount(logical)) {
    return Wrong("another number of elements than " + name);
  }
  Value over = *value;
  if (!ExpandInto(state->network().roots(), in, &over)) {
    return Unchecked(name + " is not a function of the input");
  }
  if (!state->network().roots().Integers(over)) {
    return Unchecked(name + " is not a function of integers");
  }
  const auto index = LogicalIndex(logical, format::View(p.permutation()));
  Outcome outcome{
      Verdict::kVerified, "scales, zero points, offsets", value->labels, {}};
  PairSet done;
  for (size_t i = 0; i < index.size(); ++i) {
    const int64_t element = index[i];
    if ((*over.labels)[element] != in[i]) {
      outcome = Wrong("element " + std::to_string(element) +
                      " is another one than that of " + name);
      break;
    }
    const int64_t channel =
        p.axis() < 0 ? 0
                     : element / Strides(logical)[p.axis()] % logical[p.axis()];
    const auto cls = static_cast<size_t>(over.ClassOf(element));
    if (!done.Insert(channel, static_cast<int64_t>(cls))) continue;
    if (const auto why = CompareAffine(p, over, cls, channel)) {
      outcome = Wrong("channel " + std::to_string(channel) + ": " + *why);
      break;
    }
  }
  outcome.labels = value->labels;
  return outcome;
}

std::string Name(const flatbuffers::String* name) {
  return format::NameOf(name);
}

// The value that an input with codes for a float ONNX input stands for: the
// quantization that reads it.
Labels QuantizedInput(const CheckState& state, const Value& input) {
  const Roots& roots = state.network().roots();
  for (uint32_t i = 1; i < roots.size(); ++i) {
    const Root& root = roots.at(i);
    if (root.kind == Root::Kind::kChain && root.base.roots == input.roots) {
      return RootValue(i, root.shape, 0, nullptr, {}).labels;
    }
  }
  return nullptr;
}

// An output that is a constant of the ONNX file.
CheckLine ConstantOutput(const Contents& contents, const Value& value,
                         CheckLine line) {
  for (int64_t i = 0; i < value.size(); ++i) {
    Number got = Number::Undecidable();
    if (contents.labels && i < static_cast<int64_t>(contents.labels->size()) &&
        RootOf((*contents.labels)[i]) == 0) {
      got = Number(CodeOf((*contents.labels)[i]));
    } else if (i < static_cast<int64_t>(contents.numbers.size())) {
      got = Number::FromDouble(contents.numbers[i]);
    }
    if (!(got == ConstantAt(value, i))) {
      line.verdict = Verdict::kWrong;
      line.detail = "constant element " + std::to_string(i);
      return line;
    }
  }
  line.detail = "constant";
  return line;
}

CheckLine OneOutput(CheckState* state, const format::SignatureEntry& entry) {
  CheckLine line{"output " + Name(entry.name()), Verdict::kUnchecked, ""};
  const Value* value = state->network().Find(Name(entry.name()));
  const Contents& contents = state->contents(entry.tensor());
  if (value == nullptr || !value->known()) {
    line.detail = value == nullptr ? "no such ONNX value" : value->why;
    return line;
  }
  line.verdict = Verdict::kVerified;
  if (value->constant()) return ConstantOutput(contents, *value, line);
  if (!contents.labels) {
    line.verdict = Verdict::kFloat;
    line.detail = "made by a float island";
    return line;
  }
  if (*contents.labels != *value->labels) {
    line.verdict = Verdict::kWrong;
    line.detail = "holds other elements";
    return line;
  }
  const format::Shape shape = format::ShapeFrom(format::View(entry.shape()));
  if (Shape(shape.dims, shape.dims + shape.rank) != value->shape) {
    line.verdict = Verdict::kWrong;
    line.detail = "another shape";
    return line;
  }
  const bool codes = !format::IsFloat(entry.type());
  const auto* grid = entry.quantization();
  if (codes && !value->chain.empty() && grid != nullptr) {
    for (size_t cls = 0; cls < value->ClassCount(); ++cls) {
      const Chain chain = Reduce(value->chain, cls, value->ranges[cls], true);
      const int64_t channel = grid->axis() < 0 ? 0 : static_cast<int64_t>(cls);
      const double scale = At(format::View(grid->scales()), channel, 1);
      const double offset = At(format::View(grid->offsets()), channel, 0);
      const int64_t zero = At(format::View(grid->zero_points()), channel);
      const bool affine =
          chain.size() == 1 && chain[0].kind == Step::Kind::kAffine;
      if (!affine || !chain[0].scale[0].NearestDoubleIs(scale) ||
          !(chain[0].offset[0] + Number(zero) * chain[0].scale[0])
               .NearestDoubleIs(offset)) {
        line.verdict = Verdict::kWrong;
        line.detail = "another scale or offset";
        return line;
      }
    }
  } else if (codes && !value->chain.empty()) {
    line.verdict = Verdict::kWrong;
    line.detail = "codes without a scale stand for reals";
    return line;
  }
  line.detail = "element by element";
  return line;
}

}  // namespace

Outcome CheckQuantize(CheckState* state, const format::Op& op) {
  QuantizeCheck check(state, op);
  return ForTargets(
      *state, op, [&](const Target& target) { return check.Against(target); });
}

Outcome CheckDequantize(CheckState* state, const format::Op& op) {
  const Labels in = state->contents(op.inputs()->Get(0)).labels;
  const std::string name = TensorName(state->tensor(op.outputs()->Get(0)));
  if (!in) return Unchecked("its input is not known");
  const Network& network = state->network();
  Outcome outcome = Dequantize(state, op, *in, network.Find(name), name);
  if (outcome.verdict != Verdict::kUnchecked || op.sources() == nullptr) {
    return outcome;
  }
  for (const auto* source : *op.sources()) {
    for (const std::string& other : network.OutputsOf(source->str())) {
      Outcome next = Dequantize(state, op, *in, network.Find(other), other);
      if (next.verdict == Verdict::kVerified) return next;
    }
    // A QLinear operator that is an island: its operand has no name.
    for (const Value& operand : network.OperandsOf(source->str())) {
      Outcome next = Dequantize(state, op, *in, &operand, source->str());
      if (next.verdict == Verdict::kVerified) return next;
    }
  }
  return outcome;
}

std::vector<CheckLine> CheckSignatureInputs(CheckState* state) {
  std::vector<CheckLine> lines;
  if (state->artifact().inputs() == nullptr) return lines;
  for (const auto* entry : *state->artifact().inputs()) {
    CheckLine line{"input " + Name(entry->name()), Verdict::kUnchecked, ""};
    const Value* value = state->network().Find(Name(entry->name()));
    Labels labels;
    const format::Shape shape = format::ShapeFrom(format::View(entry->shape()));
    if (value == nullptr || !value->tracked()) {
      line.detail = "no such ONNX input";
    } else if (Shape(shape.dims, shape.dims + shape.rank) != value->shape) {
      line.verdict = Verdict::kWrong;
      line.detail = "another shape";
    } else if (IsFloat(value->type) && !format::IsFloat(entry->type())) {
      labels = QuantizedInput(*state, *value);
      if (labels) line.verdict = Verdict::kVerified;
      line.detail = labels ? "its codes" : "no quantization reads it";
    } else {
      line.verdict = Verdict::kVerified;
      labels = value->labels;
    }
    state->SetContents(entry->tensor(), {std::move(labels), {}});
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<CheckLine> CheckSignatureOutputs(CheckState* state) {
  std::vector<CheckLine> lines;
  std::vector<std::string> found;
  if (state->artifact().outputs() != nullptr) {
    for (const auto* entry : *state->artifact().outputs()) {
      lines.push_back(OneOutput(state, *entry));
      found.push_back(Name(entry->name()));
    }
  }
  for (const std::string& name : state->network().outputs()) {
    if (std::find(found.begin(), found.end(), name) == found.end()) {
      lines.push_back({"output " + name, Verdict::kWrong,
                       "the artifact has no such output"});
    }
  }
  return lines;
}

}  // namespace fold::check
