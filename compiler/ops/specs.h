// The OpSpec rows that ops.def names, one file an idea.
#ifndef FOLD_COMPILER_OPS_SPECS_H_
#define FOLD_COMPILER_OPS_SPECS_H_

#include "compiler/ops/op_spec.h"

namespace fold {

// quantize.cc
extern const OpSpec kQuantizeSpec, kDequantizeSpec, kRequantizeSpec,
    kQLinearSpec, kQuantSpec;
// linear.cc
extern const OpSpec kConvSpec, kGemmSpec, kMatMulSpec, kBatchNormSpec;
// elementwise.cc
extern const OpSpec kElementwiseSpec, kActivationSpec, kUnarySpec,
    kScaledReciprocalSpec;
// pointwise.cc
extern const OpSpec kPointwiseSpec, kExtremeSpec;
// pool.cc
extern const OpSpec kPoolSpec, kGlobalPoolSpec, kReduceSpec;
// movement.cc
extern const OpSpec kReshapeSpec, kTransposeSpec, kConcatSpec, kPadSpec,
    kIdentitySpec, kCastSpec, kDepthToSpaceSpec;
// constant.cc
extern const OpSpec kConstantSpec, kShapeSpec, kGatherSpec;

}  // namespace fold

#endif  // FOLD_COMPILER_OPS_SPECS_H_
