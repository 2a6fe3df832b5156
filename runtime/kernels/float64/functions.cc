#include "runtime/kernels/float64/functions.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace fold::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// ln 2 = kLn2High + kLn2Low; the high part has 33 bits, so that its product
// with an exponent is exact.
constexpr double kLn2High = 0x1.62e42fef00000p-1;
constexpr double kLn2Low = 0x1.473de6af278edp-34;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
constexpr double kTwoOverRootPi = 0x1.20dd750429b6dp+0;

// 2^k for -1022 <= k <= 1023.
double PowerOfTwo(int64_t k) {
  const uint64_t bits = static_cast<uint64_t>(k + 1023) << 52;
  double y;
  std::memcpy(&y, &bits, sizeof(y));
  return y;
}

// (exp(r) - 1 - r) for |r| <= 0.35: r^2/2! + … + r^14/14!.
double ExpTail(double r) {
  double p = 1.0 / 87178291200.0;
  p = p * r + 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  return p * r * r;
}

// erfc for x >= 2.5 by its continued fraction, from the inside out.
double ErfcTail(double x) {
  double fraction = x;
  for (int k = 100; k > 0; --k) fraction = x + 0.5 * k / fraction;
  return Exp(-x * x) * (0.5 * kTwoOverRootPi) / fraction;
}

}  // namespace

double RoundHalfEven(double x) {
  constexpr double kTwo52 = 4503599627370496.0;
  if (!(x > -kTwo52 && x < kTwo52)) return x;
  if (x < 0) return -((-x + kTwo52) - kTwo52);
  return (x + kTwo52) - kTwo52;
}

double Exp(double x) {
  if (x != x) return x;
  if (x > 709.8) return kInfinity;
  if (x < -745.2) return 0.0;
  const double k = RoundHalfEven(x * kInverseLn2);
  const double high = x - k * kLn2High;
  const double low = k * kLn2Low;
  const double r = high - low;
  const double lost = (high - r) - low;
  const double y = 1.0 + (r + (ExpTail(r) + lost));
  const int64_t exponent = static_cast<int64_t>(k);
  const int64_t first = exponent / 2;
  return y * PowerOfTwo(first) * PowerOfTwo(exponent - first);
}

double ExpMinus1(double x) {
  if (x > -0.3 && x < 0.3) return x + ExpTail(x);
  return Exp(x) - 1.0;
}

double Log(double x) {
  if (x != x || x == kInfinity) return x;
  if (x < 0) return kNaN;
  if (x == 0) return -kInfinity;
  int64_t exponent = 0;
  if (x < 2.2250738585072014e-308) {
    x *= 18014398509481984.0;  // 2^54
    exponent = -54;
  }
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  exponent += static_cast<int64_t>(bits >> 52) - 1023;
  bits = (bits & 0xfffffffffffffu) | (uint64_t{1023} << 52);
  double m;
  std::memcpy(&m, &bits, sizeof(m));
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  // log(m) = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172.
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double series = 1.0 / 25.0;
  for (int n = 23; n >= 3; n -= 2) series = series * z + 1.0 / n;
  const double k = static_cast<double>(exponent);
  return k * kLn2High + (2.0 * s + (2.0 * s * z * series + k * kLn2Low));
}

double Tanh(double x) {
  if (x != x) return x;
  const double a = x < 0 ? -x : x;
  if (a > 22.0) return x < 0 ? -1.0 : 1.0;
  const double t = ExpMinus1(-2.0 * a);
  const double y = -t / (2.0 + t);
  return x < 0 ? -y : y;
}

double Erf(double x) {
  if (x != x) return x;
  const double a = x < 0 ? -x : x;
  double y = 1.0;
  if (a < 2.5) {
    // erf a = 2/sqrt(pi) exp(-a^2) sum of 2^n a^(2n+1) / (2n+1)!!
    double term = a;
    double sum = a;
    for (int n = 1; n < 100; ++n) {
      term = term * (2.0 * a * a) / (2 * n + 1);
      sum += term;
    }
    y = kTwoOverRootPi * Exp(-a * a) * sum;
  } else if (a < 6.0) {
    y = 1.0 - ErfcTail(a);
  }
  return x < 0 ? -y : y;
}

double Power(double x, double y) {
  constexpr double kMostProducts = 64;
  if (y == 0.5) return std::sqrt(x);
  const bool whole = y == std::floor(y);
  if (whole && std::fabs(y) <= kMostProducts) {
    double product = 1.0;
    for (int i = static_cast<int>(std::fabs(y)); i > 0; --i) product *= x;
    return y < 0 ? 1.0 / product : product;
  }
  if (x >= 0) return Exp(y * Log(x));
  if (!whole) return std::numeric_limits<double>::quiet_NaN();
  const double magnitude = Exp(y * Log(-x));
  return std::fmod(y, 2.0) != 0 ? -magnitude : magnitude;
}

double Sigmoid(double x) {
  if (x >= 0) return 1.0 / (1.0 + Exp(-x));
  const double e = Exp(x);
  return e / (1.0 + e);
}

}  // namespace fold::kernels
