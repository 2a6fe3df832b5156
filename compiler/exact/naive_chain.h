// For tests only: the meaning of a chain written down a second time, slowly
// and without this folder's roots, pieces or rounding. A rational chain is
// evaluated in rationals; one with an irrational root in 2,000-bit floats,
// which is far more than the distance to a tie of any case in the tests.
#ifndef FOLD_COMPILER_EXACT_NAIVE_CHAIN_H_
#define FOLD_COMPILER_EXACT_NAIVE_CHAIN_H_

#include <gmpxx.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "compiler/exact/chain.h"
#include "compiler/exact/two_input.h"

namespace fold::exact {

template <typename Number>
Number NaiveRoot(const Rational& square) {
  if constexpr (std::is_same_v<Number, Rational>) {
    // Only called on squares of rationals.
    return Rational(sqrt(square.get_num()), sqrt(square.get_den()));
  } else {
    return sqrt(Number(square, 2000));
  }
}

template <typename Number>
Number NaiveReal(std::int64_t acc, std::span<const ChainStep> steps) {
  const auto number = [](const Rational& value) {
    if constexpr (std::is_same_v<Number, Rational>) {
      return value;
    } else {
      return Number(value, 2000);
    }
  };
  Number x = number(FromInt64(acc));
  for (const ChainStep& step : steps) {
    if (const auto* m = std::get_if<Multiply>(&step)) {
      x = x * number(m->factor);
    } else if (const auto* a = std::get_if<Add>(&step)) {
      x = x + number(a->addend);
    } else if (const auto* d = std::get_if<Divide>(&step)) {
      x = x / number(d->divisor);
    } else if (const auto* n = std::get_if<BatchNorm>(&step)) {
      x = (x - number(n->mean)) * number(n->gamma) /
              NaiveRoot<Number>(n->variance + n->epsilon) +
          number(n->beta);
    } else if (std::holds_alternative<Relu>(step)) {
      if (x < 0) x = 0;
    } else if (const auto* c = std::get_if<Clip>(&step)) {
      if (c->low && x < number(*c->low)) x = number(*c->low);
      if (c->high && x > number(*c->high)) x = number(*c->high);
    } else if (const auto* l = std::get_if<LeakyRelu>(&step)) {
      if (x < 0) x = x * number(l->slope);
    }
  }
  return x;
}

// Whether a quotient goes up from its floor: `half` compares what is above the
// floor with one half, `whole` says that there is nothing above it.
inline bool NaiveRoundsUp(Rounding rounding, int half, bool whole, bool odd,
                          bool negative) {
  switch (rounding) {
    case Rounding::kHalfEven:
      return half > 0 || (half == 0 && odd);
    case Rounding::kHalfOdd:
      return half > 0 || (half == 0 && !odd);
    case Rounding::kHalfFromZero:
      return half > 0 || (half == 0 && !negative);
    case Rounding::kHalfToZero:
      return half > 0 || (half == 0 && negative);
    case Rounding::kHalfUp:
      return half >= 0;
    case Rounding::kFloor:
      return false;
    case Rounding::kCeil:
      return !whole;
    case Rounding::kFromZero:
      return !whole && !negative;
    case Rounding::kToZero:
      return !whole && negative;
    case Rounding::kSign:
    case Rounding::kHalfEvenCode:
      return false;
  }
  return false;
}

template <typename Number>
std::int64_t NaiveQuantize(const Number& real, const Quantization& q) {
  Number scaled;
  mpz_class floor_of_scaled;
  if constexpr (std::is_same_v<Number, Rational>) {
    scaled = real / q.scale;
    mpz_fdiv_q(floor_of_scaled.get_mpz_t(), scaled.get_num_mpz_t(),
               scaled.get_den_mpz_t());
  } else {
    scaled = Number(real / Number(q.scale, 2000), 2000);
    floor_of_scaled = mpz_class(floor(scaled));
  }
  const Number twice_rest = 2 * (scaled - Number(floor_of_scaled));
  const bool odd = mpz_odd_p(floor_of_scaled.get_mpz_t()) != 0;
  if (NaiveRoundsUp(q.rounding, cmp(twice_rest, Number(1)),
                    sgn(twice_rest) == 0, odd, sgn(scaled) < 0)) {
    ++floor_of_scaled;
  }
  mpz_class code = floor_of_scaled + static_cast<long>(q.zero_point);
  if (q.rounding == Rounding::kSign) code = sgn(scaled) < 0 ? -1 : 1;
  const auto at_least = [&code](std::int64_t low) {
    if (code < static_cast<long>(low)) code = static_cast<long>(low);
  };
  const auto at_most = [&code](std::int64_t high) {
    if (code > static_cast<long>(high)) code = static_cast<long>(high);
  };
  at_least(q.code_low);
  at_most(q.code_high);
  if (q.clamp_low) at_least(*q.clamp_low);
  if (q.clamp_high) at_most(*q.clamp_high);
  return code.get_si();
}

template <typename Number = Rational>
std::int64_t NaiveCode(std::int64_t acc, std::span<const ChainStep> steps,
                       const Quantization& q) {
  return NaiveQuantize<Number>(NaiveReal<Number>(acc, steps), q);
}

// The code of the pair (a, b).
inline std::int64_t NaivePair(const TwoInputProblem& p, std::int64_t a,
                              std::int64_t b) {
  const Rational left = FromInt64(a - p.a.zero_point) * p.a.scale;
  const Rational right = FromInt64(b - p.b.zero_point) * p.b.scale;
  Rational sum = left;
  if (p.subtract) {
    sum -= right;
  } else {
    sum += right;
  }
  std::vector<ChainStep> steps = {Add{sum}};
  steps.insert(steps.end(), p.steps.begin(), p.steps.end());
  return NaiveCode(0, steps, p.quantization);
}

// A float32 drawn evenly from [low, high).
inline Rational RandomFloat(std::mt19937_64* random, double low, double high) {
  const double unit = static_cast<double>((*random)() >> 11) * 0x1p-53;
  return FromDouble(static_cast<float>(low + (high - low) * unit));
}

inline std::int64_t RandomInt(std::mt19937_64* random, std::int64_t low,
                              std::int64_t high) {
  return low + static_cast<std::int64_t>(
                   (*random)() % static_cast<std::uint64_t>(high - low + 1));
}

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_NAIVE_CHAIN_H_
