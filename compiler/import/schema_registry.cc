#include "compiler/import/schema_registry.h"

#include <algorithm>
#include <string_view>

#include "compiler/import/contrib_schemas.h"
#include "compiler/import/model_reader.h"
#include "compiler/ops/ops.h"

namespace fold::importer {
namespace {

// The operators of ai.onnx that ops.def has.
constexpr std::pair<const char*, const char*> kOperators[] = {
#define OP(id, mnemonic, domain, onnx_name, min, max, spec) {domain, onnx_name},
#include "compiler/ops/ops.def"
#undef OP
};

// Elements of a rank-1 or scalar operand; more than any bound if not known.
int64_t Length(const onnx::TypeProto* type) {
  if (type == nullptr || !type->tensor_type().has_shape()) return INT32_MAX;
  const auto& shape = type->tensor_type().shape();
  if (shape.dim_size() == 0) return 1;
  const int64_t length = shape.dim(0).dim_value();
  return length < 0 || length > INT32_MAX ? INT32_MAX : length;
}

void BoundPropagation(onnx::OpSchema* schema) {
  if (!schema->has_data_propagation_function()) return;
  schema->PartialDataPropagationFunction(
      [propagate = schema->GetDataPropagationFunction()](
          onnx::DataPropagationContext& context) {
        int64_t length = 0;
        for (size_t i = 0; i < context.getNumInputs(); ++i) {
          length += Length(context.getInputType(i));
        }
        if (length <= kLongestPropagated) propagate(context);
      });
}

// Operators whose older versions find shapes from known integers as little as
// onnx knew to then; what they compute from them has not changed.
constexpr std::string_view kPropagating[] = {"Add",     "Cast", "Concat",
                                             "Gather",  "Mul",  "Shape",
                                             "Squeeze", "Sub",  "Unsqueeze"};

void TakeFromNewest(const std::string& name, const onnx::OpSchema& newest,
                    onnx::OpSchema* schema) {
  if (name == "Reshape") {
    schema->TypeAndShapeInferenceFunction(
        newest.GetTypeAndShapeInferenceFunction());
  }
  if (std::find(std::begin(kPropagating), std::end(kPropagating), name) !=
          std::end(kPropagating) &&
      !schema->has_data_propagation_function()) {
    schema->PartialDataPropagationFunction(newest.GetDataPropagationFunction());
  }
}

void BoundRank(onnx::OpSchema* schema) {
  if (!schema->has_type_and_shape_inference_function()) return;
  schema->TypeAndShapeInferenceFunction(
      [infer = schema->GetTypeAndShapeInferenceFunction()](
          onnx::InferenceContext& context) {
        infer(context);
        for (size_t i = 0; i < context.getNumOutputs(); ++i) {
          const onnx::TypeProto* type = context.getOutputType(i);
          if (type->tensor_type().shape().dim_size() > kHighestRank) {
            fail_shape_inference("the result's rank is above ", kHighestRank);
          }
        }
      });
}

}  // namespace

SchemaRegistry::SchemaRegistry() {
  for (const auto& schemas : {MicrosoftSchemas(), QonnxSchemas()}) {
    for (const onnx::OpSchema& schema : schemas) {
      contrib_.emplace(std::pair(schema.domain(), schema.Name()), schema);
    }
  }
  for (const auto& [domain, name] : kOperators) {
    if (domain != std::string()) continue;
    int version = kNewestOnnxOpset;
    while (version > 0) {
      const onnx::OpSchema* found =
          onnx::OpSchemaRegistry::Schema(name, version, "");
      if (found == nullptr) break;
      onnx::OpSchema schema = *found;
      TakeFromNewest(
          name, *onnx::OpSchemaRegistry::Schema(name, kNewestOnnxOpset, ""),
          &schema);
      BoundPropagation(&schema);
      BoundRank(&schema);
      version = schema.SinceVersion() - 1;
      onnx_.emplace(std::pair(name, schema.SinceVersion()), std::move(schema));
    }
  }
}

const SchemaRegistry& SchemaRegistry::Instance() {
  static const SchemaRegistry registry;
  return registry;
}

const onnx::OpSchema* SchemaRegistry::GetSchema(
    const std::string& name, int version, const std::string& domain) const {
  if (!domain.empty()) {
    const auto at = contrib_.find(
        {IsQonnxDomain(domain) ? std::string(kQonnxDomain) : domain, name});
    return at == contrib_.end() ? nullptr : &at->second;
  }
  // The last one whose first version is not above `version`.
  auto at = onnx_.upper_bound({name, version});
  if (at == onnx_.begin()) return nullptr;
  --at;
  return at->first.first == name ? &at->second : nullptr;
}

}  // namespace fold::importer
