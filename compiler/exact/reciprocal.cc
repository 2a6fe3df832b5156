#include "compiler/exact/reciprocal.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "compiler/exact/rounding.h"

namespace fold::exact {
namespace {

constexpr std::int64_t kMostNumerator = std::int64_t{1} << 62;
constexpr std::int64_t kMostDenominator = std::int64_t{1} << 46;

// Simplest fraction in the open interval (low, high), 0 <= low < high; an
// absent `high` is infinite. By continued fractions (Stern 1858).
Rational SimplestPositive(const Rational& low,
                          const std::optional<Rational>& high) {
  const Integer floor = Floor(low);
  Rational next(floor + 1);
  if (!high || next < *high) return next;
  // high <= floor + 1: the integer parts agree.
  const Rational rest = low - Rational(floor);
  const Rational high_rest = *high - Rational(floor);
  // floor + 1/t with t in (1 / high_rest, 1 / rest).
  std::optional<Rational> most;
  if (sgn(rest) != 0) most = 1 / rest;
  return Rational(floor) + 1 / SimplestPositive(1 / high_rest, most);
}

// Which r give code - zero point `k` for half_even(r / d), d > 0, where codes
// at the ends of the range stand for everything beyond.
class Interval {
 public:
  void AtLeast(const Rational& bound) {
    if (!low_ || bound > *low_) low_ = bound;
  }
  void AtMost(const Rational& bound) {
    if (!high_ || bound < *high_) high_ = bound;
  }
  const std::optional<Rational>& low() const { return low_; }
  const std::optional<Rational>& high() const { return high_; }

 private:
  std::optional<Rational> low_, high_;
};

// The fractions that give every entry of a table, but for the ends.
Interval FractionsOf(const TableProblem& problem,
                     const std::vector<TableEntry>& entries, std::int64_t low,
                     std::int64_t high) {
  Interval interval;
  const std::int64_t zero = problem.quantization.zero_point;
  for (std::int64_t x = problem.code_low; x <= problem.code_high; ++x) {
    const std::int64_t d = x - problem.zero_point;
    const std::int64_t code = entries[x - problem.code_low].code;
    if (d == 0) continue;
    // (code - zero - 1/2) <= r / d <= (code - zero + 1/2)
    const Rational below = Fraction(2 * (code - zero) - 1, 2) * FromInt64(d);
    const Rational above = Fraction(2 * (code - zero) + 1, 2) * FromInt64(d);
    if (code > low) d > 0 ? interval.AtLeast(below) : interval.AtMost(below);
    if (code < high) d > 0 ? interval.AtMost(above) : interval.AtLeast(above);
  }
  return interval;
}

bool Fits(const Rational& r) {
  return abs(r.get_num()) <= FromInt64ToInteger(kMostNumerator) &&
         r.get_den() <= FromInt64ToInteger(kMostDenominator);
}

// A chain `numerator / x` with scales and a clamp behind it: the factor of
// 1 / x, nullopt if there is another step.
std::optional<Rational> FactorOf(const TableProblem& problem) {
  if (problem.steps.empty()) return std::nullopt;
  const auto* first = std::get_if<Reciprocal>(&problem.steps[0]);
  if (!first) return std::nullopt;
  Rational factor = first->numerator;
  bool clamped = false;
  for (size_t i = 1; i < problem.steps.size(); ++i) {
    const ChainStep& step = problem.steps[i];
    if (std::holds_alternative<Relu>(step) ||
        std::holds_alternative<Clip>(step)) {
      clamped = true;
      continue;
    }
    if (clamped) return std::nullopt;
    if (const auto* multiply = std::get_if<Multiply>(&step)) {
      factor *= multiply->factor;
    } else if (const auto* divide = std::get_if<Divide>(&step)) {
      if (sgn(divide->divisor) == 0) return std::nullopt;
      factor /= divide->divisor;
    } else {
      return std::nullopt;
    }
  }
  return factor / (problem.scale * problem.quantization.scale);
}

bool Gives(const ReciprocalPlan& plan, std::size_t channel,
           const TableProblem& problem,
           const std::vector<TableEntry>& entries) {
  for (std::int64_t x = problem.code_low; x <= problem.code_high; ++x) {
    if (Evaluate(plan, channel, x, problem.zero_point) !=
        entries[x - problem.code_low].code) {
      return false;
    }
  }
  return true;
}

// The simplest fraction that gives a table, nullopt if there is none.
std::optional<ReciprocalChannel> Solve(const TableProblem& problem,
                                       const std::vector<TableEntry>& entries,
                                       ReciprocalPlan plan) {
  const std::optional<Rational> factor = FactorOf(problem);
  if (!factor) return std::nullopt;
  std::vector<Rational> candidates;
  if (sgn(*factor) == 0) {
    candidates.emplace_back(0);
  } else {
    const Interval interval =
        FractionsOf(problem, entries, plan.low, plan.high);
    // The sign decides what x = 0 saturates to.
    Interval signed_interval = interval;
    sgn(*factor) > 0 ? signed_interval.AtLeast(0) : signed_interval.AtMost(0);
    if (!signed_interval.low() || !signed_interval.high() ||
        *signed_interval.low() < *signed_interval.high()) {
      candidates.push_back(
          SimplestBetween(signed_interval.low(), signed_interval.high()));
    }
    // The ends belong to it where the ties there go to even codes.
    if (signed_interval.low()) candidates.push_back(*signed_interval.low());
    if (signed_interval.high()) candidates.push_back(*signed_interval.high());
    candidates.push_back(*factor);
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Rational& a, const Rational& b) {
              return std::tuple(a.get_den(), Integer(abs(a.get_num()))) <
                     std::tuple(b.get_den(), Integer(abs(b.get_num())));
            });
  for (const Rational& r : candidates) {
    if (!Fits(r)) continue;
    const ReciprocalChannel channel = {ToInt64(r.get_num()),
                                       ToInt64(r.get_den())};
    plan.channels = {channel};
    if (Gives(plan, 0, problem, entries)) return channel;
  }
  return std::nullopt;
}

}  // namespace

