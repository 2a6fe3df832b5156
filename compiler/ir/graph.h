// The graph: values, nodes and immutable constants, addressed by ids. Passes
// read it freely and change it only through a Rewriter (rewriter.h).
#ifndef FOLD_COMPILER_IR_GRAPH_H_
#define FOLD_COMPILER_IR_GRAPH_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/base/ids.h"
#include "compiler/base/provenance.h"
#include "compiler/ir/stage.h"
#include "compiler/ir/type.h"

namespace fold {

// Index into the operator table (compiler/ops/ops.def). The graph itself knows
// no operator by name.
enum class OpId : uint16_t {};

using Attribute =
    std::variant<int64_t, double, std::string, std::vector<int64_t>,
                 std::vector<double>, std::vector<std::string>, TensorPtr>;
using AttributeMap = std::map<std::string, Attribute>;

// One real-valued step that a node applies to its result, in order, before the
// quantization of its result type. Operand numbers index Node::operands.
struct Step {
  enum class Kind : uint8_t {
    kMultiply,    // by constant operand 0
    kDivide,      // by constant operand 0
    kAdd,         // constant operand 0
    kBatchNorm,   // operands scale, bias, mean, variance; `epsilon`
    kClip,        // to [low, high]; Relu is low = 0, high = +infinity
    kReciprocal,  // constant operand 0 divided by it; only of a Requantize
  };
  Kind kind;
  std::vector<uint32_t> operands;
  double low = 0, high = 0;  // kClip
  double epsilon = 0;        // kBatchNorm
  friend bool operator==(const Step&, const Step&) = default;
};
// "multiply", "divide", "add", "batch_norm", "clip", "reciprocal".
std::string_view StepKindName(Step::Kind kind);

struct Value {
  std::string name;  // the ONNX tensor's name, or one derived from it; unique
  TensorType type;
  NodeId producer;     // invalid for inputs and constants
  TensorPtr constant;  // set for constants alone
  // Further ONNX tensor names that this value stands for: equal in type and in
  // every element.
  std::vector<std::string> aliases;
  // The name that it was made with. No other value of the graph was ever made
  // with it, whatever became of names since.
  std::string first_name;
};

struct Node {
  OpId op{};
  std::string name;               // the ONNX node's name; may be empty
  std::vector<ValueId> operands;  // an absent optional operand is invalid
  std::vector<ValueId> results;
  AttributeMap attributes;
  std::vector<Step> steps;
  Provenance provenance;
  bool erased = false;

  // Attribute `key` if present with this type, else `otherwise`.
  template <typename T>
  T attribute(const std::string& key, T otherwise) const {
    auto at = attributes.find(key);
    if (at == attributes.end()) return otherwise;
    const T* value = std::get_if<T>(&at->second);
    return value ? *value : otherwise;
  }
};

class Graph {
 public:
  std::string name;
  Stage stage = Stage::imported;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  // External names of the outputs, one each: a value may be an output twice.
  std::vector<std::string> output_names;

  // Adds a value; `name` is made unique with a numbered suffix if taken.
  ValueId AddValue(std::string name, TensorType type);
  ValueId AddConstant(std::string name, TensorPtr tensor,
                      std::optional<Encoding> encoding = std::nullopt);
  // Adds a node at the end of the order; its results must be fresh values.
  NodeId AddNode(Node node);
  // Same, in front of `before` in the order.
  NodeId InsertNode(Node node, NodeId before);

  const Value& value(ValueId id) const { return values_[id.index]; }
  const Node& node(NodeId id) const { return nodes_[id.index]; }
  // For importer, annotate and rewriter: everybody else goes through Rewriter.
  // Operands change through SetOperands and ReplaceUses alone.
  Value& mutable_value(ValueId id) { return values_[id.index]; }
  Node& mutable_node(NodeId id) { return nodes_[id.index]; }
  void EraseNode(NodeId id);
  void SetOperands(NodeId id, std::vector<ValueId> operands);
  // Takes back the values from number `count` on, which nothing makes or reads.
  void DropValues(size_t count);
  // Whatever reads `from`, outputs included, reads `to`.
  void ReplaceUses(ValueId from, ValueId to);
  // Gives `a` the name of `b` and the other way round.
  void SwapNames(ValueId a, ValueId b);
  // Puts the live nodes into a topological order that changes the present one
  // as little as possible. Returns false if there is a cycle.
  bool SortNodes();
  // Both live; `a` comes before `b` in the order.
  bool Precedes(NodeId a, NodeId b) const {
    return places_[a.index].label < places_[b.index].label;
  }

  // Live nodes in a topological order (operands before users).
  const std::vector<NodeId>& order() const;
  size_t value_count() const { return values_.size(); }
  size_t node_count() const { return live_; }

  // Live nodes that read `id`, in order, each once.
  std::vector<NodeId> UsersOf(ValueId id) const;
  bool IsOutput(ValueId id) const;
  bool IsConstant(ValueId id) const {
    return id.valid() && values_[id.index].constant != nullptr;
  }
  // The only use of `id` is one operand of one node, and it is no output.
  bool HasSingleUse(ValueId id) const;
  ValueId FindValue(const std::string& name) const;  // invalid if none

 private:
  // A node's place in the order: a list, with labels that ascend along it.
  struct Place {
    NodeId previous, next;
    int64_t label = 0;
  };
  void Link(NodeId id, NodeId before);
  void Relabel();

  std::vector<Value> values_;
  std::vector<Node> nodes_;
  std::vector<Place> places_;
  NodeId first_, last_;
  size_t live_ = 0;
  // For each value the nodes that read it, once per operand place.
  std::vector<std::vector<NodeId>> uses_;
  std::map<std::string, ValueId> names_;
  mutable std::vector<NodeId> order_;  // of the list, when it is asked for
  mutable bool order_known_ = true;
};

// Element `type` f32 of a value that no boundary or island stores stands for a
// real number: it has no rounding of its own (design.md section 2).

// Structure: ids in range, names unique, order topological, every operand
// defined before use, results produced once. Returns "" or what is broken.
std::string CheckStructure(const Graph& graph);

}  // namespace fold

#endif  // FOLD_COMPILER_IR_GRAPH_H_
