// From the steps and the result type of an integer op to the proved
// requantization of its kernel.
#ifndef FOLD_COMPILER_LOWER_REQUANTIZATION_H_
#define FOLD_COMPILER_LOWER_REQUANTIZATION_H_

#include <memory>
#include <optional>
#include <vector>

#include "compiler/exact/chain.h"
#include "compiler/lower/lowering.h"

namespace fold {

// The node's steps for one channel, after whatever `chain` holds already.
void AppendSteps(const Graph& graph, const Node& node, int64_t channel,
                 std::vector<exact::ChainStep>* chain);

// The quantization of a value of `type` in `channel` of its encoding.
exact::Quantization QuantizationOf(const TensorType& type, int64_t channel);

// The integer constant's real value, or the float constant's own.
exact::Rational RealConstant(const Graph& graph, ValueId id, int64_t index);

// Searches and proves the cheapest form that the target has and that is exact
// for all channels; an error names the node and the channel.
std::unique_ptr<format_::RequantT> ProveRequant(
    Lowering& lowering, NodeId node,
    const std::vector<exact::ChannelProblem>& problems);

}  // namespace fold

#endif  // FOLD_COMPILER_LOWER_REQUANTIZATION_H_
