#include "compiler/exact/piecewise.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

namespace fold::exact {
namespace {

Surd ValueAt(const Piece& piece, std::int64_t x) {
  Surd value = piece.slope;
  value *= FromInt64(x);
  return value += piece.offset;
}

void AddConstant(const Rational& addend, std::vector<Piece>* pieces) {
  for (Piece& piece : *pieces) piece.offset += Surd(addend);
}

void MultiplyBy(const Surd& factor, std::vector<Piece>* pieces) {
  const bool rational = factor.IsRational();
  for (Piece& piece : *pieces) {
    if (rational) {
      piece.slope *= factor.RationalValue();
      piece.offset *= factor.RationalValue();
    } else {
      piece.slope = piece.slope * factor;
      piece.offset = piece.offset * factor;
    }
  }
}

// Splits piece at value = level into the integers at which value < level and
// the rest; either may be empty (low > high). Requires that the piece is not
// empty. *below_first tells which of them comes first.
void Split(const Piece& piece, const Rational& level, Piece* below, Piece* rest,
           bool* below_first) {
  *below = *rest = piece;
  const int direction = piece.slope.Sign();
  *below_first = direction >= 0;
  const Surd bound(level);
  const bool low_below = Compare(ValueAt(piece, piece.low), bound) < 0;
  const bool high_below = direction == 0
                              ? low_below
                              : Compare(ValueAt(piece, piece.high), bound) < 0;
  if (low_below == high_below) {
    Piece& empty = low_below ? *rest : *below;
    empty.low = 1;
    empty.high = 0;
    return;
  }
  // slope * x + offset = level has its solution inside the piece.
  bool exact;
  const Surd crossing = (bound - piece.offset) * piece.slope.Inverse();
  const std::int64_t floor = ToInt64(crossing.FloorInteger(&exact));
  if (direction > 0) {  // below: x < crossing
    below->high = exact ? floor - 1 : floor;
    rest->low = below->high + 1;
  } else {  // below: x > crossing
    below->low = floor + 1;
    rest->high = floor;
  }
}

// Applies `change` to the part of every piece that lies below level, or to the
// part that does not.
template <typename Change>
void ChangePart(const Rational& level, bool change_below, Change change,
                std::vector<Piece>* pieces) {
  std::vector<Piece> result;
  for (const Piece& piece : *pieces) {
    Piece below, rest;
    bool below_first;
    Split(piece, level, &below, &rest, &below_first);
    change(change_below ? &below : &rest);
    Piece* ordered[2] = {below_first ? &below : &rest,
                         below_first ? &rest : &below};
    for (Piece* part : ordered) {
      if (part->low <= part->high) result.push_back(std::move(*part));
    }
  }
  *pieces = std::move(result);
}

void SetConstant(const Rational& value, Piece* piece) {
  piece->slope = Surd();
  piece->offset = Surd(value);
}

void ClampLow(const Rational& low, std::vector<Piece>* pieces) {
  ChangePart(
      low, true, [&low](Piece* piece) { SetConstant(low, piece); }, pieces);
}

void ClampHigh(const Rational& high, std::vector<Piece>* pieces) {
  ChangePart(
      high, false, [&high](Piece* piece) { SetConstant(high, piece); }, pieces);
}

struct StepApplier {
  std::vector<Piece>* pieces;

  void operator()(const Multiply& step) const {
    MultiplyBy(Surd(step.factor), pieces);
  }
  void operator()(const Add& step) const { AddConstant(step.addend, pieces); }
  void operator()(const Divide& step) const {
    MultiplyBy(Surd(1 / step.divisor), pieces);
  }
  void operator()(const BatchNorm& step) const {
    const Rational variance = step.variance + step.epsilon;
    AddConstant(-step.mean, pieces);
    // gamma / sqrt(v) = (gamma / v) * sqrt(v).
    Surd factor = Surd::SquareRoot(variance);
    factor *= step.gamma / variance;
    MultiplyBy(factor, pieces);
    AddConstant(step.beta, pieces);
  }
  void operator()(const Relu&) const { ClampLow(Rational(0), pieces); }
  void operator()(const Clip& step) const {
    if (step.low) ClampLow(*step.low, pieces);
    if (step.high) ClampHigh(*step.high, pieces);
  }
  void operator()(const LeakyRelu& step) const {
    ChangePart(
        Rational(0), true,
        [&step](Piece* piece) {
          piece->slope *= step.slope;
          piece->offset *= step.slope;
        },
        pieces);
  }
  void operator()(const Reciprocal&) const {}  // excluded by FindFault
};

}  // namespace

std::vector<Piece> ComposePieces(std::int64_t acc_low, std::int64_t acc_high,
                                 std::span<const ChainStep> steps) {
  std::vector<Piece> pieces(1);
  pieces[0].low = acc_low;
  pieces[0].high = acc_high;
  pieces[0].slope = Surd(Rational(1));
  for (const ChainStep& step : steps) {
    std::visit(StepApplier{&pieces}, step);
  }
  return pieces;
}

std::vector<Piece> ScaledPieces(const ChannelProblem& problem) {
  std::vector<Piece> pieces =
      ComposePieces(problem.acc_low, problem.acc_high, problem.steps);
  MultiplyBy(Surd(1 / problem.quantization.scale), &pieces);
  return pieces;
}

const Piece* MainPiece(const std::vector<Piece>& pieces,
                       const StepFunction& ideal) {
  const Piece* best = nullptr;
  std::ptrdiff_t best_count = -1;
  const std::vector<std::int64_t>& thresholds = ideal.thresholds;
  for (const Piece& piece : pieces) {
    if (piece.slope.IsZero()) continue;
    const std::ptrdiff_t count =
        std::upper_bound(thresholds.begin(), thresholds.end(), piece.high) -
        std::lower_bound(thresholds.begin(), thresholds.end(), piece.low);
    if (count > best_count) {
      best = &piece;
      best_count = count;
    }
  }
  return best;
}

}  // namespace fold::exact
