// What the parts of lowering share: the program under construction, and where
// the values of the graph are in it.
#ifndef FOLD_COMPILER_LOWER_LOWERING_H_
#define FOLD_COMPILER_LOWER_LOWERING_H_

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lower/layout.h"
#include "compiler/lower/lower.h"

namespace fold {

// A tensor of the program that holds a value in some layout.
struct Held {
  int tensor = -1;
  Perm perm;
};

class Lowering {
 public:
  Lowering(const Graph& graph, const TargetDescriptor& target,
           const LowerOptions& options, Program* program, Diagnostics* sink)
      : graph(graph),
        target(target),
        options(options),
        program(*program),
        sink(*sink) {}

  const Graph& graph;
  const TargetDescriptor& target;
  const LowerOptions& options;
  Program& program;
  Diagnostics& sink;

  const TensorType& type(ValueId id) const { return graph.value(id).type; }

  // Adds a tensor in the arena. `shape` is physical.
  int AddTensor(const std::string& name, format_::ElementType type,
                const Shape& shape);
  // A tensor that holds the graph's value `id` as integer codes, or as doubles
  // if it is real, in layout `perm`; remembered as a place of the value.
  int AddValue(ValueId id, const Perm& perm);
  // Remembers that `tensor` holds `id` in layout `perm`.
  void Hold(ValueId id, int tensor, Perm perm);
  // A constant tensor; equal bytes are stored once.
  int AddConstant(const std::string& name, format_::ElementType type,
                  const Shape& shape, std::span<const uint8_t> bytes);
  template <typename T>
  int AddConstantOf(const std::string& name, format_::ElementType type,
                    const Shape& shape, const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    return AddConstant(name, type, shape, {bytes, values.size() * sizeof(T)});
  }
  // The same bytes under another shape; no op.
  int Alias(int tensor, const std::string& name, const Shape& shape);

  // The tensor that holds `id` in layout `perm`, made by a TRANSPOSE if the
  // value lies otherwise. Real values are doubles in logical order.
  int Want(ValueId id, const Perm& perm);
  // The layout in which `id` lies already, the identity if it does not.
  Perm LayoutOf(ValueId id) const;
  // The layout that the users of `id` would like it in.
  Perm PreferredLayout(ValueId id) const;
  bool IsHeld(ValueId id) const { return held_.count(id.index) > 0; }

  // The real result of an integer op: int32 accumulators, whose tensor's
  // quantization (scales, offsets) says what they stand for.
  void HoldAccumulators(ValueId id, int tensor, Perm perm) {
    accumulators_[id.index] = {tensor, std::move(perm)};
  }
  const Held* AccumulatorsOf(ValueId id) const {
    const auto at = accumulators_.find(id.index);
    return at == accumulators_.end() ? nullptr : &at->second;
  }
  // The caller's buffer of a float input.
  void HoldInput(ValueId id, int tensor) { inputs_[id.index] = tensor; }
  int InputOf(ValueId id) const {
    const auto at = inputs_.find(id.index);
    return at == inputs_.end() ? -1 : at->second;
  }
  // Nodes that the signature has taken over.
  std::set<NodeId> done;

  // Converts `from`, which lies as `perm`, to float numbers in ONNX order.
  format_::OpT& AddDequantize(NodeId node, const Held& from,
                              const format_::QuantizationT& logical, int to);

  // Appends an op for `node`; its kind must be on the target. Returns it.
  format_::OpT& AddOp(NodeId node, format_::Opcode opcode,
                      std::vector<int> inputs, std::vector<int> outputs);

  bool Error(DiagnosticCode code, NodeId node, const std::string& message);
  // Notes that `node` is evaluated in double; an error where the target has no
  // float islands.
  bool Island(NodeId node);

  const Shape& shape(int tensor) const {
    return program.artifact.tensors[tensor]->shape;
  }

 private:
  // Makes a real value of what it is known as; -1 if it is not known at all.
  int MakeReal(ValueId id);

  std::map<uint32_t, std::vector<Held>> held_;
  std::map<uint32_t, Held> accumulators_;
  std::map<uint32_t, int> inputs_;
  std::map<std::vector<uint8_t>, uint64_t> constants_;
};

// The parameters of an encoding as the artifact has them; `axis` stays logical.
format_::QuantizationT FormatQuantization(const Encoding& encoding);
// Element type of the artifact for a type of the graph.
format_::ElementType FormatType(ElementType type);
// Bytes of an element.
int64_t FormatSize(format_::ElementType type);
// The name that targets and reports know a kernel by: "conv", "f64_softmax".
std::string KernelName(format_::Opcode opcode);

// One function a group of operators; each returns false after an error.
bool LowerLinear(Lowering& lowering, NodeId node);      // linear.cc
bool LowerArithmetic(Lowering& lowering, NodeId node);  // arithmetic.cc
bool LowerTable(Lowering& lowering, NodeId node);       // table.cc
bool LowerAverage(Lowering& lowering, NodeId node);     // average.cc
bool LowerMovement(Lowering& lowering, NodeId node);    // movement.cc
bool LowerIsland(Lowering& lowering, NodeId node);      // island.cc
bool LowerInputs(Lowering& lowering);                   // boundary.cc
bool LowerConversion(Lowering& lowering, NodeId node);  // boundary.cc
bool LowerOutputs(Lowering& lowering);                  // boundary.cc

}  // namespace fold

#endif  // FOLD_COMPILER_LOWER_LOWERING_H_
