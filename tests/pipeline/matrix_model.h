// A row of the matrix as an ONNX model.
#ifndef FOLD_TESTS_PIPELINE_MATRIX_MODEL_H_
#define FOLD_TESTS_PIPELINE_MATRIX_MODEL_H_

#include "onnx/onnx_pb.h"
#include "tests/pipeline/combination.h"

namespace fold::pipeline {

// Float inputs x (and x2, where the constant has a second reader) are quantized
// first; then comes the operator with its constant, then the division; all
// outputs are codes, but for a constant that is one. Requires IsSayable.
onnx::ModelProto ModelOf(const Combination& combination);

}  // namespace fold::pipeline

#endif  // FOLD_TESTS_PIPELINE_MATRIX_MODEL_H_
