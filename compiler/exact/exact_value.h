// The exact value of a chain at one point, with the infinities and the
// not-a-number that a division by zero makes.
#ifndef FOLD_COMPILER_EXACT_EXACT_VALUE_H_
#define FOLD_COMPILER_EXACT_EXACT_VALUE_H_

#include <cstdint>
#include <span>

#include "compiler/exact/chain.h"
#include "compiler/exact/surd.h"
#include "compiler/exact/table_entry.h"

namespace fold::exact {

// numerator / denominator, denominator not zero; meaningful if kind is
// kFinite. Two sums, because a sum of roots has no simple inverse.
struct ExactValue {
  ValueKind kind = ValueKind::kFinite;
  Surd numerator;
  Surd denominator = Surd(Rational(1));
};

// start after steps. Zero has no sign.
ExactValue ApplySteps(const Rational& start, std::span<const ChainStep> steps);

// The sign of value - bound: -1, 0, 1. Requires a kind other than kNan.
int CompareWith(const ExactValue& value, const Rational& bound);

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_EXACT_VALUE_H_
