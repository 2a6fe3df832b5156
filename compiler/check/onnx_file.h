// Bare access to an ONNX file: parsing, constants, attributes. Nothing is
// inferred or rewritten here.
#ifndef COMPILER_CHECK_ONNX_FILE_H_
#define COMPILER_CHECK_ONNX_FILE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/check/value.h"
#include "onnx/onnx_pb.h"

namespace fold::check {

bool ParseModel(std::span<const uint8_t> bytes, onnx::ModelProto* model);

// A stored tensor as a constant value; unknown with a reason otherwise.
Value ReadTensor(const onnx::TensorProto& tensor);

// Name of a node as artifacts list it: its own, or "OpType->first output".
std::string NodeName(const onnx::NodeProto& node);

// Lowest and highest code of an integer element type.
std::optional<std::pair<int64_t, int64_t>> CodeRange(int element_type);
bool IsFloat(int element_type);

// Attributes of one node, with defaults.
class Attributes {
 public:
  explicit Attributes(const onnx::NodeProto& node) : node_(node) {}
  const onnx::AttributeProto* Find(const std::string& name) const;
  int64_t Int(const std::string& name, int64_t otherwise) const;
  double Float(const std::string& name, double otherwise) const;
  std::string Text(const std::string& name) const;
  std::vector<int64_t> Ints(const std::string& name,
                            std::vector<int64_t> otherwise = {}) const;

 private:
  const onnx::NodeProto& node_;
};

}  // namespace fold::check

#endif  // COMPILER_CHECK_ONNX_FILE_H_
