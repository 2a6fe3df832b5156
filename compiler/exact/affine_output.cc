#include "compiler/exact/affine_output.h"

#include <cmath>
#include <variant>
#include <vector>

#include "compiler/exact/piecewise.h"
#include "compiler/exact/surd.h"

namespace fold::exact {
namespace {

bool IsAffine(const ChainStep& step) {
  if (const auto* divide = std::get_if<Divide>(&step)) {
    return sgn(divide->divisor) != 0;
  }
  if (const auto* norm = std::get_if<BatchNorm>(&step)) {
    return norm->variance + norm->epsilon > 0;
  }
  return std::holds_alternative<Multiply>(step) ||
         std::holds_alternative<Add>(step);
}

}  // namespace

std::optional<AffineOutput> AffineOutputOf(std::span<const ChainStep> steps) {
  for (const ChainStep& step : steps) {
    if (!IsAffine(step)) return std::nullopt;
  }
  const std::vector<Piece> pieces = ComposePieces(0, 0, steps);
  AffineOutput output;
  output.scale = NearestDouble(pieces[0].slope, &output.scale_exact);
  output.offset = NearestDouble(pieces[0].offset, &output.offset_exact);
  if (!std::isfinite(output.scale) || !std::isfinite(output.offset)) {
    return std::nullopt;
  }
  return output;
}

}  // namespace fold::exact
