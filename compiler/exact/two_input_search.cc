#include <algorithm>
#include <cstddef>
#include <utility>

#include "compiler/exact/choose_requant.h"
#include "compiler/exact/two_input.h"
#include "compiler/exact/two_input_rows.h"

namespace fold::exact {
namespace {

constexpr int kLowestMultiplierBits = 7;
constexpr int kMultiplierBits = 31;
constexpr int kHighestShift = 54;  // a code of 8 bits still fits int64
constexpr int kNeighbours[] = {0, 1, -1};

// The sum as an accumulator: real = unit * (weight_a (a - za) + weight_b
// (b - zb)) with whole weights.
struct SumAccumulator {
  std::int64_t weight_a = 0, weight_b = 0;
  ChannelProblem problem;
};

std::optional<SumAccumulator> AccumulatorOf(const TwoInputProblem& problem) {
  const Rational& sa = problem.a.scale;
  const Rational sb =
      problem.subtract ? Rational(-problem.b.scale) : problem.b.scale;
  const Integer denominator = lcm(sa.get_den(), sb.get_den());
  const Integer whole_a = sa.get_num() * (denominator / sa.get_den());
  const Integer whole_b = sb.get_num() * (denominator / sb.get_den());
  const Integer divisor = gcd(whole_a, whole_b);
  const Integer weight_a = whole_a / divisor, weight_b = whole_b / divisor;
  if (!FitsInt64(weight_a) || !FitsInt64(weight_b)) return std::nullopt;

  SumAccumulator sum;
  sum.weight_a = ToInt64(weight_a);
  sum.weight_b = ToInt64(weight_b);
  // Codes and zero points are below 2^33, so nothing here leaves 128 bits.
  Int128 low = 0, high = 0;
  const auto extend = [&](const InputCodes& codes, std::int64_t weight) {
    const Int128 first = Int128{codes.code_low - codes.zero_point} * weight;
    const Int128 last = Int128{codes.code_high - codes.zero_point} * weight;
    low += std::min(first, last);
    high += std::max(first, last);
  };
  extend(problem.a, sum.weight_a);
  extend(problem.b, sum.weight_b);
  constexpr Int128 kLimit = Int128{1} << 62;
  if (low < -kLimit || high > kLimit) return std::nullopt;
  sum.problem.acc_low = static_cast<std::int64_t>(low);
  sum.problem.acc_high = static_cast<std::int64_t>(high);
  Rational unit(divisor, denominator);
  unit.canonicalize();
  sum.problem.steps.push_back(Multiply{unit});
  sum.problem.steps.insert(sum.problem.steps.end(), problem.steps.begin(),
                           problem.steps.end());
  sum.problem.quantization = problem.quantization;
  return sum;
}

// A proved form of the accumulator, spread over the two inputs. It holds on
// every integer of the accumulator's range, so on every pair.
std::optional<TwoInputPlan> SpreadForm(const TwoInputProblem& problem,
                                       const SumAccumulator& sum,
                                       TwoInputForm form, int* tried) {
  const RequantForm one_input = form == TwoInputForm::kHalfEven64
                                    ? RequantForm::kHalfEven64
                                    : RequantForm::kRemainder;
  const RequantResult result =
      ChooseRequant({&sum.problem, 1}, FormBit(one_input));
  if (!result.plan) return std::nullopt;
  *tried += result.statistics[0].candidates_tried;
  const FormParameters& found = result.plan->channels[0];
  const Integer m = FromInt64ToInteger(found.multiplier);
  const Integer ma = m * FromInt64ToInteger(sum.weight_a);
  const Integer mb = m * FromInt64ToInteger(sum.weight_b);
  const Integer addend =
      FromInt64ToInteger(static_cast<std::int64_t>(found.addend)) -
      ma * FromInt64ToInteger(problem.a.zero_point) -
      mb * FromInt64ToInteger(problem.b.zero_point);
  if (!FitsInt64(ma) || !FitsInt64(mb) || !FitsInt64(addend)) {
    return std::nullopt;
  }
  TwoInputPlan plan;
  plan.form = form;
  plan.multiplier_a = ToInt64(ma);
  plan.multiplier_b = ToInt64(mb);
  plan.addend = ToInt64(addend);
  plan.shift = found.shift;
  plan.divisor = found.divisor;
  plan.zero_point = found.zero_point;
  plan.low = found.low;
  plan.high = found.high;
  plan.tie_reachable = result.statistics[0].tie_reachable;
  if (!KeepsLimits(problem, plan)) return std::nullopt;
  return plan;
}

// Searches (Ma, Mb, C, S) of the floor form under one bound for every step of
// every row: lower: C >= k 2^S - a Ma - b Mb, upper: C < k 2^S - a Ma - b Mb.
class FloorSearch {
 public:
  FloorSearch(const TwoInputProblem& problem, const TwoInputRows& ideal)
      : problem_(problem), ideal_(ideal) {
    const CodeRange range = EffectiveRange(problem.quantization);
    low_ = range.low;
    high_ = range.high;
    FindClamp();
    for (std::size_t i = 0; i < ideal.rows.size(); ++i) {
      AddBounds(problem.a.code_low + static_cast<std::int64_t>(i),
                ideal.rows[i]);
    }
  }

