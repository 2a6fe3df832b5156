// Fake-quantization in one piece, a real value whose type carries a
// quantization, becomes a QuantizeLinear and a DequantizeLinear. A QONNX node
// is replaced by the two; behind any other producer, and behind inputs and
// constants, they are inserted.
#include <map>
#include <set>

#include "compiler/annotate/qonnx.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

constexpr char kRule[] = "expand_fake_quant";

bool IsFakeQuantized(const Graph& graph, ValueId id) {
  const TensorType& type = graph.value(id).type;
  return IsFloat(type.element) && type.encoding.has_value();
}

TensorPtr ScaleTensor(const Encoding& e) {
  Shape shape;
  if (!e.per_tensor()) shape = {static_cast<int64_t>(e.scales.size())};
  return NarrowestReals(shape, e.scales);
}

// QuantizeLinear and DequantizeLinear of one value.
class Pair {
 public:
  // `from` is what is quantized, `like` the value whose encoding it gets.
  Pair(Rewriter& rewriter, ValueId from, ValueId like) {
    const Value value = rewriter.graph().value(like);
    const Encoding& e = *value.type.encoding;
    const ElementType storage = StorageOf(e);
    const auto constant = [&](const char* what, TensorPtr tensor) {
      const TensorType type = {tensor->type, tensor->shape, std::nullopt};
      return rewriter.Declare(value.name + what, type, std::move(tensor));
    };
    const TensorPtr scales = ScaleTensor(e);
    scale_ = constant("_scale", scales);
    zero_ = constant("_zero_point",
                     MakeIntegerTensor(storage, scales->shape, e.zero_points));
    codes_ =
        rewriter.Declare(value.name + "_codes", {storage, value.type.shape, e});
    real_ = rewriter.Declare(
        value.name, {value.type.element, value.type.shape, std::nullopt});
    quantize_.op = ToId(Op::kQuantizeLinear);
    quantize_.operands = {from, scale_, zero_};
    quantize_.results = {codes_};
    quantize_.attributes["code_low"] = *e.code_low;
    quantize_.attributes["code_high"] = *e.code_high;
    if (e.rounding != Rounding::kHalfEven) {
      quantize_.attributes["rounding"] = std::string(RoundingName(e.rounding));
    }
    dequantize_.op = ToId(Op::kDequantizeLinear);
    dequantize_.operands = {codes_, scale_, zero_};
    dequantize_.results = {real_};
    if (!e.per_tensor()) {
      quantize_.attributes["axis"] = static_cast<int64_t>(e.axis);
      dequantize_.attributes["axis"] = static_cast<int64_t>(e.axis);
    }
  }

  ValueId scale() const { return scale_; }
  ValueId zero() const { return zero_; }
  ValueId codes() const { return codes_; }
  ValueId real() const { return real_; }

  void AddTo(Proposal& proposal, const std::string& name,
             const Provenance& provenance) {
    for (Node* node : {&quantize_, &dequantize_}) {
      node->name = name;
      node->provenance = provenance;
      proposal.added.push_back(*node);
    }
  }

 private:
  ValueId scale_, zero_, codes_, real_;
  Node quantize_, dequantize_;
};

// The quantization of `from` is now that of the pair's codes.
void SayMoved(MigrationSheet& sheet, const Graph& graph, ValueId from,
              const Pair& pair) {
  const int axis = graph.value(from).type.encoding->axis;
  sheet.encodings.push_back(
      {from, pair.codes(), EncodingMove::Destination::kType, axis, axis});
}

// The pair's parameters are those of its codes.
void SayParametersMade(MigrationSheet& sheet, const Pair& pair) {
  SayMadeOf(sheet, pair.scale(), {Slot::Kind::kScales}, pair.codes());
  SayMadeOf(sheet, pair.zero(), {Slot::Kind::kZeroPoints}, pair.codes());
}

