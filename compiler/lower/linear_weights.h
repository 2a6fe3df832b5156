// The constant weights of a linear op as a matrix: outputs × depth.
#ifndef FOLD_COMPILER_LOWER_LINEAR_WEIGHTS_H_
#define FOLD_COMPILER_LOWER_LINEAR_WEIGHTS_H_

#include <cstdint>
#include <string>

#include "compiler/ir/graph.h"

namespace fold {

// Output n of a Conv, Gemm or MatMul is a sum over k of
// (x - zero of x) * (code(n, k) - zero(n)). For a convolution k runs over
// kernel row, kernel column, input channel of the group, in this order.
class LinearWeights {
 public:
  LinearWeights(const Graph& graph, const Node& node);

  // "" or why these weights cannot be lowered.
  const std::string& fault() const { return fault_; }
  int64_t outputs() const { return outputs_; }
  int64_t depth() const { return depth_; }
  bool is_unsigned() const;
  int32_t code(int64_t n, int64_t k) const;
  int32_t zero(int64_t n) const;
  // Least and greatest accumulator of output n over all codes of the input and
  // all windows, those over padding included.
  void AccumulatorRange(int64_t n, int64_t* low, int64_t* high) const;

 private:
  const Tensor* weights_ = nullptr;
  const Encoding* encoding_ = nullptr;
  int64_t outputs_ = 0, depth_ = 0;
  int64_t inner_ = 1, taps_ = 1;  // channels of a group, kernel positions
  bool columns_ = false;          // stored depth × outputs
  int64_t input_low_ = 0, input_high_ = 0;  // codes minus their zero point
  std::string fault_;
};

}  // namespace fold

#endif  // FOLD_COMPILER_LOWER_LINEAR_WEIGHTS_H_
