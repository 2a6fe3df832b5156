// What a quantized ONNX network means (docs/numerics.md), evaluated in exact
// rationals straight from the ONNX protobuf: arithmetic between a
// DequantizeLinear and a QuantizeLinear is arithmetic on real numbers, and a
// QuantizeLinear divides, rounds half to even once, adds the zero point and
// saturates. Written for the tests, one obvious loop an operator; it shares
// nothing with the compiler, its checker or the runtime.
#ifndef FOLD_TESTS_REGRESS_IDEAL_H_
#define FOLD_TESTS_REGRESS_IDEAL_H_

#include <gmpxx.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"

namespace fold::regress {

using Shape = std::vector<int64_t>;

// A tensor: row-major numbers; the codes of an integer type are integers.
struct Ideal {
  int32_t type = onnx::TensorProto::FLOAT;  // onnx::TensorProto::DataType
  Shape shape;
  std::vector<mpq_class> numbers;
};

using Ideals = std::map<std::string, Ideal>;

// Evaluates every node of `model`; `values` has the inputs and gets all other
// tensors by name. "" or what cannot be evaluated.
std::string EvaluateIdeal(const onnx::ModelProto& model, Ideals* values);

// x rounded to the nearest integer, ties to even.
mpz_class RoundHalfEven(const mpq_class& x);

// One node as its evaluation sees it.
struct Call {
  const onnx::NodeProto& node;
  std::vector<const Ideal*> in;  // null: absent

  bool has(size_t i) const { return i < in.size() && in[i] != nullptr; }
  int64_t integer(const std::string& key, int64_t otherwise) const;
  std::vector<int64_t> integers(const std::string& key) const;
  double real(const std::string& key, double otherwise) const;
  std::string text(const std::string& key, const std::string& otherwise) const;
  // Integers from attribute `key`, or else from operand `i`.
  std::vector<int64_t> list(const std::string& key, size_t i) const;
};

int64_t Count(const Shape& shape);
// Coordinates of row-major element `i`, and back.
Shape Coordinates(int64_t i, const Shape& shape);
int64_t Place(const Shape& at, const Shape& shape);
// Element of `x` that broadcasts to coordinates `at` of a larger shape.
const mpq_class& Broadcast(const Ideal& x, const Shape& at);
Shape BroadcastShapes(const Shape& a, const Shape& b);

// The groups of operators; false if it is none of theirs.
bool EvaluateWindow(const Call& call, Ideal* y);    // ideal_windows.cc
bool EvaluateMovement(const Call& call, Ideal* y);  // ideal_movement.cc

// Sums of products, on real numbers.
Ideal ConvOf(const Call& call, const Ideal& x, const Ideal& w,
             const Ideal* bias);
Ideal MatMulOf(const Ideal& a, const Ideal& b);
Ideal AveragePoolOf(const Call& call, const Ideal& x);
Ideal GlobalAverageOf(const Ideal& x);
Ideal ConcatOf(const std::vector<const Ideal*>& parts, int64_t axis);

}  // namespace fold::regress

#endif  // FOLD_TESTS_REGRESS_IDEAL_H_
