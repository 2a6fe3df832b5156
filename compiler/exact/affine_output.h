// An output without a QuantizeLinear: an exact integer with a scale and an
// offset, converted once at the boundary.
#ifndef FOLD_COMPILER_EXACT_AFFINE_OUTPUT_H_
#define FOLD_COMPILER_EXACT_AFFINE_OUTPUT_H_

#include <optional>
#include <span>

#include "compiler/exact/chain.h"

namespace fold::exact {

// real = acc * scale + offset.
struct AffineOutput {
  double scale = 1;   // nearest double, ties to even
  double offset = 0;  // nearest double, ties to even
  bool scale_exact = true;
  bool offset_exact = true;
};

// Empty where the chain has a step that is not affine (Relu, Clip, LeakyRelu,
// Reciprocal), divides by zero, or a constant overflows a double.
std::optional<AffineOutput> AffineOutputOf(std::span<const ChainStep> steps);

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_AFFINE_OUTPUT_H_
