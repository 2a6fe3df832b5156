// A product with a constant on its left becomes the transpose of one with it on
// its right, for a target whose product wants its constant there: its op row
// lists operand 1 as one that must be constant. A target that takes a constant
// on either side reads the layout as it is and gets no transpositions. Only
// once quantizations are bound: the scales' axis moves with the data.
#include <algorithm>

#include "compiler/passes/constant_product.h"
#include "compiler/passes/dequantized.h"
#include "compiler/passes/pass.h"

namespace fold::passes {
namespace {

constexpr char kRule[] = "constants_to_right";

// What the transpositions move at run time, bytes of codes: nothing where they
// meet another transposition or a dimension of 1, and what a product in double
// would read and write instead.
struct Cost {
  int64_t value = 0, result = 0, in_double = 0;
  int64_t moved() const { return value + result; }
};

bool IsTransposed(const Graph& graph, ValueId id) {
  return ProducerOf(graph, id, Op::kTranspose) != nullptr;
}

bool IsTransposedNext(const Graph& graph, ValueId id) {
  if (!graph.HasSingleUse(id)) return false;
  return OpOf(graph.node(graph.UsersOf(id).front())) == Op::kTranspose;
}

Cost CostOf(const Graph& graph, const Node& product, const LeftProduct& left,
            const RightProduct& right) {
  constexpr int64_t kDouble = 8;
  Cost cost;
  const int64_t value = ElementCount(left.value);
  const int64_t result = ElementCount(right.result);
  const auto moves = [](const Shape& shape, bool transposed) {
    const size_t rank = shape.size();
    return transposed && shape[rank - 1] != 1 && shape[rank - 2] != 1;
  };
  if (moves(left.value, !right.value_permutation.empty()) &&
      !IsTransposed(graph, product.operands[1])) {
    cost.value = value;
  }
  if (moves(right.product, !right.product_permutation.empty()) &&
      !IsTransposedNext(graph, product.results[0])) {
    cost.result = result;
  }
  cost.in_double = kDouble * (value + result + right.constant->size());
  return cost;
}

// The constant and its DequantizeLinear.
struct LeftConstant {
  ValueId codes;
  NodeId dequantize;
  Encoding encoding;
};

// Why no integers come to `real`, at once or through operators that move
// elements, which let a DequantizeLinear pass; "" if they do.
std::string ValueFault(const Graph& graph, ValueId real) {
  for (const Node* node = ProducerOf(graph, real);
       node && MovesElements(OpOf(*node)); node = ProducerOf(graph, real)) {
    real = node->operands[0];
  }
  return InputFault(graph, real);
}

// Why the product with the constant on its right would be no integer op; "" if
// it would be one.
std::string RightFault(const Graph& graph, const Node& product,
                       const RightProduct& right) {
  const Encoding& e = *right.encoding;
  const size_t rank = right.constant->shape.size();
  if (ElementSize(right.constant->type) != 1) {
    return "the constant is not of 8 bits or less";
  }
  if (rank != 2) {
    return "the constant has " + std::to_string(rank) + " dimensions";
  }
  if (e.block > 0) return "the constant's scales are blocked";
  if (!e.per_tensor() && e.axis != 1) {
    return "the constant has a scale for each index of the reduction";
  }
  return ValueFault(graph, product.operands[1]);
}

class Turning {
 public:
  Turning(Rewriter& rewriter, NodeId id, const LeftConstant& constant)
      : rewriter_(rewriter),
        graph_(rewriter.graph()),
        id_(id),
        node_(graph_.node(id)),
        constant_(constant),
        left_{graph_.value(constant.codes).type.shape,
              graph_.value(node_.operands[1]).type.shape},
        right_(TurnProduct(left_, *graph_.value(constant.codes).constant,
                           constant.encoding)) {}

  bool Run(const TargetOp& row) {
    const std::string fault = Fault();
    if (!fault.empty()) return Refuse(fault);
    const Cost cost = CostOf(graph_, node_, left_, right_);
    const std::string moved = std::to_string(cost.value) +
                              " bytes of the operand and " +
                              std::to_string(cost.result) + " of the result";
    const bool wanted = std::count(row.constant_operands.begin(),
                                   row.constant_operands.end(), 1) > 0;
    if (!wanted) {
      return Refuse("the target reads the layout: a transposition would move " +
                    moved + ", reading it moves none");
    }
    if (cost.moved() > cost.in_double) {
      return Refuse("transpositions would move " + moved +
                    ", more than a product in double reads and writes: " +
                    std::to_string(cost.in_double));
    }
    proposal_.sheet.decision = "transpositions move " + moved +
                               "; with its constant on the left it would be a "
                               "product in double, of " +
                               std::to_string(cost.in_double) + " bytes";
    return Apply();
  }

 private:
  bool Refuse(const std::string& reason) {
    rewriter_.Refuse(kRule, id_, reason);
    return false;
  }

  // What is not proved, or would not help.
  std::string Fault() const {
    const Tensor& old = *graph_.value(constant_.codes).constant;
    std::string fault = DataFault(old, right_);
    if (fault.empty()) fault = ShapeFault(left_, right_);
    if (fault.empty()) {
      fault = EncodingFault(left_, constant_.encoding, right_);
    }
    if (fault.empty()) fault = IndexFault(left_, right_);
    if (fault.empty() &&
        right_.result != graph_.value(node_.results[0]).type.shape) {
      fault = "shape: the result is not that of the product";
    }
    return fault.empty() ? RightFault(graph_, node_, right_) : fault;
  }

