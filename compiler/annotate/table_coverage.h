// Which tensors a table of encodings has to speak of, and along which axis.
#ifndef FOLD_COMPILER_ANNOTATE_TABLE_COVERAGE_H_
#define FOLD_COMPILER_ANNOTATE_TABLE_COVERAGE_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/annotate/encoding_table.h"
#include "compiler/ir/graph.h"

namespace fold {

// The axis of parameter `id` that the output channels of the linear operators
// that read it run along; of a vector 0. Nullopt if none reads it, or if two
// say different axes.
std::optional<int64_t> ChannelAxisOfTensor(const Graph& graph, ValueId id);

// A float tensor that a linear operator reads as it is.
struct Gap {
  std::string node;  // the operator
  ValueId value;     // what it reads, before any moves of elements
};

// Of each Conv, ConvTranspose, Gemm and MatMul: the weights, where the table
// has parameters, and the input, where it has activations, if no encoding, no
// Q/DQ and no entry of a float type (`floats`) speaks of them. An encoding
// holds through operators that move or select elements. Biases and what lies
// between a linear operator and the activation behind it need none.
std::vector<Gap> UncoveredTensors(const Graph& graph,
                                  const EncodingTable& table,
                                  const std::set<ValueId>& floats);

}  // namespace fold

#endif  // FOLD_COMPILER_ANNOTATE_TABLE_COVERAGE_H_
