#include "compiler/passes/constant_product.h"

#include <algorithm>
#include <numeric>

#include "compiler/ops/broadcast.h"
#include "compiler/ops/movement.h"

namespace fold {
namespace {

// [K] is the row [1, K].
Shape AsMatrix(Shape shape) {
  if (shape.size() == 1) shape.insert(shape.begin(), 1);
  return shape;
}

Shape Permuted(const Shape& shape, const std::vector<int64_t>& permutation) {
  if (permutation.empty()) return shape;
  Shape permuted;
  for (int64_t d : permutation) permuted.push_back(shape[d]);
  return permuted;
}

Shape Exchanged(Shape shape) {
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return shape;
}

std::string Text(const Shape& shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d) {
    text += (d ? "," : "") + std::to_string(shape[d]);
  }
  return text + "]";
}

// The shape that a blocked encoding's scales have: a number for each block.
// Those along the axis alone have one in the other dimensions.
Shape ScalesShape(const Shape& shape, const Encoding& e) {
  Shape scales = shape;
  scales[e.axis] = (shape[e.axis] + e.block - 1) / e.block;
  if (ElementCount(scales) == static_cast<int64_t>(e.scales.size())) {
    return scales;
  }
  Shape along(shape.size(), 1);
  along[e.axis] = scales[e.axis];
  return along;
}

// The place among the parameters for element `i` of a tensor of `shape`.
int64_t ParameterOf(int64_t i, const Shape& shape, const Encoding& e) {
  if (e.per_tensor()) return 0;
  const Shape scales = e.block > 0 ? ScalesShape(shape, e) : Shape();
  int64_t place = 0, step = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    const int64_t at = i % shape[d];
    i /= shape[d];
    if (e.block == 0) {
      if (static_cast<int>(d) == e.axis) place = at;
      continue;
    }
    const int64_t own = static_cast<int>(d) == e.axis ? at / e.block : at;
    if (scales[d] != 1) place += own * step;
    step *= scales[d];
  }
  return place;
}

template <typename Number>
std::vector<Number> ExchangedParameters(const std::vector<Number>& numbers,
                                        const Shape& shape) {
  if (numbers.size() == 1) return numbers;
  const Shape made = Exchanged(shape);
  std::vector<Number> exchanged(numbers.size());
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  for (int64_t i = 0; i < static_cast<int64_t>(numbers.size()); ++i) {
    const int64_t matrix = i / (rows * columns);
    const int64_t row = i / columns % rows, column = i % columns;
    exchanged[(matrix * columns + column) * rows + row] = numbers[i];
  }
  return exchanged;
}

Encoding ExchangedEncoding(const Encoding& encoding, const Shape& shape) {
  Encoding made = PermuteEncoding(encoding, LastTwoExchanged(shape.size()));
  if (encoding.block > 0) {
    const Shape scales = ScalesShape(shape, encoding);
    made.scales = ExchangedParameters(encoding.scales, scales);
    made.zero_points = ExchangedParameters(encoding.zero_points, scales);
  }
  return made;
}

}  // namespace

std::vector<int64_t> LastTwoExchanged(size_t rank) {
  std::vector<int64_t> permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  return permutation;
}

RightProduct TurnProduct(const LeftProduct& left, const Tensor& constant,
                         const std::optional<Encoding>& encoding) {
  RightProduct right;
  Tensor matrix = constant;
  matrix.shape = AsMatrix(left.constant);
  const size_t rank = matrix.shape.size();
  right.constant = TransposeTensor(matrix, LastTwoExchanged(rank));
  if (encoding) {
    right.encoding = *encoding;
    if (left.constant.size() == 1 && encoding->axis == 0) {
      right.encoding->axis = 1;
    }
    right.encoding = ExchangedEncoding(*right.encoding, matrix.shape);
  }
  right.value = left.value;
  if (left.value.size() > 1) {
    right.value_permutation = LastTwoExchanged(left.value.size());
    right.value = Permuted(left.value, right.value_permutation);
  }
  Shape batch(right.value.begin(), right.value.end() - 1);
  const bool vector = batch.empty();
  const int64_t n = vector ? 1 : batch.back();
  if (!vector) batch.pop_back();
  const Shape& c = right.constant->shape;
  batch =
      BroadcastShape(batch, Shape(c.begin(), c.end() - 2)).value_or(Shape());
  right.product = batch;
  if (!vector) right.product.push_back(n);
  right.product.push_back(c.back());
  right.result = right.product;
  if (left.constant.size() == 1) {
    right.result.pop_back();
  } else if (!vector) {
    right.product_permutation = LastTwoExchanged(right.product.size());
    right.result = Permuted(right.product, right.product_permutation);
  }
  return right;
}

