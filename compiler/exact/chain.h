// What happens between an integer and the next QuantizeLinear, as plain data.
//
// A linear op, a pool, a product or a requantization yields per output channel
// a whole number (the accumulator); a chain of real steps turns it into a real
// number; a Quantization turns that into a code. Steps are arithmetic on real
// numbers: nothing here rounds before the one rounding of the Quantization.
#ifndef FOLD_COMPILER_EXACT_CHAIN_H_
#define FOLD_COMPILER_EXACT_CHAIN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/base/rounding.h"
#include "compiler/exact/rational.h"

namespace fold::exact {

// x * factor. A typical first step: scale of the input times scale of the
// weight. Zero and negative factors are fine.
struct Multiply {
  Rational factor;
};

// x + addend. A float bias as it stands, an int32 bias times its own scale.
struct Add {
  Rational addend;
};

// x / divisor. Requires divisor != 0 in an accumulator's chain; in a table's
// chain x / 0 is an infinity, 0 / 0 is not a number.
struct Divide {
  Rational divisor;
};

// (x - mean) * gamma / sqrt(variance + epsilon) + beta.
// Requires variance + epsilon > 0. The root may be irrational.
struct BatchNorm {
  Rational gamma, beta, mean, variance, epsilon;
};

// max(x, 0).
struct Relu {};

// min(max(x, low), high), each bound optional; as in ONNX, high wins where
// low > high.
struct Clip {
  std::optional<Rational> low, high;
};

// x < 0 ? x * slope : x; PRelu for one channel. Requires slope >= 0 in an
// accumulator's chain, any slope in a table's.
struct LeakyRelu {
  Rational slope;
};

// numerator / x. Only in a table's chain. x = 0 gives the infinity of
// numerator's sign, 0 / 0 is not a number.
struct Reciprocal {
  Rational numerator;
};

using ChainStep = std::variant<Multiply, Add, Divide, BatchNorm, Relu, Clip,
                               LeakyRelu, Reciprocal>;

// code = clamp(saturate(round(real / scale) + zero_point)), where round is
// `rounding`, saturate limits to [code_low, code_high] (the storage type) and
// clamp to [clamp_low, clamp_high] (a Clip on codes after the QuantizeLinear).
// kSign wants a zero point of 0 and an effective range within [-1, 1].
struct Quantization {
  Rational scale = 1;  // not 0; a negative one reverses the order of the codes
  std::int64_t zero_point = 0;
  std::int64_t code_low = -128;
  std::int64_t code_high = 127;
  std::optional<std::int64_t> clamp_low, clamp_high;
  Rounding rounding = Rounding::kHalfEven;
};

// The lowest and the highest code that saturation and clamp leave.
struct CodeRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
CodeRange EffectiveRange(const Quantization& quantization);

// One output channel: every integer of [acc_low, acc_high] counts as
// reachable. Limits: |acc| <= 2^62, |zero_point| <= 2^32, at most 65,536 codes
// in the effective range and none beyond ±2^24.
struct ChannelProblem {
  std::int64_t acc_low = 0;
  std::int64_t acc_high = 0;
  std::vector<ChainStep> steps;
  Quantization quantization;
};

// Why a problem is outside of the limits and requirements above, or nothing.
// Every other function of this folder that takes a problem requires nothing.
std::optional<std::string> FindFault(const ChannelProblem& problem);
std::optional<std::string> FindFault(const Quantization& quantization);

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_CHAIN_H_
