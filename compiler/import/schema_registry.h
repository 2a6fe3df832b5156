// The operator schemas that the onnx library's checker and shape inference
// work with: onnx's own for the operators of ops.def, bounded; and those of
// com.microsoft and QONNX, which onnx does not know.
#ifndef FOLD_COMPILER_IMPORT_SCHEMA_REGISTRY_H_
#define FOLD_COMPILER_IMPORT_SCHEMA_REGISTRY_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "onnx/defs/schema.h"

namespace fold::importer {

// To find shapes, onnx propagates the values of small integer tensors, one
// message per element, without looking at how many there are. Here it does not
// where the operands have more elements than this together.
constexpr int64_t kLongestPropagated = 64;
// Shape inference fails for results of a higher rank.
constexpr int kHighestRank = 64;

class SchemaRegistry final : public onnx::ISchemaRegistry {
 public:
  // The one registry; built on first use, thread-safe.
  static const SchemaRegistry& Instance();

  // The schema of an operator of ops.def; null if there is none of this name
  // in `domain` ("" is ai.onnx; QONNX's under any of its names) at `version`.
  const onnx::OpSchema* GetSchema(const std::string& name, int version,
                                  const std::string& domain) const override;

 private:
  SchemaRegistry();

  // com.microsoft's and QONNX's, by domain and name.
  std::map<std::pair<std::string, std::string>, onnx::OpSchema> contrib_;
  // ai.onnx's, by name and first version.
  std::map<std::pair<std::string, int>, onnx::OpSchema> onnx_;
};

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_SCHEMA_REGISTRY_H_
