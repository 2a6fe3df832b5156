#include "compiler/check/number.h"

#include <cmath>

namespace fold::check {
namespace {

// The square root of a rational that is a square, or false.
bool PerfectRoot(const mpq_class& x, mpq_class* root) {
  if (sgn(x) < 0 || !mpz_perfect_square_p(x.get_num_mpz_t()) ||
      !mpz_perfect_square_p(x.get_den_mpz_t())) {
    return false;
  }
  *root = mpq_class(sqrt(x.get_num()), sqrt(x.get_den()));
  return true;
}

mpz_class FloorOf(const mpz_class& numerator, const mpz_class& denominator) {
  mpz_class quotient;
  mpz_fdiv_q(quotient.get_mpz_t(), numerator.get_mpz_t(),
             denominator.get_mpz_t());
  return quotient;
}

}  // namespace

mpz_class Integer(int64_t value) {
  static_assert(sizeof(long) == sizeof(int64_t));
  return mpz_class(static_cast<long>(value));
}

Number::Number(int64_t value) : a_(Integer(value)) {}

Number Number::Undecidable() {
  Number result;
  result.decidable_ = false;
  return result;
}

Number Number::FromDouble(double value) {
  if (!std::isfinite(value)) return Undecidable();
  return Number(mpq_class(value));
}

Number Number::SquareRoot(const Number& x) {
  if (!x.rational() || x.Sign() < 0) return Undecidable();
  Number result;
  if (PerfectRoot(x.a_, &result.a_)) return result;
  result.a_ = 0;
  result.b_ = 1;
  result.w_ = x.a_;
  return result;
}

int Number::Sign() const {
  const int a = sgn(a_);
  const int b = sgn(b_);
  if (b == 0) return a;
  if (a == 0 || a == b) return b;
  const int larger = cmp(mpq_class(a_ * a_), mpq_class(b_ * b_ * w_));
  return larger > 0 ? a : larger < 0 ? b : 0;
}

mpz_class Number::Floor() const {
  if (b_ == 0) return FloorOf(a_.get_num(), a_.get_den());
  // a + s*sqrt(P/Q) = (an*Q + s*sqrt(ad^2*P*Q)) / (ad*Q); the root may be
  // rounded down (s = 1) or up (s = -1) to an integer without changing the
  // floor of the quotient.
  const mpq_class square = b_ * b_ * w_;
  const mpz_class& p = square.get_num();
  const mpz_class& q = square.get_den();
  const mpz_class under = a_.get_den() * a_.get_den() * p * q;
  mpz_class root = sqrt(under);
  if (sgn(b_) < 0) {
    if (root * root != under) root += 1;
    root = -root;
  }
  return FloorOf(a_.get_num() * q + root, a_.get_den() * q);
}

mpz_class Number::RoundHalfEven() const {
  const Number half(mpq_class(1, 2));
  const Number shifted = *this + half;
  mpz_class result = shifted.Floor();
  if (shifted.integer() && mpz_odd_p(result.get_mpz_t())) result -= 1;
  return result;
}

bool Number::NearestDoubleIs(double value) const {
  if (!std::isfinite(value)) return false;
  const Number off = *this - FromDouble(value);
  if (!off.decidable()) return false;
  const int side = off.Sign();
  if (side == 0) return true;
  const double next = std::nextafter(value, side > 0 ? HUGE_VAL : -HUGE_VAL);
  if (!std::isfinite(next)) return false;
  const Number other = *this - FromDouble(next);
  const Number distance = side > 0 ? off : -off;
  const Number to_next = other.Sign() < 0 ? -other : other;
  return distance <= to_next;
}

double Number::Approximate() const {
  if (!decidable_) return std::nan("");
  return a_.get_d() + b_.get_d() * std::sqrt(w_.get_d());
}

Number Number::operator-() const {
  Number result = *this;
  result.a_ = -result.a_;
  result.b_ = -result.b_;
  return result;
}

Number Number::WithRootOf(const Number& x) const {
  if (b_ == 0 || x.b_ == 0 || w_ == x.w_) return *this;
  mpq_class ratio;
  if (!PerfectRoot(mpq_class(w_ / x.w_), &ratio)) return Undecidable();
  Number result = *this;
  result.b_ *= ratio;
  result.w_ = x.w_;
  return result;
}

Number operator+(const Number& x, const Number& y) {
  if (x.rational() && y.rational()) return Number(mpq_class(x.a_ + y.a_));
  const Number z = y.WithRootOf(x);
  if (!x.decidable_ || !z.decidable_) return Number::Undecidable();
  Number result;
  result.a_ = x.a_ + z.a_;
  result.b_ = x.b_ + z.b_;
  if (result.b_ != 0) result.w_ = x.b_ != 0 ? x.w_ : z.w_;
  return result;
}

Number operator-(const Number& x, const Number& y) {
  if (x.rational() && y.rational()) return Number(mpq_class(x.a_ - y.a_));
  return x + -y;
}

Number operator*(const Number& x, const Number& y) {
  if (x.rational() && y.rational()) return Number(mpq_class(x.a_ * y.a_));
  const Number z = y.WithRootOf(x);
  if (!x.decidable_ || !z.decidable_) return Number::Undecidable();
  const mpq_class w = x.b_ != 0 ? x.w_ : z.w_;
  Number result;
  result.a_ = x.a_ * z.a_ + x.b_ * z.b_ * w;
  result.b_ = x.a_ * z.b_ + x.b_ * z.a_;
  if (result.b_ != 0) result.w_ = w;
  return result;
}

Number operator/(const Number& x, const Number& y) {
  if (!x.decidable_ || !y.decidable_ || y.Sign() == 0) {
    return Number::Undecidable();
  }
  if (x.rational() && y.rational()) return Number(mpq_class(x.a_ / y.a_));
  // 1 / (a + b*r) = (a - b*r) / (a^2 - b^2 w); the norm is not 0 because w is
  // not a square.
  const mpq_class norm = y.a_ * y.a_ - y.b_ * y.b_ * y.w_;
  Number inverse = y;
  inverse.a_ = y.a_ / norm;
  inverse.b_ = -y.b_ / norm;
  return x * inverse;
}

bool operator==(const Number& x, const Number& y) {
  const Number difference = x - y;
  return difference.decidable_ && difference.Sign() == 0;
}

}  // namespace fold::check
