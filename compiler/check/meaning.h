// Operators of the ONNX file as functions on values (value.h). Everything is
// exact; what cannot be said exactly over integers becomes a real root of its
// own, and what is not understood an unknown value with a reason.
#ifndef COMPILER_CHECK_MEANING_H_
#define COMPILER_CHECK_MEANING_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/check/onnx_file.h"
#include "compiler/check/root.h"
#include "compiler/check/value.h"

namespace fold::check {

// What an operator's meaning may look at and add to.
struct Scope {
  Roots* roots;
  const onnx::NodeProto* node;
  Attributes attributes;
  std::string output;  // name of the first output
  // Gets real operands that have no name in the file.
  std::vector<Value>* operands;
  // Gets values in between that artifacts name and the file does not.
  std::vector<std::pair<std::string, Value>>* named;
};

// A real tensor of which nothing is known.
Value Opaque(const Scope& scope, Shape shape, int type);
// `value` in place of real or integer results that were computed from it: a
// new root, or the old elements where the chain changes nothing.
Value Settle(const Scope& scope, Value value, int type);

// meaning_quantize.cc
Value Quantize(const Scope& scope, const Value& x, const Value& scale,
               const Value* zero, int64_t axis, int type);
Value Dequantize(const Value& x, const Value& scale, const Value* zero,
                 int64_t axis);

// meaning_qonnx.cc
bool IsQonnx(const std::string& op);
Value Qonnx(const Scope& scope, const std::vector<const Value*>& in);

// meaning_elementwise.cc
enum class Binary { kAdd, kSub, kMul, kDiv };
Value Combine(const Scope& scope, Binary kind, const Value& a, const Value& b);
Value ClampTo(const Scope& scope, const Value& x, const Interval& interval);
Value BatchNormalize(const Value& x, const std::vector<const Value*>& in,
                     double epsilon);

// meaning_linear.cc
Value Convolve(const Scope& scope, const Value& x, const Value& weights,
               const Value* bias);
Value Multiply(const Scope& scope, const Value& x, const Value& weights);
// x * weights with both operands' transpositions; no bias.
Value GemmProduct(const Scope& scope, const Value& x, const Value& weights,
                  bool transpose_x, bool transpose_weights);

// meaning_windows.cc
// Attributes of pooling and convolution along the spatial dimensions.
struct Windows {
  std::vector<int64_t> kernel, strides, dilations, begin, out;
};
bool ReadWindows(const Attributes& attributes, const Shape& x,
                 std::vector<int64_t> kernel, Windows* windows);
Value MaxPool(const Scope& scope, const Value& x);
Value AveragePool(const Scope& scope, const Value& x);
Value ReduceOver(const Scope& scope, const Value& x, const std::string& kind,
                 const std::vector<int64_t>& axes, bool keep);

// meaning_move.cc
bool IsMovement(const std::string& op_type);
Value Move(const Scope& scope, const std::vector<const Value*>& in);
Value Join(const Scope& scope, const std::vector<const Value*>& parts,
           int64_t axis);

// meaning_node.cc: the outputs of one node, any operator.
std::vector<Value> Evaluate(const Scope& scope,
                            const std::vector<const Value*>& in);

}  // namespace fold::check

#endif  // COMPILER_CHECK_MEANING_H_
