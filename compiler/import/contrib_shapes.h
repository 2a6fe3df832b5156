// Result types of com.microsoft's operators, as the onnx library's inference
// functions: they set the result's type in the context as far as the operands'
// types are known, and throw onnx::InferenceError if those do not fit.
#ifndef FOLD_COMPILER_IMPORT_CONTRIB_SHAPES_H_
#define FOLD_COMPILER_IMPORT_CONTRIB_SHAPES_H_

#include "onnx/defs/shape_inference.h"

namespace fold::importer {

// QuantizeLinear: the zero point's element type, else uint8.
void InferQuantize(onnx::InferenceContext& context);
// DequantizeLinear: the scale's element type.
void InferDequantize(onnx::InferenceContext& context);
// QLinearAdd, QLinearMul: operands 0 and 3 broadcast.
void InferBinary(onnx::InferenceContext& context);
// QLinearAveragePool, QLinearGlobalAveragePool: as ai.onnx's; channels_last is
// refused.
void InferAveragePool(onnx::InferenceContext& context);
void InferGlobalAveragePool(onnx::InferenceContext& context);
// QGemm: [M,K] x [K,N]; float if there is no output scale.
void InferGemm(onnx::InferenceContext& context);
// QLinearConcat: operands 2, 5, 8 … along `axis`.
void InferConcat(onnx::InferenceContext& context);
// QLinearSoftmax: operand 0's type.
void InferSameAsFirst(onnx::InferenceContext& context);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_CONTRIB_SHAPES_H_
