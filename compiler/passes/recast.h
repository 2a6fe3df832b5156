// Reading a value with another quantization than its type has.
#ifndef FOLD_COMPILER_PASSES_RECAST_H_
#define FOLD_COMPILER_PASSES_RECAST_H_

#include "compiler/ir/rewriter.h"

namespace fold {

// `codes`, in a value whose type carries `encoding` (the range of codes that
// can come and the rounding that made them stay): `codes` itself where its type
// says so already; for a constant a clone; else the result of an Identity that
// is added to the proposal. What that needs is said in the proposal's sheet.
ValueId WithEncoding(Rewriter& rewriter, Proposal& proposal, ValueId codes,
                     const Encoding& encoding, const Provenance& provenance);

}  // namespace fold

#endif  // FOLD_COMPILER_PASSES_RECAST_H_
