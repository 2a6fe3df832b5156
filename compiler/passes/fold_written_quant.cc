// A fake-quantization that is written out as elementary operators becomes one
// value with that quantization: its input, which another pass then quantizes.
// Where the arithmetic multiplies by another number than it divides by, their
// product stays as a factor in front.
#include <set>

#include "compiler/annotate/written_chain.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

constexpr char kRule[] = "fold_written_quant";

std::vector<double> Reals(const Tensor& tensor) {
  std::vector<double> reals(tensor.size());
  for (int64_t i = 0; i < tensor.size(); ++i) reals[i] = tensor.real(i);
  return reals;
}

// The numbers that the chain makes of a constant.
TensorPtr ChainOf(const WrittenChain& chain, const Tensor& input) {
  const int64_t axis = chain.axis;
  int64_t inner = 1;
  for (size_t d = axis + 1; axis >= 0 && d < input.shape.size(); ++d) {
    inner *= input.shape[d];
  }
  std::vector<double> numbers(input.size());
  for (int64_t i = 0; i < input.size(); ++i) {
    const int64_t channel = axis < 0 ? 0 : i / inner % input.shape[axis];
    numbers[i] = ApplyWritten(chain.steps, input.real(i), channel);
  }
  return MakeRealTensor(ElementType::f64, input.shape, numbers);
}

class Replacement {
 public:
  Replacement(Rewriter& rewriter, NodeId rounding, WrittenChain chain)
      : rewriter_(rewriter), rounding_(rounding), chain_(std::move(chain)) {}

  bool Run() {
    proposal_.removed = chain_.nodes;
    sheet().rule = kRule;
    const TensorPtr constant = ConstantOf(graph(), chain_.input);
    if (chain_.grid.plain()) {
      Stand(Op::kIdentity, {chain_.input});
    } else if (constant) {
      StandAsConstant(*constant);
    } else {
      Stand(Op::kMul, {chain_.input, Factor()});
    }
    sheet().results = {{chain_.result, to_}};
    SayConstants();
    SayNamesLost(proposal_, graph());
    sheet().exceptional_preserved = false;
    sheet().exceptional_domain =
        "NaN becomes zero, and so does an infinity in a residual";
    return rewriter_.Apply(std::move(proposal_));
  }

 private:
  const Graph& graph() const { return rewriter_.graph(); }
  MigrationSheet& sheet() { return proposal_.sheet; }
  const Value& result() const { return graph().value(chain_.result); }

  void Stand(Op op, std::vector<ValueId> operands) {
    const Value old = result();
    to_ = rewriter_.Declare(old.name, old.type);
    Node node;
    node.op = ToId(op);
    node.name = graph().node(chain_.nodes.back()).name;
    node.operands = std::move(operands);
    node.results = {to_};
    for (NodeId id : chain_.nodes) {
      node.provenance.Merge(graph().node(id).provenance);
    }
    proposal_.added.push_back(std::move(node));
  }

  // One number, or one for each index of the encoding's axis.
  ValueId Factor() {
    const auto& factors = chain_.grid.factors;
    Shape shape;
    if (factors.size() > 1) {
      shape.assign(result().type.shape.size(), 1);
      shape[Axis()] = static_cast<int64_t>(factors.size());
    }
    const TensorPtr tensor = NarrowestReals(shape, factors);
    factor_ = rewriter_.Declare(result().name + "_factor",
                                {tensor->type, shape, std::nullopt}, tensor);
    unsaid_ = factor_;
    return factor_;
  }

  int64_t Axis() const { return chain_.axis; }

  // A factor of a constant would round: the chain's numbers themselves, which
  // are on the grid.
  void StandAsConstant(const Tensor& input) {
    const Value old = result();
    TensorType type = old.type;
    type.element = ElementType::f64;
    to_ = rewriter_.Declare(old.name, type, ChainOf(chain_, input));
    if (graph().IsConstant(chain_.input)) {
      SayNamed(chain_.input, to_, "the chain evaluated");
    } else {
      unsaid_ = to_;
    }
  }

  // What the chain is says `from`: found again, it gives the encoding of the
  // result, the factor and the constant that stand for it.
  void SayNamed(ValueId from, ValueId to, const std::string& reason) {
    ConstantMove move = {from, to, ConstantMove::Kind::kTransformed, reason};
    move.how = {{Derivation::Kind::kNamed}};
    if (!to.valid()) {
      move.kind = ConstantMove::Kind::kUnneeded;
      move.how.clear();
      move.why = Unneeded::kNamed;
    }
    const NodeId id = rounding_;
    const ValueId factor = factor_, input = chain_.input, stands = to_;
    move.verify = [=](const Graph& graph, const ConstantMove&) -> std::string {
      std::string why;
      const auto chain = FindWrittenChain(graph, id, &why);
      if (!chain || chain->input != input) return "is in no chain";
      if (!(*graph.value(stands).type.encoding == chain->grid.encoding)) {
        return "says another quantization than the result has";
      }
      if (factor.valid() &&
          Reals(*graph.value(factor).constant) != chain->grid.factors) {
        return "says another factor";
      }
      const Value& value = graph.value(stands);
      const TensorPtr constant = ConstantOf(graph, input);
      return !value.constant || (constant &&
                                 *ChainOf(*chain, *constant) == *value.constant)
                 ? ""
                 : "gives other numbers";
    };
    sheet().constants.push_back(std::move(move));
  }

  void SayConstants() {
    std::set<ValueId> said = {chain_.input};
    for (NodeId id : chain_.nodes) {
      for (ValueId operand : graph().node(id).operands) {
        if (!graph().IsConstant(operand) || !said.insert(operand).second) {
          continue;
        }
        SayNamed(operand, unsaid_,
                 "the scale, the zero point, the codes and the factor say it");
        unsaid_ = ValueId();
      }
    }
  }

  Rewriter& rewriter_;
  NodeId rounding_;
  WrittenChain chain_;
  Proposal proposal_;
  ValueId to_, factor_;
  ValueId unsaid_;  // a new constant that no item has named yet
};

}  // namespace

bool fold_written_quant(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Graph& graph = rewriter.graph();
    if (graph.node(id).erased || !IsWrittenRounding(graph, graph.node(id))) {
      continue;
    }
    std::string why;
    auto chain = FindWrittenChain(graph, id, &why);
    if (!chain) {
      if (!why.empty()) rewriter.Refuse(kRule, id, why);
      continue;
    }
    const auto& bound = graph.value(chain->result).type.encoding;
    if (!bound || !(*bound == chain->grid.encoding)) {
      rewriter.Refuse(kRule, id, "its quantization is not bound to its result");
      continue;
    }
    changed |= Replacement(rewriter, id, std::move(*chain)).Run();
  }
  return changed;
}

}  // namespace fold::passes
