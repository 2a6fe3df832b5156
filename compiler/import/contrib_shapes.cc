#include "compiler/import/contrib_shapes.h"

#include <string>

#include "onnx/defs/schema.h"

namespace fold::importer {
namespace {

using onnx::InferenceContext;
using onnx::TensorProto;
using onnx::TensorShapeProto;

// A dimension that two operands share: the known one of the two.
void MergeDim(const TensorShapeProto::Dimension& from,
              TensorShapeProto::Dimension* to, const char* what) {
  if (!from.has_dim_value()) return;
  if (to->has_dim_value() && to->dim_value() != from.dim_value()) {
    fail_shape_inference(what, " differ: ", to->dim_value(), " and ",
                         from.dim_value());
  }
  to->set_dim_value(from.dim_value());
}

// The shape of operand `index`, which must have `rank` dimensions.
const TensorShapeProto& ShapeOfRank(const InferenceContext& context,
                                    size_t index, int rank) {
  const TensorShapeProto& shape = onnx::getInputShape(context, index);
  if (shape.dim_size() != rank) {
    fail_shape_inference("operand ", index, " has rank ", shape.dim_size(),
                         " where ", rank, " is needed");
  }
  return shape;
}

void SetElement(InferenceContext& context, int element) {
  onnx::updateOutputElemType(context, 0, element);
}

void PropagateShape(InferenceContext& context) {
  if (onnx::hasInputShape(context, 0)) {
    onnx::propagateShapeFromInputToOutput(context, 0, 0);
  }
}

// Infers with the schema of ai.onnx's operator, which reads operand 0 and
// attributes of the same names.
void InferAsOnnx(const char* name, InferenceContext& context) {
  if (onnx::getAttribute(context, "channels_last", 0) != 0) {
    fail_shape_inference("channels_last is not supported");
  }
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(name);
  if (schema == nullptr) fail_shape_inference("no schema of ", name);
  schema->GetTypeAndShapeInferenceFunction()(context);
}

}  // namespace

void InferSameAsFirst(InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  PropagateShape(context);
}

void InferQuantize(InferenceContext& context) {
  if (context.hasInput(2)) {
    onnx::propagateElemTypeFromInputToOutput(context, 2, 0);
  } else {
    SetElement(context, TensorProto::UINT8);
  }
  PropagateShape(context);
}

void InferDequantize(InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 1, 0);
  PropagateShape(context);
}

void InferBinary(InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  if (!onnx::hasInputShape(context, 0) || !onnx::hasInputShape(context, 3)) {
    return;
  }
  TensorShapeProto shape;
  onnx::multidirectionalBroadcastShapeInference(
      {&onnx::getInputShape(context, 0), &onnx::getInputShape(context, 3)},
      shape);
  onnx::updateOutputShape(context, 0, shape);
}

void InferAveragePool(InferenceContext& context) {
  InferAsOnnx("AveragePool", context);
}

void InferGlobalAveragePool(InferenceContext& context) {
  InferAsOnnx("GlobalAveragePool", context);
}

void InferGemm(InferenceContext& context) {
  if (context.hasInput(7) != context.hasInput(8)) {
    fail_type_inference("y_scale and y_zero_point go together");
  }
  if (context.hasInput(8)) {
    onnx::propagateElemTypeFromInputToOutput(context, 8, 0);
  } else {
    SetElement(context, TensorProto::FLOAT);
  }
  if (!onnx::hasInputShape(context, 0) || !onnx::hasInputShape(context, 3)) {
    return;
  }
  const TensorShapeProto& a = ShapeOfRank(context, 0, 2);
  const TensorShapeProto& b = ShapeOfRank(context, 3, 2);
  const bool trans_a = onnx::getAttribute(context, "transA", 0) != 0;
  const bool trans_b = onnx::getAttribute(context, "transB", 0) != 0;
  TensorShapeProto::Dimension inner = a.dim(trans_a ? 0 : 1);
  MergeDim(b.dim(trans_b ? 1 : 0), &inner, "inner dimensions");
  onnx::updateOutputShape(context, 0,
                          {a.dim(trans_a ? 1 : 0), b.dim(trans_b ? 0 : 1)});
}

void InferConcat(InferenceContext& context) {
  const size_t operands = context.getNumInputs();
  if (operands < 5 || (operands - 2) % 3 != 0) {
    fail_type_inference("operands are not a scale, a zero point and triples");
  }
  onnx::propagateElemTypeFromInputToOutput(context, 1, 0);
  TensorShapeProto shape;
  for (size_t i = 2; i < operands; i += 3) {
    if (!onnx::hasInputShape(context, i)) return;
    const TensorShapeProto& part = onnx::getInputShape(context, i);
    if (i == 2) {
      shape = part;
      continue;
    }
    const int rank = shape.dim_size();
    if (part.dim_size() != rank) fail_shape_inference("ranks differ");
    int64_t axis = onnx::getRequiredAttributeInt(context, "axis");
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) fail_shape_inference("axis outside the rank");
    for (int d = 0; d < rank; ++d) {
      auto* dim = shape.mutable_dim(d);
      if (d != axis) {
        MergeDim(part.dim(d), dim, "dimensions");
      } else if (dim->has_dim_value() && part.dim(d).has_dim_value()) {
        dim->set_dim_value(
            onnx::checkedAdd(dim->dim_value(), part.dim(d).dim_value()));
      } else {
        dim->clear_dim_value();
      }
    }
  }
  onnx::updateOutputShape(context, 0, shape);
}

}  // namespace fold::importer
