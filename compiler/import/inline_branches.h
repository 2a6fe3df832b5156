// Replaces each If whose condition is a constant by the branch that it takes:
// the graph has no regions (docs/adr/0004-constant-branches-at-import.md).
#ifndef FOLD_COMPILER_IMPORT_INLINE_BRANCHES_H_
#define FOLD_COMPILER_IMPORT_INLINE_BRANCHES_H_

#include "compiler/base/diagnostic.h"
#include "compiler/import/branch_conditions.h"
#include "compiler/import/onnx_importer.h"
#include "onnx/onnx_pb.h"

namespace fold::importer {

// An If is replaced, in the main graph and inside branches that are taken, if
// its condition follows from initializers, Constant nodes and shapes through
// the operators of constant_condition.h. Then:
//  - the branch's nodes stand where the If stood, in their order; its
//    initializers are the graph's;
//  - a branch's result has the name of the If's; its other values and nodes
//    keep theirs, or get "<If>/<name>" and a number where one is taken;
//  - what a branch reads of the graphs around it, it reads as before;
//  - nodes that only led to the condition are gone. Nothing is said about the
//    branch that is not taken.
// All other Ifs stay, and are refused by operator_checks.h. Adds model_invalid
// for an If that is none (a branch is missing, has inputs or another number of
// results, a condition of several elements); dynamic_shape or bad_shape_flag
// where the condition asks for a shape that is still open. Linear in the
// model's size, but for shapes: those cost the inference of at most
// 4 * limits.max_nodes nodes; Ifs beyond that stay.
bool InlineBranches(const ImportLimits& limits, const TypeFinder& find_types,
                    onnx::ModelProto* model, Diagnostics* sink);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_INLINE_BRANCHES_H_
