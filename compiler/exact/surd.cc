#include "compiler/exact/surd.h"

#include <cstddef>
#include <utility>

namespace fold::exact {
namespace {

// If value is the square of a rational, sets *root to the positive one.
bool RationalRoot(const Rational& value, Rational* root) {
  if (!mpz_perfect_square_p(value.get_num_mpz_t()) ||
      !mpz_perfect_square_p(value.get_den_mpz_t())) {
    return false;
  }
  // A square in lowest terms has squares above and below.
  *root = Rational(sqrt(value.get_num()), sqrt(value.get_den()));
  return true;
}

// floor(sqrt(square) * 2^bits), square >= 0.
Integer FloorRoot(const Rational& square, unsigned bits) {
  Integer scaled = square.get_num() << (2 * bits);
  mpz_fdiv_q(scaled.get_mpz_t(), scaled.get_mpz_t(), square.get_den_mpz_t());
  return sqrt(scaled);
}

Rational ScaledByPowerOfTwo(const Rational& value, unsigned bits) {
  Rational result;
  mpq_mul_2exp(result.get_mpq_t(), value.get_mpq_t(), bits);
  return result;
}

}  // namespace

Surd::Surd(const Rational& value) {
  if (sgn(value) != 0) terms_.push_back({value, Rational(1)});
}

Surd Surd::SquareRoot(const Rational& radicand) {
  Surd result;
  result.AddTerm(Rational(1), radicand);
  return result;
}

bool Surd::IsRational() const {
  return terms_.empty() || (terms_.size() == 1 && terms_[0].radicand == 1);
}

Rational Surd::RationalValue() const {
  return terms_.empty() ? Rational(0) : terms_[0].coefficient;
}

Surd Surd::Inverse() const {
  // 1 / (c sqrt(r)) = sqrt(r) / (c r).
  const Term& term = terms_.front();
  Surd result;
  result.terms_.push_back(
      {1 / Rational(term.coefficient * term.radicand), term.radicand});
  return result;
}

void Surd::AddTerm(const Rational& coefficient, const Rational& radicand) {
  if (sgn(coefficient) == 0) return;
  Rational root;
  if (RationalRoot(radicand, &root)) {
    const Rational value = coefficient * root;
    if (!terms_.empty() && terms_[0].radicand == 1) {
      terms_[0].coefficient += value;
      if (sgn(terms_[0].coefficient) == 0) terms_.erase(terms_.begin());
    } else {
      terms_.insert(terms_.begin(), {value, Rational(1)});
    }
    return;
  }
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    if (!RationalRoot(radicand / terms_[i].radicand, &root)) continue;
    terms_[i].coefficient += coefficient * root;
    if (sgn(terms_[i].coefficient) == 0) terms_.erase(terms_.begin() + i);
    return;
  }
  terms_.push_back({coefficient, radicand});
}

Surd& Surd::operator+=(const Surd& other) {
  if (this == &other) return *this *= Rational(2);
  for (const Term& term : other.terms_) {
    AddTerm(term.coefficient, term.radicand);
  }
  return *this;
}

Surd& Surd::operator-=(const Surd& other) {
  if (this == &other) {
    terms_.clear();
    return *this;
  }
  for (const Term& term : other.terms_) {
    AddTerm(-term.coefficient, term.radicand);
  }
  return *this;
}

Surd& Surd::operator*=(const Rational& factor) {
  if (sgn(factor) == 0) {
    terms_.clear();
    return *this;
  }
  // factor may be one of our coefficients.
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const Rational copy = factor;
  for (Term& term : terms_) term.coefficient *= copy;
  return *this;
}

Surd operator*(const Surd& left, const Surd& right) {
  Surd result;
  for (const Surd::Term& a : left.terms_) {
    for (const Surd::Term& b : right.terms_) {
      result.AddTerm(a.coefficient * b.coefficient, a.radicand * b.radicand);
    }
  }
  return result;
}

Integer Surd::LowerBound(unsigned bits, unsigned* width) const {
  Integer lower = 0;
  *width = 0;
  for (const Term& term : terms_) {
    if (term.radicand == 1) {
      const Rational scaled = ScaledByPowerOfTwo(term.coefficient, bits);
      lower += Floor(scaled);
      if (scaled.get_den() != 1) ++*width;
      continue;
    }
    const Integer root =
        FloorRoot(term.coefficient * term.coefficient * term.radicand, bits);
    if (sgn(term.coefficient) > 0) {
      lower += root;
    } else {
      lower -= root + 1;
    }
    ++*width;
  }
  return lower;
}

int Surd::Sign() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1) return sgn(terms_[0].coefficient);
  for (unsigned bits = 128;; bits *= 2) {
    unsigned width;
    const Integer lower = LowerBound(bits, &width);
    if (sgn(lower) > 0) return 1;
    if (sgn(Integer(lower + width)) < 0) return -1;
  }
}

Integer Surd::FloorScaled(unsigned fraction_bits, bool* exact) const {
  *exact = false;
  if (IsRational()) {
    const Rational scaled = ScaledByPowerOfTwo(RationalValue(), fraction_bits);
    *exact = scaled.get_den() == 1;
    return Floor(scaled);
  }
  // An irrational number is no integer, so the two ends agree at last.
  for (unsigned extra = 64;; extra *= 2) {
    unsigned width;
    const Integer lower = LowerBound(fraction_bits + extra, &width);
    const Integer upper = lower + width;
    Integer floor_of_lower = lower >> extra;
    if (floor_of_lower == Integer(upper >> extra)) return floor_of_lower;
  }
}

int Compare(const Surd& left, const Surd& right) {
  return (left - right).Sign();
}

double NearestDouble(const Surd& value, bool* exact) {
  if (value.IsRational()) {
    const Rational rational = value.RationalValue();
    const double nearest = NearestDouble(rational);
    *exact = nearest - nearest == 0 && FromDouble(nearest) == rational;
    return nearest;
  }
  *exact = false;
  // No irrational number is halfway between two doubles.
  for (unsigned bits = 128;; bits *= 2) {
    bool ignored;
    const Integer floor = value.FloorScaled(bits, &ignored);
    const Integer scale = Integer(1) << bits;
    Rational lower(floor, scale), upper(floor + 1, scale);
    lower.canonicalize();
    upper.canonicalize();
    const double nearest = NearestDouble(lower);
    if (nearest == NearestDouble(upper)) return nearest;
  }
}

}  // namespace fold::exact
