// Exact real numbers of the form a + b*sqrt(w), a, b, w rational: all that
// scales, biases and one BatchNormalization can make. Order and floor are
// decided exactly, square roots by squaring. A result outside the form (two
// unrelated roots) is `undecidable` and stays so through every operation.
#ifndef COMPILER_CHECK_NUMBER_H_
#define COMPILER_CHECK_NUMBER_H_

#include <gmpxx.h>

#include <cstdint>
#include <string>

namespace fold::check {

// Any int64 as an mpz.
mpz_class Integer(int64_t value);

class Number {
 public:
  Number() = default;
  Number(int64_t value);  // NOLINT: integers are numbers
  explicit Number(mpq_class value) : a_(std::move(value)) {}

  // The real number that a double encodes; undecidable if it is not finite.
  static Number FromDouble(double value);
  // Undecidable unless `x` is rational and not negative.
  static Number SquareRoot(const Number& x);
  static Number Undecidable();

  bool decidable() const { return decidable_; }
  bool rational() const { return decidable_ && b_ == 0; }
  bool integer() const { return rational() && a_.get_den() == 1; }
  const mpq_class& rational_part() const { return a_; }
  // Requires integer() and that it fits.
  int64_t ToInt64() const { return a_.get_num().get_si(); }
  bool FitsInt64() const { return integer() && a_.get_num().fits_slong_p(); }

  // Requires decidable().
  int Sign() const;
  mpz_class Floor() const;
  mpz_class Ceil() const { return -(-*this).Floor(); }
  // Nearest integer, ties to even.
  mpz_class RoundHalfEven() const;
  // True if `value` is a double next to this number: no double is nearer.
  bool NearestDoubleIs(double value) const;
  // For messages only.
  double Approximate() const;

  Number operator-() const;
  friend Number operator+(const Number& x, const Number& y);
  friend Number operator-(const Number& x, const Number& y);
  friend Number operator*(const Number& x, const Number& y);
  // Undecidable for division by zero.
  friend Number operator/(const Number& x, const Number& y);
  friend bool operator==(const Number& x, const Number& y);
  // Requires both decidable; undecidable differences count as unordered:
  // see Compare.
  friend bool operator<(const Number& x, const Number& y) {
    return (x - y).Sign() < 0;
  }
  friend bool operator<=(const Number& x, const Number& y) {
    return (x - y).Sign() <= 0;
  }

 private:
  // `y` with its root written as a multiple of this number's, or undecidable.
  Number WithRootOf(const Number& x) const;

  mpq_class a_ = 0;
  mpq_class b_ = 0;
  mpq_class w_ = 0;  // 0 if and only if b_ is 0
  bool decidable_ = true;
};

}  // namespace fold::check

#endif  // COMPILER_CHECK_NUMBER_H_