  std::optional<TwoInputPlan> Run(int* tried) {
    if (lower_.empty() && upper_.empty()) return Plan(0, 0, 0, 0);
    if (!ideal_.has_slope) return std::nullopt;
    Surd slope_a = ideal_.slope_b;
    slope_a *=
        problem_.a.scale /
        (problem_.subtract ? Rational(-problem_.b.scale) : problem_.b.scale);
    const Integer a = Scaled(slope_a), b = Scaled(ideal_.slope_b);
    const int bits = static_cast<int>(std::max(
        mpz_sizeinbase(a.get_mpz_t(), 2), mpz_sizeinbase(b.get_mpz_t(), 2)));
    const int free_bits = bits - kHighestShift;
    const int last = std::min(kHighestShift, kMultiplierBits - free_bits);
    const int first = std::max(kLowestMultiplierBits - free_bits, 0);
    for (int shift = first; shift <= last; ++shift) {
      for (const int delta_a : kNeighbours) {
        for (const int delta_b : kNeighbours) {
          ++*tried;
          auto plan = Try(Nearest(a, shift) + delta_a,
                          Nearest(b, shift) + delta_b, shift);
          if (plan) return plan;
        }
      }
    }
    return std::nullopt;
  }

 private:
  struct Bound {
    std::int64_t a, b, code;
  };

  // Clip and Relu may end the codes before the storage does.
  void FindClamp() {
    std::int64_t lowest = high_, highest = low_;
    for (const StepFunction& row : ideal_.rows) {
      lowest = std::min({lowest, row.first_code, row.LastCode()});
      highest = std::max({highest, row.first_code, row.LastCode()});
    }
    low_ = lowest;
    high_ = highest;
  }

  void AddBounds(std::int64_t a, const StepFunction& row) {
    const std::int64_t lowest = std::min(row.first_code, row.LastCode());
    const std::int64_t highest = std::max(row.first_code, row.LastCode());
    const std::int64_t b_of_lowest =
        row.increasing ? row.acc_low : row.acc_high;
    const std::int64_t b_of_highest =
        row.increasing ? row.acc_high : row.acc_low;
    if (lowest > low_) lower_.push_back({a, b_of_lowest, lowest});
    if (highest < high_) upper_.push_back({a, b_of_highest, highest + 1});
    std::int64_t code = row.first_code;
    for (const std::int64_t b : row.thresholds) {
      if (row.increasing) {
        ++code;
        lower_.push_back({a, b, code});
        upper_.push_back({a, b - 1, code});
      } else {
        lower_.push_back({a, b - 1, code});
        upper_.push_back({a, b, code});
        --code;
      }
    }
  }

  static Integer Scaled(const Surd& slope) {
    bool ignored;
    return slope.FloorScaled(kHighestShift, &ignored);
  }

  static Integer Nearest(const Integer& scaled, int shift) {
    const int bits = kHighestShift - shift;
    if (bits == 0) return scaled;
    return (scaled + (Integer(1) << (bits - 1))) >> bits;
  }

