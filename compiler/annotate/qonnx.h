// The quantizations of QONNX: Quant, BipolarQuant and Trunc
// (docs/qonnx-custom-ops of the QONNX project, operator set versions 1 and 2).
// Their results are real numbers on a grid.
#ifndef FOLD_COMPILER_ANNOTATE_QONNX_H_
#define FOLD_COMPILER_ANNOTATE_QONNX_H_

#include <optional>

#include "compiler/base/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/ops.h"

namespace fold {

bool IsQonnx(Op op);

// The encoding that the node gives its result, code_low and code_high set;
// nullopt with a diagnostic that names the node: dynamic_quantization,
// bad_scale, bad_zero_point (not whole), bad_axis (parameters that vary along
// more than one dimension), unsupported_attribute (bits, rounding mode).
// A Trunc is that quantization of x + TruncAddend.
std::optional<Encoding> QonnxEncoding(const Graph& graph, NodeId node,
                                      Diagnostics* sink);

// A Trunc rounds x to its input's grid before it drops bits; on real numbers
// that is a quantization of x plus this number. 0 for other nodes. Requires a
// result that carries QonnxEncoding.
double TruncAddend(const Graph& graph, const Node& node);

// The smallest of i8, u8, i16, u16, i32 and u32 that has the codes.
ElementType StorageOf(const Encoding& encoding);

}  // namespace fold

#endif  // FOLD_COMPILER_ANNOTATE_QONNX_H_
