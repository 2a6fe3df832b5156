// Roots: where chains begin, with their definitions in the ONNX file.
#ifndef COMPILER_CHECK_ROOT_H_
#define COMPILER_CHECK_ROOT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/check/value.h"

namespace fold::check {

// The elements that a convolution or matrix product multiplies, as labels.
// A matrix product is a convolution over a 1 x 1 picture.
struct Patches {
  Labels labels;
  Label padding = kUnknownLabel;  // what stands outside
  int64_t batch_stride = 0;
  int64_t channel_stride = 0;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
  int64_t batch = 1;
  int64_t out_height = 1;
  int64_t out_width = 1;
  int64_t groups = 1;
  int64_t group_channels = 1;  // inputs of one group
  int64_t kernel_height = 1;
  int64_t kernel_width = 1;
  // Input row of output row i and tap r at [i * kernel_height + r]; -1:
  // outside. Columns likewise.
  std::vector<int32_t> rows;
  std::vector<int32_t> columns;

  int64_t positions() const { return batch * out_height * out_width; }
  int64_t depth() const {
    return group_channels * kernel_height * kernel_width;
  }
  // k runs over (channel of the group, kernel row, kernel column).
  Label At(int64_t group, int64_t position, int64_t k) const;
  bool pads() const;
};

// Input positions of each window along one dimension.
std::vector<int32_t> WindowMap(int64_t in, int64_t out, int64_t kernel,
                               int64_t stride, int64_t dilation, int64_t pad);

// root[n, o, h, w] = sum over k of weights[o][k] * (patch(n, h, w)[k] - zero)
struct LinearDefinition {
  Patches input;
  int64_t zero = 0;
  Interval codes;  // of the input
  int64_t outputs = 0;
  std::vector<int32_t> weights;  // [outputs][depth], zero point subtracted
};

// Sum of (x - zero), or the largest x, over a set of elements.
struct GroupsDefinition {
  int64_t zero = 0;
  std::vector<uint32_t> starts;  // one more than elements
  std::vector<Label> members;    // ascending within a set
};

// The real number a + b, a - b, a * b.
struct PairDefinition {
  enum class Kind { kAdd, kSub, kMul };
  Kind kind = Kind::kAdd;
  Value a;
  Value b;
};

struct Root {
  enum class Kind {
    kInteger,  // the integers themselves (root 0) and inputs of integer type
    kReal,     // an unknown real: a float input, a float island's result
    kChain,    // `base` with its chain
    kLinear,
    kSum,
    kMax,
    kPair,
  };
  Kind kind = Kind::kReal;
  std::string name;  // the ONNX value that introduced it
  Shape shape;
  Value base;
  std::shared_ptr<const LinearDefinition> linear;
  std::shared_ptr<const GroupsDefinition> groups;
  std::shared_ptr<const PairDefinition> pair;

  bool integer() const { return kind != Kind::kReal && kind != Kind::kPair; }
};

class Roots {
 public:
  Roots();
  uint32_t Add(Root root);
  const Root& at(uint32_t number) const { return roots_[number]; }
  size_t size() const { return roots_.size(); }
  // All of them integers?
  bool Integers(const Value& value) const;
  // The same elements over the roots below, or false if `value` does not lie
  // over exactly one chain root (and constants).
  bool Expand(Value* value) const;

 private:
  std::vector<Root> roots_;
};

}  // namespace fold::check

#endif  // COMPILER_CHECK_ROOT_H_