// The node's operands say the encoding of the codes and what a Trunc adds.
void SayReadByEncoding(MigrationSheet& sheet, NodeId id, ValueId operand,
                       const Pair& pair, double addend) {
  ConstantMove move = {operand, ValueId(), ConstantMove::Kind::kUnneeded,
                       "it is in the range and rounding of the codes"};
  move.why = Unneeded::kNamed;
  const ValueId codes = pair.codes();
  move.verify = [=](const Graph& graph, const ConstantMove&) -> std::string {
    Diagnostics ignored;  // annotate has reported the faults
    const auto encoding = QonnxEncoding(graph, id, &ignored);
    const bool same =
        encoding && *encoding == *graph.value(codes).type.encoding;
    return same && TruncAddend(graph, graph.node(id)) == addend
               ? ""
               : "says another quantization than the codes have";
  };
  sheet.constants.push_back(std::move(move));
}

// The real number that a Trunc adds before it rounds, as a node of its own.
ValueId AddNumber(Rewriter& rewriter, const Node& trunc, double addend,
                  Proposal& proposal) {
  const Graph& graph = rewriter.graph();
  const TensorType type = graph.value(trunc.operands[0]).type;
  const std::string name = graph.value(trunc.results[0]).name;
  const TensorPtr number = NarrowestReals({}, {addend});
  const ValueId constant = rewriter.Declare(
      name + "_addend", {number->type, {}, std::nullopt}, number);
  const ValueId sum =
      rewriter.Declare(name + "_sum", {type.element, type.shape, std::nullopt});
  Node add;
  add.op = ToId(Op::kAdd);
  add.name = trunc.name;
  add.operands = {trunc.operands[0], constant};
  add.results = {sum};
  add.provenance = trunc.provenance;
  proposal.added.push_back(add);
  SayMade(proposal.sheet, constant, addend);
  return sum;
}

// A Quant, BipolarQuant or Trunc.
bool ExpandNode(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const Node node = graph.node(id);
  Proposal proposal;
  proposal.removed = {id};
  MigrationSheet& sheet = proposal.sheet;
  sheet.rule = kRule;
  const bool trunc = OpOf(node) == Op::kTrunc;
  ValueId from = node.operands[0];
  const double addend = TruncAddend(graph, node);
  if (addend != 0) from = AddNumber(rewriter, node, addend, proposal);
  Pair pair(rewriter, from, node.results[0]);
  pair.AddTo(proposal, node.name, node.provenance);
  sheet.results = {{node.results[0], pair.real()}};
  SayMoved(sheet, graph, node.results[0], pair);
  SayParametersMade(sheet, pair);
  std::set<ValueId> said;
  for (size_t i = 1; i < node.operands.size(); ++i) {
    const ValueId operand = node.operands[i];
    if (!graph.IsConstant(operand) || !said.insert(operand).second) continue;
    if (i == (trunc ? 4 : 1)) {
      SayAbsorbed(sheet, graph, operand, pair.codes(), {Slot::Kind::kScales});
    } else if (i == 2 && !trunc) {
      SayAbsorbed(sheet, graph, operand, pair.codes(),
                  {Slot::Kind::kZeroPoints});
    } else {
      SayReadByEncoding(sheet, id, operand, pair, addend);
    }
  }
  return rewriter.Apply(std::move(proposal));
}

// The value gets its pair behind the node that makes it.
bool ExpandBehind(Rewriter& rewriter, NodeId id, size_t result) {
  const Graph& graph = rewriter.graph();
  Node node = graph.node(id);
  Proposal proposal;
  proposal.removed = {id};
  proposal.sheet.rule = kRule;
  const ValueId old = node.results[result];
  for (ValueId& value : node.results) {
    if (!value.valid()) continue;
    TensorType type = graph.value(value).type;
    const std::string name = graph.value(value).name;
    if (value == old) {
      type.encoding.reset();
      value = rewriter.Declare(name + "_unquantized", type);
    } else {
      const ValueId fresh = rewriter.Declare(name, type);
      proposal.sheet.results.push_back({value, fresh});
      value = fresh;
    }
  }
  Pair pair(rewriter, node.results[result], old);
  proposal.added = {node};
  pair.AddTo(proposal, "", node.provenance);
  proposal.sheet.results.push_back({old, pair.real()});
  SayMoved(proposal.sheet, graph, old, pair);
  SayParametersMade(proposal.sheet, pair);
  return rewriter.Apply(std::move(proposal));
}

