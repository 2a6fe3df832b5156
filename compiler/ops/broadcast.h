// numpy broadcasting of shapes and elements.
#ifndef FOLD_COMPILER_OPS_BROADCAST_H_
#define FOLD_COMPILER_OPS_BROADCAST_H_

#include <optional>

#include "compiler/ir/type.h"

namespace fold {

// The shape that both broadcast to, nullopt if they do not fit.
std::optional<Shape> BroadcastShape(const Shape& a, const Shape& b);
// Row-major index into a tensor of `shape` for row-major index `i` of `out`,
// to which `shape` broadcasts.
int64_t BroadcastIndex(int64_t i, const Shape& out, const Shape& shape);

}  // namespace fold

#endif  // FOLD_COMPILER_OPS_BROADCAST_H_
