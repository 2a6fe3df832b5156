// DepthToSpace as a reshape, a transposition and a reshape (the definition in
// the ONNX operator documentation).
#ifndef FOLD_COMPILER_OPS_DEPTH_TO_SPACE_H_
#define FOLD_COMPILER_OPS_DEPTH_TO_SPACE_H_

#include <optional>
#include <vector>

#include "compiler/ops/op_spec.h"

namespace fold {

struct DepthToSpaceParts {
  Shape split;                // [N, C, H, W] with C as three dimensions
  std::vector<int64_t> perm;  // of `split`
  Shape result;               // [N, C / b^2, H * b, W * b]
};

// nullopt if `x` is not [N, C, H, W] with C a multiple of blocksize^2, or if
// the node has another mode than DCR and CRD.
std::optional<DepthToSpaceParts> PartsOfDepthToSpace(const Node& node,
                                                     const Shape& x);

}  // namespace fold

#endif  // FOLD_COMPILER_OPS_DEPTH_TO_SPACE_H_