// `user` quantizes `value` as its type says.
bool QuantizesIt(const Graph& graph, const Node& user, ValueId value) {
  if (OpOf(user) != Op::kQuantizeLinear || user.operands[0] != value) {
    return false;
  }
  const auto& stated = graph.value(user.results[0]).type.encoding;
  return stated && *stated == *graph.value(value).type.encoding;
}

// The constant `source` is read through the pair from now on.
void SayReadThrough(MigrationSheet& sheet, ValueId source, const Pair& pair) {
  ConstantMove move = {source, ValueId(), ConstantMove::Kind::kUnneeded,
                       "its QuantizeLinear reads it"};
  move.why = Unneeded::kNamed;
  const ValueId real = pair.real();
  move.verify = [=](const Graph& graph, const ConstantMove&) -> std::string {
    const Node* dequantize = ProducerOf(graph, real, Op::kDequantizeLinear);
    const Node* quantize =
        dequantize
            ? ProducerOf(graph, dequantize->operands[0], Op::kQuantizeLinear)
            : nullptr;
    return quantize && quantize->operands[0] == source
               ? ""
               : "is not what its QuantizeLinear reads";
  };
  sheet.constants.push_back(std::move(move));
}

// An input or a constant: its users read the pair, one after the other.
bool ExpandSource(Rewriter& rewriter, ValueId source) {
  const Graph& graph = rewriter.graph();
  std::optional<Pair> pair;
  bool changed = false;
  for (NodeId user : graph.UsersOf(source)) {
    Node node = graph.node(user);
    if (QuantizesIt(graph, node, source)) continue;
    Proposal proposal;
    proposal.removed = {user};
    proposal.sheet.rule = kRule;
    if (!pair) {
      pair.emplace(rewriter, source, source);
      pair->AddTo(proposal, "", node.provenance);
      SayMoved(proposal.sheet, graph, source, *pair);
      SayParametersMade(proposal.sheet, *pair);
    } else if (graph.IsConstant(source)) {
      SayReadThrough(proposal.sheet, source, *pair);
    }
    for (ValueId& operand : node.operands) {
      if (operand == source) operand = pair->real();
    }
    for (ValueId& value : node.results) {
      if (!value.valid()) continue;
      const Value old = graph.value(value);
      const ValueId fresh = rewriter.Declare(old.name, old.type);
      proposal.sheet.results.push_back({value, fresh});
      value = fresh;
    }
    proposal.added.push_back(node);
    if (!rewriter.Apply(std::move(proposal))) return changed;
    changed = true;
  }
  return changed;
}

bool ExpandSources(Rewriter& rewriter) {
  std::map<ValueId, bool> sources;
  const Graph& graph = rewriter.graph();
  for (ValueId input : graph.inputs) sources.emplace(input, true);
  for (NodeId id : graph.order()) {
    for (ValueId operand : graph.node(id).operands) {
      if (graph.IsConstant(operand)) sources.emplace(operand, true);
    }
  }
  bool changed = false;
  for (const auto& [source, unused] : sources) {
    if (IsFakeQuantized(graph, source)) {
      changed |= ExpandSource(rewriter, source);
    }
  }
  return changed;
}

bool ExpandNodes(Rewriter& rewriter) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Graph& graph = rewriter.graph();
    if (graph.node(id).erased) continue;
    if (IsQonnx(OpOf(graph.node(id)))) {
      changed |= ExpandNode(rewriter, id);
      continue;
    }
    for (size_t i = 0; i < graph.node(id).results.size(); ++i) {
      const ValueId result = graph.node(id).results[i];
      if (!result.valid() || !IsFakeQuantized(graph, result)) continue;
      changed |= ExpandBehind(rewriter, id, i);
      break;
    }
  }
  return changed;
}

}  // namespace

bool expand_fake_quant(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = ExpandSources(rewriter);
  while (ExpandNodes(rewriter)) changed = true;
  return changed;
}

}  // namespace fold::passes
