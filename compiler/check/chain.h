// A monotone function from one number to another as a list of steps, with
// constants that may differ by class (channel, window size ...): what lies
// between an accumulator and a code in the ONNX file. Half-lines of results
// are pulled back through it exactly, which gives its thresholds.
#ifndef COMPILER_CHECK_CHAIN_H_
#define COMPILER_CHECK_CHAIN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/check/number.h"
#include "compiler/check/rounding.h"

namespace fold::check {

// Closed interval; an absent end is infinite.
struct Interval {
  std::optional<Number> low;
  std::optional<Number> high;
};

Interval Whole(int64_t low, int64_t high);
Interval Union(const Interval& x, const Interval& y);

struct Step {
  enum class Kind {
    kAffine,  // scale * x + offset
    kClamp,   // into [low, high]
    kRound,   // to an integer, as `rounding` says
    kOver,    // scale / x, see Over
  };
  Kind kind = Kind::kRound;
  // One element (all classes) or one a class.
  std::vector<Number> scale;
  std::vector<Number> offset;
  Interval clamp;
  Rounding rounding = Rounding::kHalfEven;
};

using Chain = std::vector<Step>;

Step Affine(std::vector<Number> scale, std::vector<Number> offset);
Step Affine(Number scale, Number offset);
Step Clamp(Interval interval);
Step Round(Rounding rounding = Rounding::kHalfEven);
// numerator / x. x = 0 gives an infinity by the numerator's sign: a number
// beyond all codes; 0 / 0, which is not a number, becomes the zero point.
// Not monotone: only Steps takes a chain with it, point by point.
Step Over(std::vector<Number> numerator);

// The step with scalar constants of class `index`, as Reduce returns them.
// Merges affine steps, drops what changes nothing on `domain`.
// `integers`: the argument is an integer, so a rounding of it is nothing.
Chain Reduce(const Chain& chain, size_t index, const Interval& domain,
             bool integers);

// The next three take a chain as Reduce returns it.
Number Evaluate(const Chain& reduced, const Number& x);
Interval Image(const Chain& reduced, const Interval& domain);
// Empty if every step is affine with a fixed result (Over by what is not
// irrational), else a reason why the chain cannot be decided here.
std::optional<std::string> Undecidable(const Chain& reduced);

// {x : x > bound}, >= ; {x : x < bound}, <=; everything; nothing.
struct HalfLine {
  enum class Kind { kNone, kAll, kAbove, kBelow };
  Kind kind = Kind::kNone;
  bool strict = false;
  Number bound;

  bool Contains(const Number& x) const;
  friend bool operator==(const HalfLine& x, const HalfLine& y);
};

// {x : reduced(x) in `results`}.
HalfLine PullBack(const Chain& reduced, HalfLine results);

// From `start` on (up to the next piece) the code is `code`.
struct Piece {
  int64_t start;
  int64_t code;
};

// A step function over the integers first..last.
struct StepFunction {
  int64_t first = 0;
  int64_t last = 0;
  std::vector<Piece> pieces;  // ascending; pieces[0].start == first
};

// The chain over the integers first..last as a step function; a reason if it
// cannot be had: undecidable, not integer, or more than 2^20 codes.
std::optional<std::string> Steps(const Chain& reduced, int64_t first,
                                 int64_t last, StepFunction* function);

}  // namespace fold::check

#endif  // COMPILER_CHECK_CHAIN_H_
