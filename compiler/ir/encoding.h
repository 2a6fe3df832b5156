// A quantization: which real number each integer code of a tensor stands for.
#ifndef FOLD_COMPILER_IR_ENCODING_H_
#define FOLD_COMPILER_IR_ENCODING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/rounding.h"

namespace fold {

// real = (code - zero_point) * scale. With axis < 0 there is one scale and one
// zero point for the tensor; otherwise one of each per index along `axis`
// (block > 0: per run of `block` indices along it). Scales are the real numbers
// that the model's stored floats encode, so a double holds them exactly.
struct Encoding {
  std::vector<double> scales;
  std::vector<int64_t> zero_points;  // as many as scales
  int axis = -1;
  int64_t block = 0;
  // Codes that the value can take, where they are fewer than its storage type
  // has (quantize-clip-dequantize, narrow ranges).
  std::optional<int64_t> code_low, code_high;
  // How a real number becomes a code. Codes mean the same whatever it is.
  Rounding rounding = Rounding::kHalfEven;
  // Who said so, e.g. "QuantizeLinear 'q1'" or "encodings.json 'conv1'". Not
  // part of the quantization: equality ignores it.
  std::string source;

  bool per_tensor() const { return axis < 0; }
  double scale(int64_t channel) const {
    return scales[scales.size() == 1 ? 0 : channel];
  }
  int64_t zero_point(int64_t channel) const {
    return zero_points[zero_points.size() == 1 ? 0 : channel];
  }
};

// Equal scales, zero points, axis, block, code range and rounding. Scales are
// compared as numbers, never within a tolerance.
bool operator==(const Encoding& a, const Encoding& b);

// The encoding of the tensor after its axes have been permuted: new axis i is
// old axis perm[i].
Encoding PermuteEncoding(const Encoding& encoding,
                         const std::vector<int64_t>& perm);
// A per-axis encoding whose entries are all alike becomes per-tensor.
Encoding SimplifyEncoding(Encoding encoding);
// "s=0.5 z=-3 axis=1 codes=[0,15]": shortest digits that read back the same.
std::string FormatEncoding(const Encoding& encoding);

}  // namespace fold

#endif  // FOLD_COMPILER_IR_ENCODING_H_
