// Letting a DequantizeLinear pass behind an operator that moves or selects
// elements: op(DQ(x)) = DQ(op(x)), since a scale is greater than zero.
#ifndef FOLD_COMPILER_PASSES_SINK_DEQUANTIZE_H_
#define FOLD_COMPILER_PASSES_SINK_DEQUANTIZE_H_

#include <string>

#include "compiler/passes/pattern.h"

namespace fold {

// `node` moves elements, concatenates values of one quantization or pads with
// zeros, and all its data operands come from DequantizeLinear nodes.
bool CanSinkDequantize(const Graph& graph, const Node& node);

// Why a node that moves dequantized elements cannot; "" if it can or is none.
std::string SinkFault(const Graph& graph, const Node& node);

bool SinkDequantize(Rewriter& rewriter, NodeId id, const std::string& rule);

}  // namespace fold

#endif  // FOLD_COMPILER_PASSES_SINK_DEQUANTIZE_H_
