// A product with a constant on its left as one with it on its right:
//   constant * value = transpose(transpose(value) * transpose(constant))
// over the last two dimensions, as ONNX MatMul has them; and the four
// obligations that make it true, each with a checker of its own that looks at
// nothing that the others prove.
#ifndef FOLD_COMPILER_PASSES_CONSTANT_PRODUCT_H_
#define FOLD_COMPILER_PASSES_CONSTANT_PRODUCT_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/type.h"

namespace fold {

// The product as it is. Both have at least one dimension and fit together.
struct LeftProduct {
  Shape constant;  // [..., M, K] or [K]
  Shape value;     // [..., K, N] or [K]
};

// The product with its constant on the right.
struct RightProduct {
  TensorPtr constant;  // [..., K, M]; a constant of [K] becomes [K, 1]
  std::optional<Encoding> encoding;
  // Permutations of numpy.transpose; empty where nothing is transposed.
  std::vector<int64_t> value_permutation, product_permutation;
  Shape value;    // of the transposed value
  Shape product;  // of transposed value times constant
  Shape result;   // of the old product: `product` permuted; where the constant
                  // had one dimension, without the one that it has gained
};

// With every kind of encoding: per tensor, per axis, and blocked (a scale for
// each block, row-major over the dimensions with the axis counted in blocks;
// or one for each block along the axis alone).
RightProduct TurnProduct(const LeftProduct& left, const Tensor& constant,
                         const std::optional<Encoding>& encoding);

// Data: new(..., k, m) = old(..., m, k), reading the new elements in the order
// that the transposed shape has. "" or the first element that differs.
std::string DataFault(const Tensor& from, const RightProduct& to);
// Shape: the new operands' shapes follow from the old ones, the product's from
// them, and the result's from the product.
std::string ShapeFault(const LeftProduct& from, const RightProduct& to);
// Encoding: element (..., k, m) has the scale and zero point that (..., m, k)
// had, and codes their range and rounding.
std::string EncodingFault(const LeftProduct& from,
                          const std::optional<Encoding>& encoding,
                          const RightProduct& to);
// Output indexing: result (..., m, n) is product (..., n, m), whose row n is
// column n of the value.
std::string IndexFault(const LeftProduct& from, const RightProduct& to);

// The dimensions 0 … rank - 1 with the last two exchanged. Requires rank >= 2.
std::vector<int64_t> LastTwoExchanged(size_t rank);

}  // namespace fold

#endif  // FOLD_COMPILER_PASSES_CONSTANT_PRODUCT_H_