  std::optional<TwoInputPlan> Try(const Integer& a, const Integer& b,
                                  int shift) {
    const Integer limit = Integer(1) << kMultiplierBits;
    if (abs(a) >= limit || abs(b) >= limit) return std::nullopt;
    const std::int64_t ma = ToInt64(a), mb = ToInt64(b);
    const auto value = [=](const Bound& bound) {
      return (Int128{bound.code} << shift) - Int128{bound.a} * ma -
             Int128{bound.b} * mb;
    };
    // The pair that refused the last candidate goes first.
    Int128 least = -(Int128{1} << 100), most = Int128{1} << 100;
    if (!lower_.empty()) least = value(lower_[worst_lower_]);
    if (!upper_.empty()) most = value(upper_[worst_upper_]) - 1;
    constexpr std::size_t kStride = 64;
    for (std::size_t start = 0; start < kStride && least <= most; ++start) {
      for (std::size_t i = start; i < lower_.size(); i += kStride) {
        const Int128 bound = value(lower_[i]);
        if (bound > least) {
          least = bound;
          worst_lower_ = i;
        }
      }
      for (std::size_t i = start; i < upper_.size(); i += kStride) {
        const Int128 bound = value(upper_[i]) - 1;
        if (bound < most) {
          most = bound;
          worst_upper_ = i;
        }
      }
    }
    if (least > most) return std::nullopt;
    const Int128 addend = least + (most - least) / 2;
    if (!FitsInt64(addend)) return std::nullopt;
    return Plan(ma, mb, static_cast<std::int64_t>(addend), shift);
  }

  std::optional<TwoInputPlan> Plan(std::int64_t ma, std::int64_t mb,
                                   std::int64_t addend, int shift) const {
    TwoInputPlan plan;
    plan.form = TwoInputForm::kMultiply64;
    plan.multiplier_a = ma;
    plan.multiplier_b = mb;
    plan.addend = addend;
    plan.shift = shift;
    plan.low = low_;
    plan.high = high_;
    if (!Verify(problem_, ideal_, plan)) return std::nullopt;
    return plan;
  }

  const TwoInputProblem& problem_;
  const TwoInputRows& ideal_;
  std::int64_t low_ = 0, high_ = 0;
  std::vector<Bound> lower_, upper_;
  std::size_t worst_lower_ = 0, worst_upper_ = 0;
};

TwoInputPlan TablePlan(const TwoInputRows& ideal) {
  TwoInputPlan plan;
  plan.form = TwoInputForm::kTable;
  for (const StepFunction& row : ideal.rows) {
    for (std::int64_t b = row.acc_low; b <= row.acc_high; ++b) {
      plan.table.push_back(static_cast<std::int32_t>(row.Code(b)));
    }
  }
  return plan;
}

class TwoInputChooser {
 public:
  TwoInputChooser(const TwoInputProblem& problem, TwoInputFormSet allowed)
      : problem_(problem), allowed_(allowed) {}

  TwoInputResult Run() {
    const bool enumerable =
        CodeCount(problem_.b) <= kPairLimit / CodeCount(problem_.a);
    std::optional<TwoInputRows> rows;
    if (enumerable) rows = IdealRows(problem_);
    auto plan = Find(rows ? &*rows : nullptr);
    TwoInputResult result;
    if (!plan) {
      result.refusal = enumerable ? "no allowed form is exact"
                                  : "no form without enumeration fits 64 bits";
      return result;
    }
    plan->candidates_tried = tried_;
    if (rows) {
      plan->tie_reachable =
          std::any_of(rows->rows.begin(), rows->rows.end(),
                      [](const StepFunction& r) { return r.tie_reachable; });
    }
    result.plan = std::move(plan);
    return result;
  }

 private:
  bool Allowed(TwoInputForm form) const {
    return (allowed_ >> static_cast<int>(form) & 1) != 0;
  }

  std::optional<TwoInputPlan> Find(const TwoInputRows* rows) {
    if (rows != nullptr && Allowed(TwoInputForm::kMultiply64)) {
      auto plan = FloorSearch(problem_, *rows).Run(&tried_);
      if (plan) return plan;
    }
    const auto sum = AccumulatorOf(problem_);
    for (const TwoInputForm form :
         {TwoInputForm::kHalfEven64, TwoInputForm::kRemainder}) {
      if (!Allowed(form) || !sum || FindFault(sum->problem)) continue;
      auto plan = SpreadForm(problem_, *sum, form, &tried_);
      if (plan && (rows == nullptr || Verify(problem_, *rows, *plan))) {
        return plan;
      }
    }
    if (rows == nullptr || !Allowed(TwoInputForm::kTable)) return std::nullopt;
    ++tried_;
    return TablePlan(*rows);
  }

  const TwoInputProblem& problem_;
  TwoInputFormSet allowed_;
  int tried_ = 0;
};

}  // namespace

TwoInputResult ChooseTwoInput(const TwoInputProblem& problem,
                              TwoInputFormSet allowed) {
  if (auto fault = FindFault(problem)) {
    TwoInputResult result;
    result.refusal = *fault;
    return result;
  }
  return TwoInputChooser(problem, allowed).Run();
}

}  // namespace fold::exact
