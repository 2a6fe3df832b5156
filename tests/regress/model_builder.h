// Builds ONNX models node by node; every name that it gives is new.
#ifndef FOLD_TESTS_REGRESS_MODEL_BUILDER_H_
#define FOLD_TESTS_REGRESS_MODEL_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tests/regress/ideal.h"

namespace fold::regress {

class ModelBuilder {
 public:
  // Opset 17; version 1 of the other domains that nodes are from.
  explicit ModelBuilder(const std::string& name);

  onnx::GraphProto* graph() { return model_.mutable_graph(); }
  const onnx::ModelProto& model() const { return model_; }

  std::string Name(const std::string& stem) {
    return stem + std::to_string(++names_);
  }
  // A node with one result; `op` may be "com.microsoft.QGemm".
  onnx::NodeProto* AddNode(const std::string& op,
                           const std::vector<std::string>& inputs);
  // Initializers; their names.
  std::string Floats(const std::string& stem, const Shape& shape,
                     const std::vector<float>& values);
  std::string Integers(const std::string& stem, int32_t type,
                       const Shape& shape, const std::vector<int64_t>& values);
  void AddInput(const std::string& name, int32_t type, const Shape& shape);
  void AddOutput(const std::string& name, int32_t type, const Shape& shape);

  static void Set(onnx::NodeProto* node, const std::string& key, int64_t value);
  static void Set(onnx::NodeProto* node, const std::string& key,
                  const std::vector<int64_t>& values);

 private:
  void UseDomain(const std::string& domain, onnx::NodeProto* node);

  onnx::ModelProto model_;
  int names_ = 0;
};

}  // namespace fold::regress

#endif  // FOLD_TESTS_REGRESS_MODEL_BUILDER_H_
