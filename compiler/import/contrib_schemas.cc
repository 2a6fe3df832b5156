#include "compiler/import/contrib_schemas.h"

#include <string>

#include "compiler/import/contrib_shapes.h"
#include "compiler/ops/ops.h"

namespace fold::importer {
namespace {

using onnx::AttributeProto;
using onnx::OpSchema;

enum class Presence { kNeeded, kOptional };

struct Operand {
  const char* name;
  const char* type;  // a type variable below
  Presence presence = Presence::kNeeded;
};

struct AttributeRow {
  const char* name;
  AttributeProto::AttributeType type;
  bool required = false;
};

const std::vector<std::string>& Float() {
  static const std::vector<std::string> types = {
      "tensor(float)", "tensor(float16)", "tensor(bfloat16)"};
  return types;
}
const std::vector<std::string>& Code() {
  static const std::vector<std::string> types = {
      "tensor(int8)",   "tensor(uint8)", "tensor(int16)",
      "tensor(uint16)", "tensor(int4)",  "tensor(uint4)"};
  return types;
}

OpSchema Build(const char* name, const std::vector<Operand>& operands,
               const char* result, const std::vector<AttributeRow>& attributes,
               onnx::InferenceFunction infer) {
  OpSchema schema(name, "", 0);
  schema.SetDomain("com.microsoft").SinceVersion(1);
  int index = 0;
  for (const Operand& operand : operands) {
    schema.Input(index++, operand.name, "", operand.type,
                 operand.presence == Presence::kNeeded ? OpSchema::Single
                                                       : OpSchema::Optional);
  }
  schema.Output(0, "y", "", result);
  for (const AttributeRow& attribute : attributes) {
    schema.Attr(attribute.name, "", attribute.type, attribute.required);
  }
  schema.TypeAndShapeInferenceFunction(std::move(infer));
  return schema;
}

// Declares the type variables that `schema` uses: T codes, B codes of another
// operand, Y codes or floats, S scales, X floats, I codes and accumulators.
void Declare(OpSchema* schema, const std::string& variables) {
  std::vector<std::string> any = Code();
  any.insert(any.end(), Float().begin(), Float().end());
  std::vector<std::string> codes = Code();
  codes.push_back("tensor(int32)");
  for (char variable : variables) {
    const std::string name(1, variable);
    switch (variable) {
      case 'S':
      case 'X':
        schema->TypeConstraint(name, Float(), "");
        break;
      case 'Y':
        schema->TypeConstraint(name, any, "");
        break;
      case 'I':
        schema->TypeConstraint(name, codes, "");
        break;
      case 'C':
        schema->TypeConstraint(name, {"tensor(int32)"}, "");
        break;
      default:
        schema->TypeConstraint(name, Code(), "");
    }
  }
  schema->Finalize();
}

constexpr auto kOptional = Presence::kOptional;

OpSchema QuantizeSchema() {
  OpSchema schema = Build(
      "QuantizeLinear",
      {{"x", "X"}, {"y_scale", "S"}, {"y_zero_point", "T", kOptional}}, "T",
      {{"axis", AttributeProto::INT}, {"block_size", AttributeProto::INT}},
      InferQuantize);
  Declare(&schema, "XST");
  return schema;
}

OpSchema DequantizeSchema() {
  OpSchema schema = Build(
      "DequantizeLinear",
      {{"x", "I"}, {"x_scale", "S"}, {"x_zero_point", "I", kOptional}}, "S",
      {{"axis", AttributeProto::INT}, {"block_size", AttributeProto::INT}},
      InferDequantize);
  Declare(&schema, "IS");
  return schema;
}

OpSchema BinarySchema(const char* name) {
  OpSchema schema = Build(name,
                          {{"A", "T"},
                           {"A_scale", "S"},
                           {"A_zero_point", "T", kOptional},
                           {"B", "T"},
                           {"B_scale", "S"},
                           {"B_zero_point", "T", kOptional},
                           {"C_scale", "S"},
                           {"C_zero_point", "T", kOptional}},
                          "T", {}, InferBinary);
  Declare(&schema, "TS");
  return schema;
}

// One tensor in, one out: the operands that pools and Softmax share.
OpSchema UnarySchema(const char* name, bool last_needed,
                     const std::vector<AttributeRow>& attributes,
                     onnx::InferenceFunction infer) {
  const Presence last = last_needed ? Presence::kNeeded : kOptional;
  OpSchema schema = Build(name,
                          {{"X", "T"},
                           {"x_scale", "S"},
                           {"x_zero_point", "T", kOptional},
                           {"y_scale", "S"},
                           {"y_zero_point", "T", last}},
                          "T", attributes, std::move(infer));
  Declare(&schema, "TS");
  return schema;
}

OpSchema AveragePoolSchema() {
  return UnarySchema("QLinearAveragePool", false,
                     {{"auto_pad", AttributeProto::STRING},
                      {"ceil_mode", AttributeProto::INT},
                      {"channels_last", AttributeProto::INT},
                      {"count_include_pad", AttributeProto::INT},
                      {"kernel_shape", AttributeProto::INTS, true},
                      {"pads", AttributeProto::INTS},
                      {"strides", AttributeProto::INTS}},
                     InferAveragePool);
}

OpSchema GemmSchema() {
  OpSchema schema = Build("QGemm",
                          {{"A", "T"},
                           {"a_scale", "S"},
                           {"a_zero_point", "T"},
                           {"B", "B"},
                           {"b_scale", "S"},
                           {"b_zero_point", "B"},
                           {"C", "C", kOptional},
                           {"y_scale", "S", kOptional},
                           {"y_zero_point", "Z", kOptional}},
                          "Y",
                          {{"alpha", AttributeProto::FLOAT},
                           {"transA", AttributeProto::INT},
                           {"transB", AttributeProto::INT}},
                          InferGemm);
  Declare(&schema, "TSBCZY");
  return schema;
}

OpSchema ConcatSchema() {
  OpSchema schema("QLinearConcat", "", 0);
  schema.SetDomain("com.microsoft")
      .SinceVersion(1)
      .Input(0, "Y_scale", "", "S")
      .Input(1, "Y_zero_point", "", "T")
      .Input(2, "inputs", "", "V", OpSchema::Variadic, false)
      .Output(0, "Y", "", "T")
      .Attr("axis", "", AttributeProto::INT, true)
      .TypeConstraint("V", {"tensor(int8)", "tensor(uint8)", "tensor(float)"},
                      "")
      .TypeAndShapeInferenceFunction(InferConcat);
  Declare(&schema, "ST");
  return schema;
}

// QONNX writes parameters in any type; its results are real as their input.
OpSchema QonnxSchema(const char* name, const std::vector<Operand>& parameters) {
  std::vector<Operand> operands = {{"X", "T"}};
  operands.insert(operands.end(), parameters.begin(), parameters.end());
  OpSchema schema = Build(name, operands, "T",
                          {{"narrow", AttributeProto::INT},
                           {"rounding_mode", AttributeProto::STRING},
                           {"signed", AttributeProto::INT}},
                          InferSameAsFirst);
  schema.SetDomain(std::string(kQonnxDomain));
  std::vector<std::string> real = Float();
  real.emplace_back("tensor(double)");
  schema.TypeConstraint("T", real, "");
  for (int i = 1; i < static_cast<int>(operands.size()); ++i) {
    std::vector<std::string> any = real;
    for (const char* type : {"tensor(int8)", "tensor(uint8)", "tensor(int16)",
                             "tensor(int32)", "tensor(int64)"}) {
      any.emplace_back(type);
    }
    schema.TypeConstraint(operands[i].type, any, "");
  }
  schema.Finalize();
  return schema;
}

}  // namespace

std::vector<OpSchema> QonnxSchemas() {
  return {
      QonnxSchema("BipolarQuant", {{"scale", "A"}}),
      QonnxSchema("IntQuant",
                  {{"scale", "A"}, {"zero_point", "B"}, {"bit_width", "C"}}),
      QonnxSchema("Quant",
                  {{"scale", "A"}, {"zero_point", "B"}, {"bit_width", "C"}}),
      QonnxSchema("Trunc", {{"scale", "A"},
                            {"zero_point", "B"},
                            {"in_bit_width", "C"},
                            {"out_scale_or_bit_width", "D"},
                            {"out_bit_width", "E", kOptional}})};
}

std::vector<OpSchema> MicrosoftSchemas() {
  return {DequantizeSchema(),
          GemmSchema(),
          BinarySchema("QLinearAdd"),
          AveragePoolSchema(),
          ConcatSchema(),
          UnarySchema("QLinearGlobalAveragePool", true,
                      {{"channels_last", AttributeProto::INT}},
                      InferGlobalAveragePool),
          BinarySchema("QLinearMul"),
          UnarySchema("QLinearSoftmax", true,
                      {{"axis", AttributeProto::INT},
                       {"opset", AttributeProto::INT, true}},
                      InferSameAsFirst),
          QuantizeSchema()};
}

}  // namespace fold::importer
