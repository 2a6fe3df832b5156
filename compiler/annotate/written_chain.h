// Fake-quantization written out as elementary operators, found in the graph:
// what TensorFlow, PyTorch and QKeras export when they know no operator for it.
#ifndef FOLD_COMPILER_ANNOTATE_WRITTEN_CHAIN_H_
#define FOLD_COMPILER_ANNOTATE_WRITTEN_CHAIN_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/annotate/written_grid.h"
#include "compiler/ir/graph.h"

namespace fold {

// A chain of nodes around one rounding, on real arithmetic exactly a
// quantization and dequantization of `input` times the grid's factors.
struct WrittenChain {
  ValueId input, result;
  std::vector<NodeId> nodes;  // in graph order; all results but the last one
                              // are read by these nodes alone
  std::vector<WrittenStep> steps;
  int64_t axis = -1;  // of steps with a number for each channel
  WrittenGrid grid;   // the encoding's axis and source are set
};

// Round, Floor, Ceil and a Cast to integers: what a chain is around.
bool IsWrittenRounding(const Graph& graph, const Node& node);

// The chain around node `rounding`: constant Mul, Div, Add, Sub, Clip, Relu,
// Min and Max before and behind it, and residuals x + (q - x), which are q on
// real numbers (straight-through estimators). Of several readings the one
// without a factor and with the most nodes behind the rounding stands. Nullopt
// with the reason in `*why` if there is none; an empty reason where nothing
// looks like a quantization.
std::optional<WrittenChain> FindWrittenChain(const Graph& graph,
                                             NodeId rounding, std::string* why);

}  // namespace fold

#endif  // FOLD_COMPILER_ANNOTATE_WRITTEN_CHAIN_H_
