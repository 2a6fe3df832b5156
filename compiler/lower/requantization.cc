#include "compiler/lower/requantization.h"

#include <chrono>
#include <cmath>

#include "compiler/exact/choose_requant.h"

namespace fold {
namespace {

exact::FormSet AllowedForms(const TargetDescriptor& target) {
  exact::FormSet forms = 0;
  const auto add = [&](RequantForm ours, exact::RequantForm theirs) {
    if (HasRequantForm(target, ours)) forms |= exact::FormBit(theirs);
  };
  add(RequantForm::kMul64, exact::RequantForm::kMultiply64);
  add(RequantForm::kHalfEven64, exact::RequantForm::kHalfEven64);
  add(RequantForm::kRemainder, exact::RequantForm::kRemainder);
  add(RequantForm::kMul128, exact::RequantForm::kMultiply128);
  add(RequantForm::kThresholds, exact::RequantForm::kThresholds);
  return forms;
}

format_::RequantForm FormatForm(exact::RequantForm form) {
  switch (form) {
    case exact::RequantForm::kMultiply64:
      return format_::RequantForm::MUL64;
    case exact::RequantForm::kHalfEven64:
      return format_::RequantForm::HALF_EVEN64;
    case exact::RequantForm::kRemainder:
      return format_::RequantForm::REMAINDER;
    case exact::RequantForm::kMultiply128:
      return format_::RequantForm::MUL128;
    case exact::RequantForm::kThresholds:
      return format_::RequantForm::THRESHOLDS;
  }
  return format_::RequantForm::NONE;
}

// A threshold list of every channel must have the same length: a list is filled
// up with a number that no accumulator reaches.
void FillThresholds(const exact::RequantPlan& plan, format_::RequantT& out) {
  size_t most = 1;
  for (const auto& c : plan.channels)
    most = std::max(most, c.thresholds.size());
  out.threshold_count = static_cast<uint32_t>(most);
  for (const auto& c : plan.channels) {
    out.thresholds.insert(out.thresholds.end(), c.thresholds.begin(),
                          c.thresholds.end());
    out.thresholds.insert(out.thresholds.end(), most - c.thresholds.size(),
                          INT64_MAX);
    out.first_codes.push_back(static_cast<int32_t>(c.first_code));
    out.decreasing.push_back(c.increasing ? 0 : 1);
  }
}

std::unique_ptr<format_::RequantT> ToFormat(const exact::RequantPlan& plan) {
  auto out = std::make_unique<format_::RequantT>();
  out->form = FormatForm(plan.form);
  out->lo = static_cast<int32_t>(plan.low);
  out->hi = static_cast<int32_t>(plan.high);
  if (plan.form == exact::RequantForm::kThresholds) {
    FillThresholds(plan, *out);
    return out;
  }
  const bool half_even = plan.form == exact::RequantForm::kHalfEven64;
  const bool remainder = plan.form == exact::RequantForm::kRemainder;
  if (half_even || remainder) out->zero = static_cast<int32_t>(plan.zero_point);
  for (const exact::FormParameters& c : plan.channels) {
    out->multipliers.push_back(c.multiplier);
    out->addends.push_back(static_cast<int64_t>(c.addend));
    if (plan.form == exact::RequantForm::kMultiply128) {
      out->addends_high.push_back(static_cast<int64_t>(c.addend >> 64));
    }
    if (remainder) {
      out->divisors.push_back(c.divisor);
    } else {
      out->shifts.push_back(static_cast<uint8_t>(c.shift));
    }
  }
  return out;
}

}  // namespace

exact::Rational RealConstant(const Graph& graph, ValueId id, int64_t index) {
  const Value& value = graph.value(id);
  const Tensor& tensor = *value.constant;
  const int64_t at = tensor.size() == 1 ? 0 : index;
  if (!value.type.encoding) return exact::FromDouble(tensor.real(at));
  const Encoding& e = *value.type.encoding;
  return exact::FromInt64(tensor.integer(at) - e.zero_point(index)) *
         exact::FromDouble(e.scale(index));
}

void AppendSteps(const Graph& graph, const Node& node, int64_t channel,
                 std::vector<exact::ChainStep>* chain) {
  const auto number = [&](uint32_t operand) {
    return RealConstant(graph, node.operands[operand], channel);
  };
  for (const Step& step : node.steps) {
    switch (step.kind) {
      case Step::Kind::kMultiply:
        chain->push_back(exact::Multiply{number(step.operands[0])});
        break;
      case Step::Kind::kDivide:
        chain->push_back(exact::Divide{number(step.operands[0])});
        break;
      case Step::Kind::kAdd:
        chain->push_back(exact::Add{number(step.operands[0])});
        break;
      case Step::Kind::kReciprocal:
        chain->push_back(exact::Reciprocal{number(step.operands[0])});
        break;
      case Step::Kind::kBatchNorm:
        chain->push_back(
            exact::BatchNorm{number(step.operands[0]), number(step.operands[1]),
                             number(step.operands[2]), number(step.operands[3]),
                             exact::FromDouble(step.epsilon)});
        break;
      case Step::Kind::kClip: {
        exact::Clip clip;
        if (std::isfinite(step.low)) clip.low = exact::FromDouble(step.low);
        if (std::isfinite(step.high)) clip.high = exact::FromDouble(step.high);
        chain->push_back(clip);
        break;
      }
    }
  }
}

exact::Quantization QuantizationOf(const TensorType& type, int64_t channel) {
  const Encoding& e = *type.encoding;
  exact::Quantization q;
  q.scale = exact::FromDouble(e.scale(channel));
  q.zero_point = e.zero_point(channel);
  q.code_low = LowestCode(type.element);
  q.code_high = HighestCode(type.element);
  q.clamp_low = e.code_low;
  q.clamp_high = e.code_high;
  q.rounding = RoundingFor(e.rounding, q.zero_point);
  return q;
}

std::unique_ptr<format_::RequantT> ProveRequant(
    Lowering& lowering, NodeId node,
    const std::vector<exact::ChannelProblem>& problems) {
  const auto start = std::chrono::steady_clock::now();
  exact::FormSet forms = AllowedForms(lowering.target);
  exact::RequantResult result = exact::ChooseRequant(problems, forms);
  // The artifact has one clamp and one zero point an op; channels that need
  // their own go through thresholds.
  const exact::FormSet thresholds =
      forms & exact::FormBit(exact::RequantForm::kThresholds);
  if (result.plan && thresholds &&
      result.plan->form != exact::RequantForm::kThresholds &&
      !(result.plan->common_clamp && result.plan->common_zero_point)) {
    result = exact::ChooseRequant(problems, thresholds);
  }
  lowering.program.prover_seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  if (!result.plan) {
    lowering.Error(
        DiagnosticCode::not_on_target, node,
        "no requantization of the target is exact here: " + result.refusal);
    return nullptr;
  }
  auto out = ToFormat(*result.plan);
  if (result.plan->form == exact::RequantForm::kThresholds) {
    const auto& q = problems[0].quantization;
    out->lo = static_cast<int32_t>(q.code_low);
    out->hi = static_cast<int32_t>(q.code_high);
  }
  return out;
}

}  // namespace fold
