// What a fake-quantization that is written out as elementary operators does to
// a real number, worked out in exact rationals.
#ifndef FOLD_COMPILER_ANNOTATE_WRITTEN_GRID_H_
#define FOLD_COMPILER_ANNOTATE_WRITTEN_GRID_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/encoding.h"

namespace fold {

// One operator on a real number.
struct WrittenStep {
  enum class Kind : uint8_t {
    kMultiply,  // by `numbers`
    kDivide,    // by `numbers`
    kAdd,       // `numbers`
    kSubtract,  // `numbers`
    kAtLeast,   // the larger of it and `numbers`
    kAtMost,    // the smaller of it and `numbers`
    kRound,     // half to even
    kFloor,
    kCeil,
    kToInteger,  // a Cast: towards zero, defined for results in [low, high]
    kNothing,
  };
  Kind kind = Kind::kNothing;
  std::vector<double> numbers;  // one, or one for each channel
  int64_t low = 0, high = 0;    // kToInteger
};

// The steps are x -> Dequantize(Quantize(x * factor)) with this encoding;
// `factors` has one number, or one for each channel, and is {1} where nothing
// is multiplied. The encoding's axis is not set: it is the channels'.
struct WrittenGrid {
  Encoding encoding;
  std::vector<double> factors;
  bool plain() const;  // all factors are 1
};

// The grid that the steps, in order, put every real number on; nullopt, with
// the reason in `*why`, where they are not a quantization, or one that neither
// an Encoding nor a double can say exactly. Rounding is monotone, so bounds
// before it are bounds of the codes behind it.
std::optional<WrittenGrid> GridOf(std::span<const WrittenStep> steps,
                                  std::string* why);

// What the steps make of `x` in channel `channel`, nearest double. Requires
// steps that GridOf accepts.
double ApplyWritten(std::span<const WrittenStep> steps, double x,
                    int64_t channel);

}  // namespace fold

#endif  // FOLD_COMPILER_ANNOTATE_WRITTEN_GRID_H_
