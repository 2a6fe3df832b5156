// Binding: every value that has a quantization gets it into its type. Nothing
// is rewritten, no node and no constant changes.
#ifndef FOLD_COMPILER_ANNOTATE_ANNOTATE_H_
#define FOLD_COMPILER_ANNOTATE_ANNOTATE_H_

#include <optional>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ir/graph.h"

namespace fold {

// Reads QuantizeLinear, DequantizeLinear, the QLinear operators and those of
// QONNX (qonnx.h). The result
// of a QuantizeLinear and the operand of a DequantizeLinear get the encoding
// that the node states; of a QLinear operator, every operand and the result
// (the int32 bias gets x_scale * w_scale). Where two nodes state different
// encodings of one value the first, in graph order, stands in its type and the
// nodes keep their own (EncodingOf). Errors: bad_scale, bad_zero_point,
// bad_axis, dynamic_quantization, each naming the node. Moves the graph from
// imported to annotated; returns false if there was an error.
bool Annotate(Graph& graph, Diagnostics* sink);

// The encoding that a QuantizeLinear or DequantizeLinear node states, for a
// tensor of `shape` and codes of type `codes`; nullopt with a diagnostic if its
// parameters are at fault.
std::optional<Encoding> EncodingOf(const Graph& graph, NodeId node,
                                   Diagnostics* sink);

// The encodings that a QLinear operator states, in the order of
// QLinearOperands; nullopt where one is absent or, with a diagnostic, at fault.
std::vector<std::optional<Encoding>> StatedEncodings(const Graph& graph,
                                                     NodeId node,
                                                     Diagnostics* sink);

// The encoding of an int32 bias that counts in units of x_scale * w_scale.
Encoding BiasEncoding(const Encoding& x, const Encoding& w,
                      const std::string& source);

}  // namespace fold

#endif  // FOLD_COMPILER_ANNOTATE_ANNOTATE_H_
