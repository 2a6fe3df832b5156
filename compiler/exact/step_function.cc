#include "compiler/exact/step_function.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/exact/int128.h"
#include "compiler/exact/piecewise.h"
#include "compiler/exact/surd.h"

namespace fold::exact {
namespace {

constexpr unsigned kFractionBits = 64;

struct FloorAndExact {
  std::int64_t floor = 0;
  bool exact = false;
};

// Solves slope * x + offset = twice / 2 for x, for many whole numbers `twice`:
// the solution is half_period * twice + origin. In fixed point with a known
// error first, in exact arithmetic where the error leaves a doubt.
class CrossingSolver {
 public:
  explicit CrossingSolver(const Piece& piece)
      : inverse_(piece.slope.Inverse()), offset_(piece.offset) {
    Surd half_period = inverse_;
    half_period *= Rational(1, 2);
    const Surd origin = Surd() - offset_ * inverse_;
    bool half_period_exact, origin_exact;
    const Integer scaled_half =
        half_period.FloorScaled(kFractionBits, &half_period_exact);
    const Integer scaled_origin =
        origin.FloorScaled(kFractionBits, &origin_exact);
    // With these bounds and kFastTwice no sum below leaves 128 bits.
    fast_ = mpz_sizeinbase(scaled_half.get_mpz_t(), 2) <= 104 &&
            mpz_sizeinbase(scaled_origin.get_mpz_t(), 2) <= 125;
    if (!fast_) return;
    half_period_ = ToInt128(scaled_half);
    origin_ = ToInt128(scaled_origin);
    half_period_error_ = half_period_exact ? 0 : 1;
    origin_error_ = origin_exact ? 0 : 1;
  }

  FloorAndExact Solve(std::int64_t twice) const {
    if (fast_ && std::abs(twice) < kFastTwice) {
      const Int128 factor = twice;
      const Int128 center = half_period_ * factor + origin_;
      const Int128 spread = half_period_error_ * factor;
      const Int128 lower = center + std::min<Int128>(spread, 0);
      const Int128 upper = center + std::max<Int128>(spread, 0) + origin_error_;
      const Int128 floor = lower >> kFractionBits;
      const bool whole = (floor << kFractionBits) == lower;
      if (lower == upper) return {static_cast<std::int64_t>(floor), whole};
      if (!whole && floor == upper >> kFractionBits) {
        return {static_cast<std::int64_t>(floor), false};
      }
    }
    return SolveExactly(twice);
  }

 private:
  static constexpr std::int64_t kFastTwice = std::int64_t{1} << 20;

  FloorAndExact SolveExactly(std::int64_t twice) const {
    const Surd crossing = (Surd(Fraction(twice, 2)) - offset_) * inverse_;
    FloorAndExact result;
    result.floor = ToInt64(crossing.FloorInteger(&result.exact));
    return result;
  }

  Surd inverse_, offset_;
  bool fast_ = false;
  Int128 half_period_ = 0, origin_ = 0;  // times 2^kFractionBits, floors
  Int128 half_period_error_ = 0, origin_error_ = 0;
};

class StepFunctionBuilder {
 public:
  StepFunctionBuilder(const ChannelProblem& problem, StepFunction* result)
      : result_(result) {
    const CodeRange range = EffectiveRange(problem.quantization);
    zero_point_ = problem.quantization.zero_point;
    rounding_ = problem.quantization.rounding;
    low_ = range.low - zero_point_;
    high_ = range.high - zero_point_;
  }

  void Build(const std::vector<Piece>& pieces) {
    result_->acc_low = pieces.front().low;
    result_->acc_high = pieces.back().high;
    std::int64_t current = RoundAt(pieces.front(), pieces.front().low);
    result_->first_code = current + zero_point_;
    for (const Piece& piece : pieces) {
      const std::int64_t first = RoundAt(piece, piece.low);
      result_->thresholds.insert(result_->thresholds.end(),
                                 std::abs(first - current), piece.low);
      current = first;
      if (piece.slope.IsZero()) continue;
      const std::int64_t last = RoundAt(piece, piece.high);
      if (last != first) AddPiece(piece, first, last);
      current = last;
    }
    // Pieces may all be constant and yet differ, so the codes tell.
    result_->increasing = current + zero_point_ >= result_->first_code;
  }

 private:
  // The rounded value at x, without zero point, limited to the range.
  std::int64_t RoundAt(const Piece& piece, std::int64_t x) {
    Surd value = piece.slope;
    value *= FromInt64(x);
    value += piece.offset;
    if (rounding_ != Rounding::kHalfEven) return RoundByBisection(value);
    value += Surd(Rational(1, 2));
    bool tie;
    Integer rounded = value.FloorInteger(&tie);
    if (tie) {
      if (rounded > low_ && rounded <= high_) result_->tie_reachable = true;
      if (mpz_odd_p(rounded.get_mpz_t())) --rounded;
    }
    return ClampToInt64(rounded, low_, high_);
  }

  std::int64_t RoundByBisection(const Surd& value) {
    std::int64_t low = low_, high = high_;
    while (low < high) {
      const std::int64_t k = low + (high - low + 1) / 2;
      const RoundingStep step = StepTo(rounding_, k);
      const int order = (value - Surd(Fraction(step.twice, 2))).Sign();
      if (order == 0) result_->tie_reachable = true;
      if (order > 0 || (order == 0 && step.takes)) {
        low = k;
      } else {
        high = k - 1;
      }
    }
    return low;
  }

  void AddPiece(const Piece& piece, std::int64_t first, std::int64_t last) {
    const CrossingSolver solver(piece);
    const bool up = last > first;
    const std::int64_t step = up ? 1 : -1;
    // Going up, code k is entered; going down, code k is left.
    for (std::int64_t k = up ? first + 1 : first; k != (up ? last + 1 : last);
         k += step) {
      const RoundingStep rounding = StepTo(rounding_, k);
      const FloorAndExact crossing = solver.Solve(rounding.twice);
      std::int64_t threshold = crossing.floor + 1;
      if (crossing.exact) {
        result_->tie_reachable = true;
        if (rounding.takes == up) threshold = crossing.floor;
      }
      result_->thresholds.push_back(threshold);
    }
  }

  StepFunction* result_;
  std::int64_t zero_point_ = 0;
  Rounding rounding_ = Rounding::kHalfEven;
  std::int64_t low_ = 0, high_ = 0;
};

}  // namespace

std::int64_t StepFunction::Code(std::int64_t acc) const {
  const std::int64_t count =
      std::upper_bound(thresholds.begin(), thresholds.end(), acc) -
      thresholds.begin();
  return increasing ? first_code + count : first_code - count;
}

std::int64_t StepFunction::LastCode() const {
  const auto count = static_cast<std::int64_t>(thresholds.size());
  return increasing ? first_code + count : first_code - count;
}

StepFunction IdealSteps(const std::vector<Piece>& pieces,
                        const ChannelProblem& problem) {
  StepFunction result;
  StepFunctionBuilder(problem, &result).Build(pieces);
  return result;
}

StepFunction IdealSteps(const ChannelProblem& problem) {
  return IdealSteps(ScaledPieces(problem), problem);
}

}  // namespace fold::exact
