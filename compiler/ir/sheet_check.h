// Holds a proposal and its migration sheet against the graph. Believes nothing:
// every item is looked up where the sheet says that it went, and everything
// that goes away is looked for in the sheet.
#ifndef FOLD_COMPILER_IR_SHEET_CHECK_H_
#define FOLD_COMPILER_IR_SHEET_CHECK_H_

#include <string>

#include "compiler/ir/graph.h"
#include "compiler/ir/op_info.h"
#include "compiler/ir/proposal.h"

namespace fold {

// "" if the sheet is complete and true, else the first item that is not, by
// name. Checked:
//  * results: each that is read by others or is an output has one destination
//    that stays, of its type and shape, whose codes mean the same numbers; one
//    that becomes a constant is evaluated again;
//  * encodings of what the removed nodes read and made: each has one
//    destination where its numbers are found, its axis at the place to which
//    the data of that axis went; a new value has no encoding out of nowhere;
//  * constants that the removed nodes read: each is found again, derived again
//    element by element, or truly unneeded; a new constant comes from
//    somewhere;
//  * provenance: all of the removed nodes', and no other's;
//  * exceptional values: a changed domain is stated, and is stated where
//    operators come or go that make infinities or NaN;
//  * names of values without a destination are said to be lost; what is said
//    to be inferable is inferred again, and a name or a scale never is;
//  * structure: removed nodes are there, new results are new, no new node
//    reads what goes away, no cycle comes about, and new nodes fit their
//    operators.
// `ops` may be null: then nothing can be claimed to be evaluated or inferred.
std::string SheetFault(const Graph& graph, const Proposal& proposal,
                       const OpTable* ops);

}  // namespace fold

#endif  // FOLD_COMPILER_IR_SHEET_CHECK_H_
