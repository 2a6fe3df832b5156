#include "compiler/exact/exact_value.h"

#include <utility>
#include <variant>

namespace fold::exact {
namespace {

// Keeps rational values as a single fraction over one.
void Normalize(ExactValue* value) {
  if (value->kind != ValueKind::kFinite) return;
  if (!value->denominator.IsRational()) return;
  const Rational denominator = value->denominator.RationalValue();
  if (denominator == 1) return;
  value->numerator *= 1 / denominator;
  value->denominator = Surd(Rational(1));
}

ExactValue Infinity(int sign) {
  ExactValue value;
  value.kind = sign > 0   ? ValueKind::kPositiveInfinity
               : sign < 0 ? ValueKind::kNegativeInfinity
                          : ValueKind::kNan;
  return value;
}

int Sign(const ExactValue& value) {
  switch (value.kind) {
    case ValueKind::kPositiveInfinity:
      return 1;
    case ValueKind::kNegativeInfinity:
      return -1;
    case ValueKind::kNan:
      return 0;
    case ValueKind::kFinite:
      break;
  }
  return value.numerator.Sign() * value.denominator.Sign();
}

void MultiplyBy(const Surd& factor, ExactValue* value) {
  if (value->kind == ValueKind::kFinite) {
    value->numerator = value->numerator * factor;
  } else {
    *value = Infinity(Sign(*value) * factor.Sign());  // inf * 0 is NaN
  }
}

void AddConstant(const Rational& addend, ExactValue* value) {
  if (value->kind != ValueKind::kFinite) return;
  Surd scaled = value->denominator;
  scaled *= addend;
  value->numerator += scaled;
}

void SetConstant(const Rational& constant, ExactValue* value) {
  *value = ExactValue{ValueKind::kFinite, Surd(constant), Surd(Rational(1))};
}

struct StepApplier {
  ExactValue* value;

  bool IsNan() const { return value->kind == ValueKind::kNan; }

  void operator()(const Multiply& step) const {
    MultiplyBy(Surd(step.factor), value);
  }
  void operator()(const Add& step) const { AddConstant(step.addend, value); }
  void operator()(const Divide& step) const {
    if (sgn(step.divisor) != 0) {
      MultiplyBy(Surd(1 / step.divisor), value);
    } else {
      *value = Infinity(Sign(*value));  // 0 / 0 is NaN
    }
  }
  void operator()(const BatchNorm& step) const {
    const Rational variance = step.variance + step.epsilon;
    Surd factor = Surd::SquareRoot(variance);
    factor *= step.gamma / variance;
    AddConstant(-step.mean, value);
    MultiplyBy(factor, value);
    AddConstant(step.beta, value);
  }
  void operator()(const Relu&) const {
    if (!IsNan() && Sign(*value) < 0) SetConstant(Rational(0), value);
  }
  void operator()(const Clip& step) const {
    if (IsNan()) return;
    if (step.low && CompareWith(*value, *step.low) < 0) {
      SetConstant(*step.low, value);
    }
    if (step.high && CompareWith(*value, *step.high) > 0) {
      SetConstant(*step.high, value);
    }
  }
  void operator()(const LeakyRelu& step) const {
    if (Sign(*value) < 0) MultiplyBy(Surd(step.slope), value);
  }
  void operator()(const Reciprocal& step) const {
    if (IsNan()) return;
    if (value->kind != ValueKind::kFinite) {
      SetConstant(Rational(0), value);
    } else if (value->numerator.IsZero()) {
      *value = Infinity(sgn(step.numerator));
    } else {
      std::swap(value->numerator, value->denominator);
      value->numerator *= step.numerator;
    }
  }
};

}  // namespace

ExactValue ApplySteps(const Rational& start, std::span<const ChainStep> steps) {
  ExactValue value;
  value.numerator = Surd(start);
  for (const ChainStep& step : steps) {
    std::visit(StepApplier{&value}, step);
    Normalize(&value);
  }
  return value;
}

int CompareWith(const ExactValue& value, const Rational& bound) {
  if (value.kind != ValueKind::kFinite) return Sign(value);
  Surd scaled = value.denominator;
  scaled *= bound;
  return Compare(value.numerator, scaled) * value.denominator.Sign();
}

}  // namespace fold::exact
