// Exact sums of square roots, c1 * sqrt(r1) + c2 * sqrt(r2) + …, with rational
// c and r. A BatchNorm divides by a root that is seldom rational, and a proof
// needs to know on which side of a half code the result lies.
//
// Roots whose radicands differ by a rational square are kept as one term.
// Roots of different square classes are linearly independent over the
// rationals, so a sum is zero if and only if it has no term, and otherwise
// intervals of growing precision find its sign.
#ifndef FOLD_COMPILER_EXACT_SURD_H_
#define FOLD_COMPILER_EXACT_SURD_H_

#include <vector>

#include "compiler/exact/rational.h"

namespace fold::exact {

class Surd {
 public:
  struct Term {
    Rational coefficient;  // never 0
    Rational radicand;     // > 0; 1 for the rational term, which comes first
  };

  Surd() = default;
  explicit Surd(const Rational& value);

  // sqrt(radicand). Requires radicand > 0.
  static Surd SquareRoot(const Rational& radicand);

  bool IsZero() const { return terms_.empty(); }
  bool IsRational() const;
  Rational RationalValue() const;  // requires IsRational()

  // Requires a single term (a product of rationals and roots has one).
  Surd Inverse() const;

  Surd& operator+=(const Surd& other);
  Surd& operator-=(const Surd& other);
  Surd& operator*=(const Rational& factor);
  friend Surd operator*(const Surd& left, const Surd& right);

  int Sign() const;

  // floor(this * 2^fraction_bits), fraction_bits >= 0; *exact tells whether
  // that loses nothing.
  Integer FloorScaled(unsigned fraction_bits, bool* exact) const;
  Integer FloorInteger(bool* exact) const { return FloorScaled(0, exact); }

  const std::vector<Term>& terms() const { return terms_; }

 private:
  void AddTerm(const Rational& coefficient, const Rational& radicand);
  // lower <= this * 2^bits <= lower + width, for the result lower.
  Integer LowerBound(unsigned bits, unsigned* width) const;

  std::vector<Term> terms_;
};

Surd operator*(const Surd& left, const Surd& right);
inline Surd operator+(Surd left, const Surd& right) { return left += right; }
inline Surd operator-(Surd left, const Surd& right) { return left -= right; }

// The sign of left - right.
int Compare(const Surd& left, const Surd& right);

// The double nearest to value; *exact tells whether it is value.
double NearestDouble(const Surd& value, bool* exact);

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_SURD_H_
