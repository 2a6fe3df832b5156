// Elementary functions in double that give the same bits on every machine:
// only additions, multiplications, divisions and bit moves, in a fixed order.
// Sources: argument reduction by ln 2 in two parts and Taylor polynomials
// (exp), the series of atanh (log), the Maclaurin series times exp(-x^2) and
// the continued fraction of erfc (erf); all textbook.
#ifndef RUNTIME_KERNELS_FLOAT64_FUNCTIONS_H_
#define RUNTIME_KERNELS_FLOAT64_FUNCTIONS_H_

namespace fold::kernels {

// Errors below 1 unit in the last place. Overflow gives infinity, NaN NaN.
double Exp(double x);
// Below 2 units. Negative gives NaN, 0 gives -infinity.
double Log(double x);
// exp(x) - 1 without cancellation near 0; below 4 units.
double ExpMinus1(double x);
// Below 6 units.
double Tanh(double x);
// Below 16 units.
double Erf(double x);
// 1 / (1 + exp(-x)), without overflow.
double Sigmoid(double x);
// x to the power y: by the root for y = 1/2, by multiplications for whole y of
// at most 64, else exp(y log x), whose relative error grows with |y log x|
// (below 1e-13 up to 100). A negative x with a y that is not whole gives NaN.
double Power(double x, double y);
// Nearest whole number, ties to even.
double RoundHalfEven(double x);

}  // namespace fold::kernels

#endif  // RUNTIME_KERNELS_FLOAT64_FUNCTIONS_H_
