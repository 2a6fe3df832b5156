// Stages as properties: for each, a function that looks at the graph.
#ifndef FOLD_COMPILER_PASSES_STAGE_CHECK_H_
#define FOLD_COMPILER_PASSES_STAGE_CHECK_H_

#include <string>

#include "compiler/ir/graph.h"

namespace fold {

// "" if what `stage` promises holds in the graph, else what does not, naming
// the node. Checks that stage alone; legal and planned are checked where a
// target is known (compiler/lower).
//
// imported    every value has a type; nothing is annotated, no node has steps,
//             and none is of an operator that only passes make
// annotated   Q/DQ and QLinear operators have their quantization in the types;
//             every quantization is one: as many zero points as scales, scales
//             above zero, zero points and ranges within the codes, an axis of
//             its size; no codes are real
// simplified  no constant node, no node of constants alone, no Identity, Cast
//             or Concat that gives what it gets, no BatchNormalization behind
//             its linear op, no Clip of codes behind its QuantizeLinear
// folded      no QLinear operator, no operator that could take integers and
//             takes reals, no QuantizeLinear of dequantized codes
// fused       no activation, scale or QuantizeLinear behind the op that could
//             take it in, no requantization that changes nothing, no orphan
std::string CheckStage(const Graph& graph, Stage stage);

// Everything that has to hold of a graph at `stage`: the stage's own promises,
// and those of earlier stages that later passes do not undo on purpose. (From
// annotated on, values have encodings and nodes have steps, so of `imported`
// only the types stay; an Identity may come back, to read codes otherwise.)
std::string CheckInvariants(const Graph& graph, Stage stage);

// CheckStructure, and arity, attributes, types and shapes of every node.
std::string CheckNodes(const Graph& graph);

}  // namespace fold

#endif  // FOLD_COMPILER_PASSES_STAGE_CHECK_H_