Rational SimplestBetween(const std::optional<Rational>& low,
                         const std::optional<Rational>& high) {
  if ((!low || sgn(*low) < 0) && (!high || sgn(*high) > 0)) return 0;
  if (low && sgn(*low) >= 0) return SimplestPositive(*low, high);
  std::optional<Rational> most;
  if (low) most = -*low;
  return -SimplestPositive(-*high, most);
}

std::int64_t Evaluate(const ReciprocalPlan& plan, std::size_t channel,
                      std::int64_t x, std::int64_t x_zero) {
  const ReciprocalChannel& c = plan.channels[channel];
  const std::int64_t d = x - x_zero;
  if (d == 0) {
    if (c.numerator > 0) return plan.high;
    if (c.numerator < 0) return plan.low;
    return std::clamp(plan.zero_point, plan.low, plan.high);
  }
  const std::int64_t sign = d < 0 ? -1 : 1;
  const Int128 y =
      DivideHalfEven(Int128{sign * c.numerator}, c.denominator * sign * d) +
      plan.zero_point;
  return y < plan.low    ? plan.low
         : y > plan.high ? plan.high
                         : static_cast<std::int64_t>(y);
}

ReciprocalResult ChooseReciprocal(std::span<const TableProblem> problems) {
  ReciprocalResult result;
  if (problems.empty()) return {ReciprocalPlan(), ""};
  std::vector<std::vector<TableEntry>> tables;
  std::int64_t least = INT64_MAX, most = INT64_MIN;
  for (const TableProblem& problem : problems) {
    if (const auto fault = FindFault(problem)) return {std::nullopt, *fault};
    tables.push_back(EvaluateTable(problem));
    for (const TableEntry& entry : tables.back()) {
      least = std::min(least, entry.code);
      most = std::max(most, entry.code);
    }
  }
  const CodeRange whole = EffectiveRange(problems[0].quantization);
  // A clamp of real numbers behind the reciprocal is one of the codes.
  for (const CodeRange& range : {whole, CodeRange{least, most}}) {
    ReciprocalPlan plan;
    plan.zero_point = problems[0].quantization.zero_point;
    plan.low = range.low;
    plan.high = range.high;
    std::vector<ReciprocalChannel> channels;
    for (size_t c = 0; c < problems.size(); ++c) {
      const auto channel = Solve(problems[c], tables[c], plan);
      if (!channel) {
        result.refusal =
            "channel " + std::to_string(c) + ": no fraction gives every code";
        break;
      }
      channels.push_back(*channel);
    }
    if (channels.size() < problems.size()) continue;
    plan.channels = std::move(channels);
    return {std::move(plan), ""};
  }
  return result;
}

}  // namespace fold::exact
