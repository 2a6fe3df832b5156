#include "compiler/passes/dequantized.h"

#include <utility>

#include "compiler/annotate/annotate.h"
#include "compiler/passes/affine_tail.h"
#include "compiler/passes/recast.h"

namespace fold {
namespace {

// The dimension of a weight constant that its outputs run along.
int OutputAxis(const Node& node) {
  switch (OpOf(node)) {
    case Op::kGemm:
      return node.attribute<int64_t>("transB", 0) != 0 ? 0 : 1;
    case Op::kMatMul:
      return 1;
    default:
      return 0;
  }
}

// Why the weights of a linear node cannot be folded; "" if they can.
std::string WeightFault(const Graph& graph, const Node& node) {
  const ValueId w = node.operands[1];
  const auto encoding = IntegerRewrite::EncodingOfReal(graph, w);
  if (!encoding) return "the weights carry no quantization";
  const ValueId codes = ProducerOf(graph, w)->operands[0];
  if (!graph.IsConstant(codes)) return "the second operand is not constant";
  const TensorType& type = graph.value(codes).type;
  if (ElementSize(type.element) != 1) return "the weights are not 8-bit";
  if (OpOf(node) != Op::kConv && type.shape.size() != 2) {
    return "the constant matrix has " + std::to_string(type.shape.size()) +
           " dimensions";
  }
  if (encoding->block > 0) return "the weights' scales are blocked";
  if (!encoding->per_tensor() && encoding->axis != OutputAxis(node)) {
    return "the weights have a scale for each index of the reduction";
  }
  return "";
}

// Why a bias cannot be folded; "" if it can. A Gemm's C may vary along the
// rows: only one number a column is a bias.
std::string BiasFault(const Graph& graph, const Node& node) {
  ValueId c = OpOf(node) == Op::kMatMul ? ValueId() : OperandAt(node, 2);
  if (!c.valid()) return "";
  const Node* dequantize = ProducerOf(graph, c, Op::kDequantizeLinear);
  if (dequantize) c = dequantize->operands[0];
  if (!graph.IsConstant(c)) return "the bias is not constant";
  if (OpOf(node) == Op::kConv) return "";
  const Shape& shape = graph.value(node.results[0]).type.shape;
  return AsChannelVector(*graph.value(c).constant, shape, 1)
             ? ""
             : "the bias does not run along the columns";
}

// A float constant, or a constant behind a DequantizeLinear.
bool IsConstantOperand(const Graph& graph, ValueId id) {
  if (graph.IsConstant(id)) return true;
  const Node* dequantize = ProducerOf(graph, id, Op::kDequantizeLinear);
  return dequantize && graph.IsConstant(dequantize->operands[0]);
}

// Why the constant operand of a pair cannot be computed with; "" if it can.
std::string ConstantFault(const Graph& graph, const Node& node, ValueId id) {
  std::optional<Encoding> encoding;
  if (!graph.IsConstant(id)) {
    encoding = IntegerRewrite::EncodingOfReal(graph, id);
    if (!encoding) return "a constant carries no quantization";
    id = ProducerOf(graph, id)->operands[0];
  }
  const Tensor& tensor = *graph.value(id).constant;
  if (encoding && encoding->block > 0) return "a constant's scales are blocked";
  if (encoding && encoding->per_tensor() && OpOf(node) != Op::kDiv &&
      ElementSize(tensor.type) == 1) {
    return "";
  }
  if (encoding && ElementSize(tensor.type) > 2) {
    return "a constant is wider than 16 bits";
  }
  if (!encoding && !IsFloat(tensor.type)) return "a constant is no number";
  if (!IsFinite(tensor)) return "a constant is not finite";
  const size_t count = DistinctNumbers(tensor, encoding).size();
  if (count <= 256) return "";
  return "a constant has " + std::to_string(count) +
         " different numbers; a table takes 256";
}

}  // namespace

IntegerRewrite::IntegerRewrite(Rewriter& rewriter, NodeId node,
                               std::string rule)
    : rewriter_(rewriter), id_(node), node_(rewriter.graph().node(node)) {
  proposal_.sheet.rule = std::move(rule);
  provenance_ = node_.provenance;
}

std::optional<Encoding> IntegerRewrite::EncodingOfReal(const Graph& graph,
                                                       ValueId real) {
  if (!ProducerOf(graph, real, Op::kDequantizeLinear)) return std::nullopt;
  Diagnostics ignored;  // annotate has reported the faults
  return EncodingOf(graph, graph.value(real).producer, &ignored);
}

std::optional<ValueId> IntegerRewrite::Codes(ValueId real) {
  const Graph& graph = rewriter_.graph();
  const auto encoding = EncodingOfReal(graph, real);
  if (!encoding) return std::nullopt;
  const NodeId dequantizer = graph.value(real).producer;
  const Node& dequantize = graph.node(dequantizer);
  const ValueId stored = dequantize.operands[0];
  if (!graph.value(stored).type.encoding) return std::nullopt;
  const Provenance provenance = dequantize.provenance;
  const ValueId codes =
      WithEncoding(rewriter_, proposal_, stored, *encoding, provenance);
  MigrationSheet& sheet = proposal_.sheet;
  const Node& read = graph.node(dequantizer);
  if (graph.UsersOf(real).size() == 1 && !graph.IsOutput(real) &&
      dequantizers_.insert(dequantizer).second) {
    provenance_.Merge(read.provenance);
    SayParametersAbsorbed(sheet, graph, read, codes);
  }
  return codes;
}

Node IntegerRewrite::Successor(Op op) const {
  Node node;
  node.op = ToId(op);
  node.name = node_.name;
  node.attributes = node_.attributes;
  node.steps = node_.steps;
  node.provenance = provenance_;
  return node;
}

void IntegerRewrite::AlsoRemove(NodeId id) {
  proposal_.removed.push_back(id);
  provenance_.Merge(rewriter_.graph().node(id).provenance);
}

bool IntegerRewrite::ApplyFor(ValueId old_result, ValueId result) {
  std::vector<NodeId> removed(dequantizers_.begin(), dequantizers_.end());
  removed.push_back(id_);
  removed.insert(removed.end(), proposal_.removed.begin(),
                 proposal_.removed.end());
  proposal_.removed = std::move(removed);
  std::set<ValueId> read;
  for (Node& node : proposal_.added) {
    node.provenance.Merge(provenance_);
    read.insert(node.operands.begin(), node.operands.end());
  }
  // Parameters that a new DequantizeLinear reads are absorbed by nothing.
  std::erase_if(proposal_.sheet.constants, [&](const ConstantMove& move) {
    return move.kind == ConstantMove::Kind::kAbsorbed && read.count(move.from);
  });
  proposal_.sheet.results.push_back({old_result, result});
  SayNamesLost(proposal_, rewriter_.graph());
  return rewriter_.Apply(std::move(proposal_));
}

bool IntegerRewrite::Apply(ValueId result) {
  return ApplyFor(node_.results[0], result);
}

bool EndsInQuantize(const Graph& graph, ValueId real) {
  while (graph.HasSingleUse(real)) {
    const Node& user = graph.node(graph.UsersOf(real).front());
    if (OpOf(user) == Op::kQuantizeLinear) {
      const auto& encoding = graph.value(user.results[0]).type.encoding;
      return user.operands[0] == real && encoding && encoding->per_tensor();
    }
    if (TailKind(graph, user) == Tail::kNone) return false;
    real = user.results[0];
  }
  return false;
}

std::string InputFault(const Graph& graph, ValueId real, int most_bytes) {
  const auto encoding = IntegerRewrite::EncodingOfReal(graph, real);
  if (!encoding) return "an input carries no quantization";
  if (!encoding->per_tensor()) return "an input has more than one scale";
  const ValueId codes = ProducerOf(graph, real)->operands[0];
  if (graph.IsConstant(codes)) return "an input is constant";
  if (ElementSize(graph.value(codes).type.element) > most_bytes) {
    return most_bytes == 1 ? "an input is wider than 8 bits"
                           : "an input is wider than 16 bits";
  }
  return "";
}

std::string PairFault(const Graph& graph, const Node& node) {
  int inputs = 0;
  for (size_t i = 0; i < 2; ++i) {
    const ValueId real = node.operands[i];
    if (IsConstantOperand(graph, real)) {
      std::string fault = ConstantFault(graph, node, real);
      if (!fault.empty()) return fault;
      continue;
    }
    std::string fault = InputFault(graph, real);
    if (!fault.empty()) return fault;
    ++inputs;
  }
  return inputs > 0 ? "" : "both operands are constant";
}

std::string LinearFault(const Graph& graph, const Node& node) {
  std::string fault = InputFault(graph, node.operands[0]);
  if (fault.empty()) fault = WeightFault(graph, node);
  return fault.empty() ? BiasFault(graph, node) : fault;
}

}  // namespace fold