std::string DataFault(const Tensor& from, const RightProduct& to) {
  const Tensor& made = *to.constant;
  if (made.type != from.type || made.size() != from.size()) {
    return "data: the element type or count changes";
  }
  const Shape shape = AsMatrix(from.shape);
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const auto width = static_cast<size_t>(ElementSize(from.type));
  for (int64_t i = 0; i < from.size(); ++i) {
    const int64_t matrix = i / (rows * columns);
    const int64_t m = i / columns % rows, k = i % columns;
    const int64_t at = (matrix * columns + k) * rows + m;
    if (!std::equal(from.bytes.begin() + i * width,
                    from.bytes.begin() + (i + 1) * width,
                    made.bytes.begin() + at * width)) {
      return "data: element (" + std::to_string(k) + "," + std::to_string(m) +
             ") is not the old (" + std::to_string(m) + "," +
             std::to_string(k) + ")";
    }
  }
  return "";
}

std::string ShapeFault(const LeftProduct& from, const RightProduct& to) {
  const Shape constant = Exchanged(AsMatrix(from.constant));
  if (to.constant->shape != constant) {
    return "shape: the constant is " + Text(to.constant->shape) + ", not " +
           Text(constant);
  }
  const Shape value =
      from.value.size() == 1 ? from.value : Exchanged(from.value);
  if (to.value != value) {
    return "shape: the value is " + Text(to.value) + ", not " + Text(value);
  }
  if (value.back() != constant[constant.size() - 2]) {
    return "shape: the operands do not fit";
  }
  // numpy's rules, once for the product and once for the old one.
  const auto batch = BroadcastShape(
      value.size() < 2 ? Shape() : Shape(value.begin(), value.end() - 2),
      Shape(constant.begin(), constant.end() - 2));
  if (!batch) return "shape: the batch dimensions do not fit";
  Shape product = *batch, result = *batch;
  if (value.size() > 1) product.push_back(value[value.size() - 2]);
  product.push_back(constant.back());
  if (from.constant.size() > 1) result.push_back(constant.back());
  if (value.size() > 1) result.push_back(value[value.size() - 2]);
  if (to.product != product) {
    return "shape: the product is " + Text(to.product) + ", not " +
           Text(product);
  }
  if (to.result != result) {
    return "shape: the result is " + Text(to.result) + ", not " + Text(result);
  }
  return "";
}

std::string EncodingFault(const LeftProduct& from,
                          const std::optional<Encoding>& encoding,
                          const RightProduct& to) {
  if (encoding.has_value() != to.encoding.has_value()) {
    return "encoding: it is lost or invented";
  }
  if (!encoding) return "";
  const Encoding &old = *encoding, &made = *to.encoding;
  if (old.code_low != made.code_low || old.code_high != made.code_high ||
      old.rounding != made.rounding) {
    return "encoding: the range of codes or the rounding changes";
  }
  Encoding matrix = old;
  if (from.constant.size() == 1 && old.axis == 0) matrix.axis = 1;
  const Shape shape = AsMatrix(from.constant);
  const Shape exchanged = Exchanged(shape);
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  for (int64_t i = 0; i < ElementCount(shape); ++i) {
    const int64_t at = i / (rows * columns) * (rows * columns) +
                       i % columns * rows + i / columns % rows;
    const int64_t a = ParameterOf(i, shape, matrix);
    const int64_t b = ParameterOf(at, exchanged, made);
    if (b >= static_cast<int64_t>(made.scales.size()) ||
        matrix.scale(a) != made.scale(b) ||
        matrix.zero_point(a) != made.zero_point(b)) {
      return "encoding: element " + std::to_string(i) +
             " stands for another number";
    }
  }
  return "";
}

std::string IndexFault(const LeftProduct& from, const RightProduct& to) {
  // Which dimension of the old operand or result each one is.
  const size_t value_rank = from.value.size();
  if (value_rank == 1) {
    return to.value_permutation.empty() && to.product_permutation.empty()
               ? ""
               : "index: a vector is transposed";
  }
  if (to.value_permutation != LastTwoExchanged(value_rank)) {
    return "index: row n of the transposed value is not column n of the value";
  }
  if (from.constant.size() == 1) {
    return to.product_permutation.empty()
               ? ""
               : "index: the product with a vector is transposed";
  }
  const size_t rank = std::max(value_rank, from.constant.size());
  if (to.product_permutation != LastTwoExchanged(rank)) {
    return "index: result (m,n) is not product (n,m)";
  }
  return "";
}

}  // namespace fold
