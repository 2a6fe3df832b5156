// What the ONNX file says a value is, independent of any compiler: every
// element is a chain of exact steps over one element of a *root*, an integer
// (or unknown real) that cannot be reduced further. Moving data moves labels,
// so wiring and layouts are compared element by element.
#ifndef COMPILER_CHECK_VALUE_H_
#define COMPILER_CHECK_VALUE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/check/chain.h"

namespace fold::check {

// Root number in the upper half, element (row-major) in the lower. Root 0 is
// the integers themselves: the lower half is an int32.
using Label = uint64_t;

constexpr uint32_t RootOf(Label label) {
  return static_cast<uint32_t>(label >> 32);
}
constexpr uint32_t ElementOf(Label label) {
  return static_cast<uint32_t>(label);
}
constexpr Label MakeLabel(uint32_t root, uint32_t element) {
  return static_cast<Label>(root) << 32 | element;
}
constexpr Label ConstantLabel(int32_t code) {
  return static_cast<uint32_t>(code);
}
constexpr int32_t CodeOf(Label label) {
  return static_cast<int32_t>(static_cast<uint32_t>(label));
}
// A label that equals nothing: contents unknown.
constexpr Label kUnknownLabel = ~Label{0};

using Shape = std::vector<int64_t>;
using Labels = std::shared_ptr<const std::vector<Label>>;
using Classes = std::shared_ptr<const std::vector<int32_t>>;

int64_t ElementCount(const Shape& shape);

struct Value {
  enum class Kind {
    kUnknown,  // `why` says why
    kTracked,  // labels, classes, ranges, chain
    kInts,     // constants of INT64 or BOOL: shapes, axes
    kReals,    // constants of a float type as stored
    kExact,    // constants computed from constants
  };
  Kind kind = Kind::kUnknown;
  std::string why;
  Shape shape;
  int type = 0;  // ONNX element type

  Labels labels;
  Classes classes;               // empty: all 0
  std::vector<Interval> ranges;  // of the root's element, by class
  Chain chain;                   // constants by class
  std::vector<uint32_t> roots;   // that occur in labels, ascending

  std::shared_ptr<const std::vector<int64_t>> ints;
  std::shared_ptr<const std::vector<double>> reals;
  std::shared_ptr<const std::vector<Number>> exact;

  bool tracked() const { return kind == Kind::kTracked; }
  bool known() const { return kind != Kind::kUnknown; }
  int64_t size() const { return ElementCount(shape); }
  int32_t ClassOf(int64_t element) const {
    return classes ? (*classes)[element] : 0;
  }
  size_t ClassCount() const { return ranges.size(); }
  // Every element is an integer written in the file.
  bool constant_codes() const {
    return tracked() && roots.size() == 1 && roots[0] == 0;
  }
  bool constant() const { return known() && (!tracked() || constant_codes()); }
};

Value UnknownValue(std::string why);
Value IntsValue(Shape shape, int type, std::vector<int64_t> ints);
Value RealsValue(Shape shape, int type, std::vector<double> reals);
Value ExactValue(Shape shape, int type, std::vector<Number> exact);
Value CodesValue(Shape shape, int type, const std::vector<int64_t>& codes);
// A value whose elements are the root's own.
Value RootValue(uint32_t root, Shape shape, int type, Classes classes,
                std::vector<Interval> ranges);

// Element `index` of a constant as a number; undecidable if it is not one.
Number ConstantAt(const Value& value, int64_t index);
// The elements of an integer constant; false if it is not one.
bool ConstantInts(const Value& value, std::vector<int64_t>* ints);

// Element i of the result is element index[i] of `value`; -1: `fill`, for
// which `fill_label` (or a constant) stands.
Value Gather(const Value& value, Shape shape, const std::vector<int64_t>& index,
             Label fill = kUnknownLabel);
Value Reshaped(Value value, Shape shape);

// Row-major strides; positions of broadcasting `from` to `to` (numpy), empty
// if impossible.
std::vector<int64_t> Strides(const Shape& shape);
bool BroadcastShape(const Shape& x, const Shape& y, Shape* out);
std::vector<int64_t> BroadcastIndex(const Shape& from, const Shape& to);
// Index of numpy.transpose(x, permutation).
std::vector<int64_t> TransposeIndex(const Shape& shape,
                                    const std::vector<int64_t>& permutation);

// Splits the classes of a value by a second number for each element
// (0..keys-1), and appends the step whose constants are given by key.
void AppendAffine(Value* value, const std::vector<int32_t>& key_of_element,
                  const std::vector<Number>& scale,
                  const std::vector<Number>& offset);

// The same with numerator / x for each key.
void AppendOver(Value* value, const std::vector<int32_t>& key_of_element,
                const std::vector<Number>& numerator);

// If all classes are the same affine step with positive or negative scale
// over the root: real = scale * (root - zero) with an integer zero.
bool UniformGrid(const Value& value, Number* scale, int64_t* zero);

}  // namespace fold::check

#endif  // COMPILER_CHECK_VALUE_H_
