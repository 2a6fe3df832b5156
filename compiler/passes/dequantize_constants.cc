// A constant behind a DequantizeLinear that an elementwise operator reads is
// the real numbers that its codes stand for: Mul, Div, Add and Sub by one
// number or one along a dimension, bounds of a Clip, parameters of a
// BatchNormalization. Matrices keep their codes, and so do whole tensors, which
// go into integer sums and products as they are.
#include <algorithm>
#include <set>

#include "compiler/passes/dequantized.h"
#include "compiler/passes/pass.h"

namespace fold::passes {
namespace {

constexpr char kRule[] = "dequantize_constants";

// At most one dimension is larger than 1.
bool IsLine(const Shape& shape) {
  return std::count_if(shape.begin(), shape.end(),
                       [](int64_t size) { return size != 1; }) <= 1;
}

// The real numbers of operand `at`, null if they are not to be written out.
TensorPtr NumbersOf(const Graph& graph, const Node& node, size_t at) {
  const ValueId real = node.operands[at];
  const auto encoding = IntegerRewrite::EncodingOfReal(graph, real);
  if (!encoding) return nullptr;
  const ValueId codes = ProducerOf(graph, real)->operands[0];
  if (!graph.IsConstant(codes) || encoding->block > 0) return nullptr;
  const Tensor& tensor = *graph.value(codes).constant;
  if (ElementSize(tensor.type) > 2 || !IsLine(tensor.shape)) return nullptr;
  return MakeRealTensor(ElementType::f64, tensor.shape,
                        RealNumbersOf(tensor, *encoding));
}

// Operands of `node` that may be real constants: from .. to.
std::pair<size_t, size_t> Parameters(const Node& node) {
  switch (OpOf(node)) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv:
      return {0, 2};
    case Op::kClip:
    case Op::kBatchNormalization:
      return {1, node.operands.size()};
    default:
      return {0, 0};
  }
}

// Nothing of `node` is computed at run time: that is left to fold_constants,
// which keeps codes.
bool AllConstant(const Graph& graph, const Node& node) {
  return std::all_of(
      node.operands.begin(), node.operands.end(), [&](ValueId id) {
        if (!id.valid() || graph.IsConstant(id)) return true;
        const Node* dequantize = ProducerOf(graph, id, Op::kDequantizeLinear);
        return dequantize && graph.IsConstant(dequantize->operands[0]);
      });
}

class Unwrapping {
 public:
  Unwrapping(Rewriter& rewriter, NodeId id)
      : rewriter_(rewriter), id_(id), node_(rewriter.graph().node(id)) {}

  bool Run() {
    const auto [first, last] = Parameters(node_);
    for (size_t at = first; at < last; ++at) {
      if (!node_.operands[at].valid()) continue;
      const TensorPtr numbers = NumbersOf(rewriter_.graph(), node_, at);
      if (numbers) Unwrap(at, numbers);
    }
    if (!any_) return false;
    const Value old = rewriter_.graph().value(node_.results[0]);
    const ValueId result = rewriter_.Declare(old.name, old.type);
    proposal_.sheet.rule = kRule;
    proposal_.sheet.results = {{node_.results[0], result}};
    proposal_.removed.push_back(id_);
    node_.results = {result};
    proposal_.added = {node_};
    SayNamesLost(proposal_, rewriter_.graph());
    return rewriter_.Apply(std::move(proposal_));
  }

 private:
  void Unwrap(size_t at, const TensorPtr& numbers) {
    const Graph& graph = rewriter_.graph();
    const ValueId real = node_.operands[at];
    const Node dequantize = *ProducerOf(graph, real);
    const NodeId producer = graph.value(real).producer;
    const std::string name = graph.value(real).name + "_numbers";
    const ValueId constant = rewriter_.Declare(
        name, {ElementType::f64, numbers->shape, std::nullopt}, numbers);
    node_.operands[at] = constant;
    node_.provenance.Merge(dequantize.provenance);
    any_ = true;
    MigrationSheet& sheet = proposal_.sheet;
    for (ValueId from : dequantize.operands) {
      if (from.valid() && graph.IsConstant(from) && said_.insert(from).second) {
        SayNumbers(sheet, from, constant, real);
      }
    }
    // Whoever else reads the numbers keeps the codes.
    const std::vector<NodeId> users = graph.UsersOf(real);
    if (users.size() > 1 || graph.IsOutput(real) ||
        std::count(proposal_.removed.begin(), proposal_.removed.end(),
                   producer) > 0) {
      return;
    }
    proposal_.removed.push_back(producer);
    const ValueId codes = dequantize.operands[0];
    const auto& encoding = graph.value(codes).type.encoding;
    if (encoding) {
      sheet.encodings.push_back({codes, constant,
                                 EncodingMove::Destination::kNumbers,
                                 encoding->axis, -1});
    }
  }

  // `from` is in the numbers that the DequantizeLinear gives as `real`.
  static void SayNumbers(MigrationSheet& sheet, ValueId from, ValueId constant,
                         ValueId real) {
    ConstantMove move = {from, constant, ConstantMove::Kind::kTransformed,
                         "the numbers that the codes stand for"};
    move.how = {{Derivation::Kind::kNamed}};
    move.verify = [=](const Graph& graph, const ConstantMove&) -> std::string {
      const auto encoding = IntegerRewrite::EncodingOfReal(graph, real);
      if (!encoding) return "is behind no DequantizeLinear";
      const ValueId codes = ProducerOf(graph, real)->operands[0];
      const Tensor& numbers = *graph.value(constant).constant;
      const auto expected =
          RealNumbersOf(*graph.value(codes).constant, *encoding);
      for (int64_t i = 0; i < numbers.size(); ++i) {
        if (numbers.real(i) != expected[i]) return "stands for other numbers";
      }
      return "";
    };
    sheet.constants.push_back(std::move(move));
  }

  Rewriter& rewriter_;
  NodeId id_;
  Node node_;
  Proposal proposal_;
  std::set<ValueId> said_;
  bool any_ = false;
};

}  // namespace

bool dequantize_constants(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Node& node = rewriter.graph().node(id);
    if (node.erased || !node.steps.empty() || node.results.size() != 1 ||
        AllConstant(rewriter.graph(), node)) {
      continue;
    }
    changed |= Unwrapping(rewriter, id).Run();
  }
  return changed;
}

}  // namespace fold::passes
