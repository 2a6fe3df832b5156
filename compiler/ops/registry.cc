// Expands ops.def; nothing here is written by hand for one operator.
#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "compiler/ops/movement.h"
#include "compiler/ops/op_spec.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/specs.h"

namespace fold {
namespace {

struct Row {
  std::string_view mnemonic, domain, onnx_name;
  int min_operands, max_operands;
  const OpSpec* spec;
};

const Row kRows[] = {
#define OP(id, mnemonic, domain, onnx_name, min, max, spec) \
  {mnemonic, domain, onnx_name, min, max, &(spec)},
#include "compiler/ops/ops.def"
#undef OP
};

bool Allows(std::string_view list, std::string_view name) {
  if (name == "opset") return true;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    if (list.substr(at, end - at) == name) return true;
    at = end + 1;
  }
  return false;
}

// The result of a QuantizeLinear of constant codes behind a DequantizeLinear:
// the real numbers in between are products of codes and scales.
TensorPtr EvaluateRequantized(const Graph& graph, const Node& node) {
  if (OpOf(node) != Op::kQuantizeLinear) return nullptr;
  const NodeId before = graph.value(node.operands[0]).producer;
  if (!before.valid()) return nullptr;
  const Node& dequantize = graph.node(before);
  if (OpOf(dequantize) != Op::kDequantizeLinear) return nullptr;
  const TensorPtr reals = DequantizedNumbers(graph, dequantize);
  if (!reals) return nullptr;
  std::vector<TensorType> types;
  std::vector<TensorPtr> constants;
  for (ValueId id : node.operands) {
    types.push_back(id.valid() ? graph.value(id).type : TensorType());
    constants.push_back(ConstantOf(graph, id));
  }
  constants[0] = reals;
  if (!constants[1]) return nullptr;
  return SpecOf(Op::kQuantizeLinear).evaluate({node, types, constants});
}

class Table : public OpTable {
 public:
  std::string_view Mnemonic(OpId op) const override {
    return kRows[static_cast<int>(op)].mnemonic;
  }

  std::optional<OpId> Find(std::string_view mnemonic) const override {
    for (size_t i = 0; i < std::size(kRows); ++i) {
      if (kRows[i].mnemonic == mnemonic) return static_cast<OpId>(i);
    }
    return std::nullopt;
  }

  std::string Check(const Graph& graph, const Node& node) const override {
    const Row& row = kRows[static_cast<int>(node.op)];
    const int count = static_cast<int>(node.operands.size());
    if (count < row.min_operands ||
        (row.max_operands >= 0 && count > row.max_operands)) {
      return std::string(row.mnemonic) + " does not take " +
             std::to_string(count) + " operands";
    }
    for (const auto& [name, value] : node.attributes) {
      if (!Allows(row.spec->attributes, name)) {
        return std::string(row.mnemonic) + " has no attribute '" + name + "'";
      }
    }
    for (const Step& step : node.steps) {
      for (uint32_t operand : step.operands) {
        if (operand >= node.operands.size() ||
            !graph.IsConstant(node.operands[operand])) {
          return "a step reads no constant operand";
        }
      }
    }
    if (!row.spec->infer || node.results.empty()) return "";
    const NodeView view(graph, node);
    std::string fault;
    const auto shape = row.spec->infer(view.view(), &fault);
    if (!fault.empty()) return fault;
    if (shape && *shape != graph.value(node.results[0]).type.shape) {
      return "the result's shape does not follow from the operands";
    }
    return "";
  }

  TensorPtr Evaluate(const Graph& graph, const Node& node) const override {
    const TensorPtr value = EvaluateNode(graph, node);
    return value ? value : EvaluateRequantized(graph, node);
  }

  std::optional<Shape> InferShape(const Graph& graph,
                                  const Node& node) const override {
    const OpSpec& spec = *kRows[static_cast<int>(node.op)].spec;
    if (!spec.infer) return std::nullopt;
    const NodeView view(graph, node);
    std::string fault;
    const auto shape = spec.infer(view.view(), &fault);
    return fault.empty() ? shape : std::nullopt;
  }

  std::optional<std::vector<int64_t>> Permutation(
      const Graph& graph, const Node& node) const override {
    const Op op = OpOf(node);
    if (node.operands.empty()) return std::nullopt;
    const size_t rank = graph.value(node.operands[0]).type.shape.size();
    if (op == Op::kTranspose) return PermutationOf(node, rank);
    if (op != Op::kQuantizeLinear && op != Op::kDequantizeLinear &&
        op != Op::kIdentity) {
      return std::nullopt;
    }
    std::vector<int64_t> same(rank);  // element by element
    std::iota(same.begin(), same.end(), 0);
    return same;
  }

