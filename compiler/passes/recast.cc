#include "compiler/passes/recast.h"

#include "compiler/ops/ops.h"

namespace fold {

ValueId WithEncoding(Rewriter& rewriter, Proposal& proposal, ValueId codes,
                     const Encoding& encoding, const Provenance& provenance) {
  const Value value = rewriter.graph().value(codes);
  TensorType type = value.type;
  type.encoding = encoding;
  if (value.type.encoding) {
    type.encoding->code_low = value.type.encoding->code_low;
    type.encoding->code_high = value.type.encoding->code_high;
    type.encoding->rounding = value.type.encoding->rounding;
  }
  if (type == value.type) return codes;
  const ValueId recast =
      rewriter.Declare(value.name + "_recast", type, value.constant);
  if (value.constant) {
    proposal.sheet.constants.push_back(
        {codes, recast, ConstantMove::Kind::kCloned, ""});
    return recast;
  }
  Node identity;
  identity.op = ToId(Op::kIdentity);
  identity.operands = {codes};
  identity.results = {recast};
  identity.provenance = provenance;
  proposal.added.push_back(identity);
  return recast;
}

}  // namespace fold
