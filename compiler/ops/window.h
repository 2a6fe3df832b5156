// Sliding windows of convolutions and pools, as ONNX defines them.
#ifndef FOLD_COMPILER_OPS_WINDOW_H_
#define FOLD_COMPILER_OPS_WINDOW_H_

#include <optional>
#include <string>

#include "compiler/ir/graph.h"

namespace fold {

// One spatial dimension of a window.
struct WindowAxis {
  int64_t input = 1, kernel = 1, stride = 1, dilation = 1;
  int64_t pad_begin = 0, pad_end = 0;  // explicit or from auto_pad
  int64_t output = 1;
  int64_t reach() const { return (kernel - 1) * dilation + 1; }
};

// The window of each spatial dimension (input shape from dimension 2 on) of a
// node with attributes strides, dilations, pads, auto_pad and ceil_mode.
// `kernel` has the spatial kernel sizes. nullopt and *fault if they do not fit.
std::optional<std::vector<WindowAxis>> WindowOf(const Node& node,
                                                const Shape& input,
                                                const Shape& kernel,
                                                std::string* fault);

}  // namespace fold

#endif  // FOLD_COMPILER_OPS_WINDOW_H_