  std::vector<OpId> Exceptional(const Graph& graph,
                                const Node& node) const override {
    std::vector<OpId> found;
    if (OpOf(node) == Op::kScaledReciprocal ||
        (OpOf(node) == Op::kDiv && node.operands.size() > 1 &&
         MayBeZero(graph, node.operands[1]))) {
      found.push_back(ToId(Op::kDiv));
    }
    for (const Step& step : node.steps) {
      if (step.kind == Step::Kind::kReciprocal) {
        found.push_back(ToId(Op::kDiv));
      }
    }
    return found;
  }

 private:
  static bool MayBeZero(const Graph& graph, ValueId id) {
    const Value& divisor = graph.value(id);
    if (!divisor.constant) {
      if (!divisor.producer.valid()) return true;
      const Node& producer = graph.node(divisor.producer);
      return OpOf(producer) != Op::kDequantizeLinear ||
             !graph.IsConstant(producer.operands[0]) ||
             MayBeZero(graph, producer.operands[0]);
    }
    const Tensor& constant = *divisor.constant;
    const auto& encoding = divisor.type.encoding;
    if (encoding && IsInteger(constant.type)) {
      if (encoding->block > 0 || ElementSize(constant.type) > 2) return true;
      const auto reals = RealNumbersOf(constant, *encoding);
      return std::count(reals.begin(), reals.end(), 0.0) > 0;
    }
    for (int64_t i = 0; i < constant.size(); ++i) {
      if (constant.real(i) == 0) return true;
    }
    return false;
  }
};

}  // namespace

const OpTable& Ops() {
  static const Table table;
  return table;
}

const OpSpec& SpecOf(Op op) { return *kRows[static_cast<int>(op)].spec; }

bool IsQonnxDomain(std::string_view domain) {
  return domain == kQonnxDomain || domain == "onnx.brevitas" ||
         domain == "finn.custom_op.general";
}

std::optional<Op> OpFromOnnx(std::string_view domain, std::string_view name) {
  if (domain == "-") return std::nullopt;  // made by passes alone
  if (domain == "ai.onnx") domain = "";
  if (domain == "com.microsoft" &&
      (name == "QuantizeLinear" || name == "DequantizeLinear")) {
    domain = "";
  }
  if (IsQonnxDomain(domain)) {
    domain = kQonnxDomain;
    if (name == "IntQuant") name = "Quant";
  }
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].domain == domain && kRows[i].onnx_name == name) {
      return static_cast<Op>(i);
    }
  }
  return std::nullopt;
}

NodeView::NodeView(const Graph& graph, const Node& node) : node_(node) {
  for (ValueId id : node.operands) {
    types_.push_back(id.valid() ? graph.value(id).type : TensorType());
    constants_.push_back(id.valid() ? graph.value(id).constant : nullptr);
  }
}

namespace {

// Evaluates a value through its producers; each value once, and no deeper than
// a parameter's chain of nodes can sensibly be.
class ConstantReader {
 public:
  explicit ConstantReader(const Graph& graph) : graph_(graph) {}

  TensorPtr Read(ValueId id, int depth) {
    if (!id.valid()) return nullptr;
    const Value& value = graph_.value(id);
    if (value.constant || !value.producer.valid()) return value.constant;
    const auto [at, fresh] = known_.try_emplace(id, nullptr);
    constexpr int kDeepest = 200;
    if (!fresh || depth > kDeepest) return at->second;
    const Node& node = graph_.node(value.producer);
    const OpSpec& spec = SpecOf(OpOf(node));
    if (!spec.evaluate || node.results[0] != id) return nullptr;
    std::vector<TensorType> types;
    std::vector<TensorPtr> constants;
    for (ValueId operand : node.operands) {
      types.push_back(operand.valid() ? graph_.value(operand).type
                                      : TensorType());
      // The shape of a value is known without its elements.
      const bool by_type = OpOf(node) == Op::kShape;
      constants.push_back(by_type ? nullptr : Read(operand, depth + 1));
      if (!by_type && operand.valid() && !constants.back()) return nullptr;
    }
    TensorPtr result = spec.evaluate({node, types, constants});
    known_[id] = result;
    return result;
  }

 private:
  const Graph& graph_;
  std::map<ValueId, TensorPtr> known_;
};

}  // namespace

TensorPtr ConstantOf(const Graph& graph, ValueId id) {
  return ConstantReader(graph).Read(id, 0);
}

TensorPtr EvaluateNode(const Graph& graph, const Node& node) {
  const OpSpec& spec = SpecOf(OpOf(node));
  if (!spec.evaluate || node.results.size() != 1) return nullptr;
  for (ValueId operand : node.operands) {
    if (OpOf(node) != Op::kShape && operand.valid() &&
        !graph.IsConstant(operand)) {
      return nullptr;
    }
  }
  const NodeView view(graph, node);
  return spec.evaluate(view.view());
}

}  // namespace fold