  // A real value that a new node of the product's provenance makes.
  ValueId Add(Op op, std::vector<ValueId> operands, const std::string& suffix,
              const Shape& shape, AttributeMap attributes = {}) {
    TensorType type = graph_.value(node_.results[0]).type;
    type.shape = shape;
    const std::string name = graph_.value(node_.results[0]).name + suffix;
    Node node;
    node.op = ToId(op);
    node.name = op == Op::kMatMul ? node_.name : "";
    node.operands = std::move(operands);
    node.attributes = std::move(attributes);
    node.provenance = node_.provenance;
    node.results = {rewriter_.Declare(name, type)};
    proposal_.added.push_back(node);
    return node.results[0];
  }

  ValueId TransposedConstant() {
    const Node dequantize = graph_.node(constant_.dequantize);
    const std::string name = graph_.value(constant_.codes).name;
    const ValueId codes = rewriter_.Declare(
        name + "_transposed",
        {right_.constant->type, right_.constant->shape, right_.encoding},
        right_.constant);
    const bool last_reader = graph_.HasSingleUse(node_.operands[0]);
    if (last_reader) proposal_.removed.push_back(constant_.dequantize);
    MigrationSheet& sheet = proposal_.sheet;
    Derivation how = {Derivation::Kind::kReshaped};
    const size_t rank = left_.constant.size();
    if (rank > 1) {
      how = {Derivation::Kind::kPermuted, LastTwoExchanged(rank)};
    }
    SayTransformed(sheet, constant_.codes, codes, {how});
    sheet.encodings.push_back({constant_.codes, codes,
                               EncodingMove::Destination::kType,
                               constant_.encoding.axis, right_.encoding->axis});
    std::vector<ValueId> operands = dequantize.operands;
    operands[0] = codes;
    AttributeMap attributes = dequantize.attributes;
    if (right_.encoding->axis >= 0) {
      attributes["axis"] = static_cast<int64_t>(right_.encoding->axis);
    }
    const ValueId real =
        Add(Op::kDequantizeLinear, std::move(operands), "_constant",
            right_.constant->shape, std::move(attributes));
    proposal_.added.back().provenance = dequantize.provenance;
    proposal_.added.back().name = last_reader ? dequantize.name : "";
    return real;
  }

  bool Apply() {
    const ValueId old = node_.results[0];
    const ValueId constant = TransposedConstant();
    ValueId value = node_.operands[1];
    if (!right_.value_permutation.empty()) {
      value = Add(Op::kTranspose, {value}, "_operand", right_.value,
                  {{"perm", right_.value_permutation}});
    }
    const bool last =
        right_.product_permutation.empty() && right_.product == right_.result;
    ValueId result = Add(Op::kMatMul, {value, constant}, last ? "" : "_product",
                         right_.product);
    if (!right_.product_permutation.empty()) {
      result = Add(Op::kTranspose, {result}, "", right_.result,
                   {{"perm", right_.product_permutation}});
    } else if (!last) {
      const ValueId shape = rewriter_.Declare(
          graph_.value(old).name + "_shape",
          {ElementType::i64,
           {static_cast<int64_t>(right_.result.size())},
           std::nullopt},
          MakeIntegerTensor(ElementType::i64,
                            {static_cast<int64_t>(right_.result.size())},
                            right_.result));
      result = Add(Op::kReshape, {result, shape}, "", right_.result);
      SayMadeOf(proposal_.sheet, shape, {Slot::Kind::kShape}, result);
    }
    proposal_.removed.push_back(id_);
    proposal_.sheet.rule = kRule;
    proposal_.sheet.results = {{old, result}};
    SayNamesLost(proposal_, graph_);
    return rewriter_.Apply(std::move(proposal_));
  }

  Rewriter& rewriter_;
  const Graph& graph_;
  NodeId id_;
  Node node_;
  LeftConstant constant_;
  LeftProduct left_;
  RightProduct right_;
  Proposal proposal_;
};

// The quantized constant on the left of a product with a value on its right.
std::optional<LeftConstant> Find(const Graph& graph, const Node& node) {
  if (OpOf(node) != Op::kMatMul || !node.steps.empty()) return std::nullopt;
  const ValueId real = node.operands[0];
  const auto encoding = IntegerRewrite::EncodingOfReal(graph, real);
  if (!encoding) return std::nullopt;
  const ValueId codes = ProducerOf(graph, real)->operands[0];
  if (!graph.IsConstant(codes)) return std::nullopt;
  const Node* value = ProducerOf(graph, node.operands[1]);
  const bool constant = graph.IsConstant(node.operands[1]) ||
                        (value && OpOf(*value) == Op::kDequantizeLinear &&
                         graph.IsConstant(value->operands[0]));
  if (constant) return std::nullopt;
  return LeftConstant{codes, graph.value(real).producer, *encoding};
}

}  // namespace

bool constants_to_right(Rewriter& rewriter,
                        const PassEnvironment& environment) {
  const TargetOp* row =
      environment.target ? FindTargetOp(*environment.target, "fully_connected")
                         : nullptr;
  if (!row) return false;
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const auto constant = Find(rewriter.graph(), rewriter.graph().node(id));
    if (constant) changed |= Turning(rewriter, id, *constant).Run(*row);
  }
  return changed;
}

}  // namespace fold::passes
