// The whole ONNX file as values: every name with its meaning.
#ifndef COMPILER_CHECK_NETWORK_H_
#define COMPILER_CHECK_NETWORK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/check/onnx_file.h"
#include "compiler/check/root.h"

namespace fold::check {

// Sizes for inputs whose shapes are symbolic.
using InputShapes = std::map<std::string, std::vector<int64_t>>;

class Network {
 public:
  // False with a reason if the bytes are no model or an input has no shape.
  bool Load(std::span<const uint8_t> bytes, const InputShapes& shapes,
            std::string* why);

  // Null if the file has no such value.
  const Value* Find(const std::string& name) const;
  const Roots& roots() const { return roots_; }
  // Values that a node (by NodeName) defines; empty if there is none.
  std::vector<std::string> OutputsOf(const std::string& node) const;
  // Real operands of a QLinear operator that has no exact form here: they
  // have no names in the file.
  std::vector<Value> OperandsOf(const std::string& node) const;
  const std::vector<std::string>& outputs() const { return outputs_; }

 private:
  bool AddInputs(const onnx::GraphProto& graph, const InputShapes& shapes,
                 std::string* why);

  Roots roots_;
  std::unordered_map<std::string, Value> values_;
  std::unordered_map<std::string, std::vector<std::string>> nodes_;
  std::unordered_map<std::string, std::vector<Value>> operands_;
  std::vector<std::string> outputs_;
};

}  // namespace fold::check

#endif  // COMPILER_CHECK_NETWORK_H_
