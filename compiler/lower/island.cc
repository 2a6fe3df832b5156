// Float islands: operators evaluated in double, in ONNX order of dimensions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/lower/lowering.h"
#include "compiler/lower/pool_counts.h"
#include "compiler/lower/table.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/pool.h"
#include "compiler/passes/pattern.h"

namespace fold {
namespace {

class IslandOp {
 public:
  IslandOp(Lowering& lowering, NodeId id)
      : lowering_(lowering), id_(id), node_(lowering.graph.node(id)) {}

  bool Run() { return lowering_.Island(id_) && Compute() && ApplySteps(); }

 private:
  bool Compute() {
    switch (OpOf(node_)) {
      case Op::kConv:
        return Conv();
      case Op::kGemm:
        return Gemm();
      case Op::kMatMul:
        Make(format_::Opcode::F64_MATMUL, {Input(0), Input(1)})
            .parameters.Set(format_::NoParametersT());
        return true;
      case Op::kAdd:
        return Binary(format_::BinaryKind::ADD, Input(0), Input(1));
      case Op::kSub:
        return Binary(format_::BinaryKind::SUB, Input(0), Input(1));
      case Op::kMul:
        return Binary(format_::BinaryKind::MUL, Input(0), Input(1));
      case Op::kDiv:
        WarnOfNan(0);
        return Binary(format_::BinaryKind::DIV, Input(0), Input(1));
      case Op::kPow:
        return Binary(format_::BinaryKind::POW, Input(0), Input(1));
      case Op::kScaledReciprocal:
        WarnOfNan(1);
        return Binary(format_::BinaryKind::DIV, Input(1), Input(0));
      case Op::kRelu:
        return Unary(format_::UnaryKind::RELU, 0, 0);
      case Op::kClip:
        return Clip();
      case Op::kRound:
        return Unary(format_::UnaryKind::ROUND, 0, 0);
      case Op::kFloor:
        return Unary(format_::UnaryKind::FLOOR, 0, 0);
      case Op::kCeil:
        return Unary(format_::UnaryKind::CEIL, 0, 0);
      case Op::kNeg:
        return Unary(format_::UnaryKind::NEG, 0, 0);
      case Op::kAbs:
        return Unary(format_::UnaryKind::ABS, 0, 0);
      case Op::kSign:
        return Unary(format_::UnaryKind::SIGN, 0, 0);
      case Op::kMin:
        return Extreme(format_::BinaryKind::MINIMUM);
      case Op::kMax:
        return Extreme(format_::BinaryKind::MAXIMUM);
      case Op::kSoftmax:
        return Softmax();
      case Op::kAveragePool:
        return AveragePool();
      case Op::kGlobalAveragePool:
      case Op::kReduceMean:
        return Mean();
      case Op::kBatchNormalization:
        return BatchNorm();
      default:
        return Unsupported("has no form in double");
    }
  }

  bool Unsupported(const std::string& why) {
    return lowering_.Error(DiagnosticCode::unsupported_operator, id_, why);
  }

  int Input(size_t i) {
    const ValueId id = node_.operands[i];
    return lowering_.Want(id, IdentityPerm(lowering_.type(id).shape.size()));
  }
  bool Has(size_t i) const {
    return i < node_.operands.size() && node_.operands[i].valid();
  }

  format_::OpT& MakeInto(format_::Opcode opcode, std::vector<int> inputs,
                         int output) {
    format_::OpT& op =
        lowering_.AddOp(id_, opcode, std::move(inputs), {output});
    op.exactness = format_::Exactness::FLOAT;
    return op;
  }
  format_::OpT& Make(format_::Opcode opcode, std::vector<int> inputs) {
    return MakeInto(opcode, std::move(inputs), AddResult());
  }

  // The node's result, or what its steps begin with.
  int AddResult() {
    const ValueId result = node_.results[0];
    const Shape& shape = lowering_.type(result).shape;
    if (node_.steps.empty()) {
      return lowering_.AddValue(result, IdentityPerm(shape.size()));
    }
    unfinished_ = lowering_.AddTensor(Name() + "/before_steps",
                                      format_::ElementType::F64, shape);
    return unfinished_;
  }

  const std::string& Name() const {
    return lowering_.graph.value(node_.results[0]).name;
  }

  // A constant along the channels, for each channel the number `of(channel)`.
  template <typename NumberOf>
  int ChannelConstant(const std::string& name, NumberOf of) {
    const Shape& shape = lowering_.type(node_.results[0]).shape;
    const int64_t axis = ChannelAxis(node_, shape);
    Shape along(shape.size(), 1);
    if (!shape.empty()) along[axis] = shape[axis];
    std::vector<double> values(ElementCount(along));
    for (size_t c = 0; c < values.size(); ++c) {
      values[c] = of(static_cast<int64_t>(c));
    }
    return lowering_.AddConstantOf(name, format_::ElementType::F64, along,
                                   values);
  }

  double Number(ValueId id, int64_t channel) const {
    const Tensor& tensor = *lowering_.graph.value(id).constant;
    return tensor.real(tensor.size() == 1 ? 0 : channel);
  }

  // from `kind` constant, into a new tensor.
  int Combine(format_::BinaryKind kind, int from, int constant,
              const std::string& name) {
    const Shape& shape = lowering_.type(node_.results[0]).shape;
    const int to = lowering_.AddTensor(name, format_::ElementType::F64, shape);
    format_::F64BinaryParametersT p;
    p.kind = kind;
    MakeInto(format_::Opcode::F64_BINARY, {from, constant}, to)
        .parameters.Set(p);
    return to;
  }

  // constant / from, per channel.
  template <typename NumberOf>
  int Over(int from, NumberOf of, const std::string& name) {
    const Shape& shape = lowering_.type(node_.results[0]).shape;
    const int to = lowering_.AddTensor(name, format_::ElementType::F64, shape);
    format_::F64BinaryParametersT p;
    p.kind = format_::BinaryKind::DIV;
    MakeInto(format_::Opcode::F64_BINARY,
             {ChannelConstant(name + "/constant", of), from}, to)
        .parameters.Set(p);
    return to;
  }

  // (x - mean) * (scale / sqrt(variance + epsilon)) + bias, per channel.
  int Normalize(int from, const std::vector<ValueId>& p, double epsilon,
                const std::string& name) {
    const auto factor = [&](int64_t c) {
      return Number(p[0], c) / std::sqrt(Number(p[3], c) + epsilon);
    };
    const auto mean = [&](int64_t c) { return Number(p[2], c); };
    const auto bias = [&](int64_t c) { return Number(p[1], c); };
    const int centred =
        Combine(format_::BinaryKind::SUB, from,
                ChannelConstant(name + "/mean", mean), name + "/centred");
    const int scaled =
        Combine(format_::BinaryKind::MUL, centred,
                ChannelConstant(name + "/factor", factor), name + "/scaled");
    return Combine(format_::BinaryKind::ADD, scaled,
                   ChannelConstant(name + "/bias", bias), name);
  }

  int ApplyStep(const Step& step, int from, const std::string& name) {
    if (step.kind == Step::Kind::kBatchNorm) {
      std::vector<ValueId> parameters;
      for (uint32_t at : step.operands) {
        parameters.push_back(node_.operands[at]);
      }
      return Normalize(from, parameters, step.epsilon, name);
    }
    if (step.kind == Step::Kind::kClip) {
      const Shape& shape = lowering_.type(node_.results[0]).shape;
      const int to =
          lowering_.AddTensor(name, format_::ElementType::F64, shape);
      format_::F64UnaryParametersT p;
      p.kind = format_::UnaryKind::CLIP;
      p.alpha = step.low;
      p.beta = step.high;
      MakeInto(format_::Opcode::F64_UNARY, {from}, to).parameters.Set(p);
      return to;
    }
    const ValueId id = node_.operands[step.operands[0]];
    const auto number = [&](int64_t c) { return Number(id, c); };
    const format_::BinaryKind kind =
        step.kind == Step::Kind::kMultiply ? format_::BinaryKind::MUL
        : step.kind == Step::Kind::kDivide ? format_::BinaryKind::DIV
                                           : format_::BinaryKind::ADD;
    if (step.kind == Step::Kind::kReciprocal) return Over(from, number, name);
    return Combine(kind, from, ChannelConstant(name + "/constant", number),
                   name);
  }

  bool ApplySteps() {
    if (unfinished_ < 0) return true;
    int value = unfinished_;
    for (size_t i = 0; i < node_.steps.size(); ++i) {
      const bool last = i + 1 == node_.steps.size();
      value = ApplyStep(node_.steps[i], value,
                        last ? Name() : Name() + "/step" + std::to_string(i));
    }
    const ValueId result = node_.results[0];
    lowering_.Hold(result, value,
                   IdentityPerm(lowering_.type(result).shape.size()));
    return true;
  }

  // 0 / x is not a number where x is 0; nothing is known of a real x.
  void WarnOfNan(size_t dividend) {
    const ValueId id = node_.operands[dividend];
    if (!lowering_.graph.IsConstant(id)) return;
    const Tensor& constant = *lowering_.graph.value(id).constant;
    for (int64_t i = 0; i < constant.size(); ++i) {
      if (constant.real(i) != 0) continue;
      return WarnNan(lowering_, id_,
                     "zero over zero is not a number; what can come here is "
                     "not known");
    }
  }

  bool Binary(format_::BinaryKind kind, int a, int b) {
    format_::F64BinaryParametersT p;
    p.kind = kind;
    Make(format_::Opcode::F64_BINARY, {a, b}).parameters.Set(p);
    return true;
  }

  bool Unary(format_::UnaryKind kind, double alpha, double beta) {
    format_::F64UnaryParametersT p;
    p.kind = kind;
    p.alpha = alpha;
    p.beta = beta;
    Make(format_::Opcode::F64_UNARY, {Input(0)}).parameters.Set(p);
    return true;
  }

  bool Extreme(format_::BinaryKind kind) {
    if (node_.operands.size() != 2) {
      return Unsupported("takes two operands in double");
    }
    return Binary(kind, Input(0), Input(1));
  }

  bool Clip() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double bounds[2] = {node_.attribute<double>("min", -kInfinity),
                        node_.attribute<double>("max", kInfinity)};
    for (size_t i = 1; i < 3; ++i) {
      if (!Has(i)) continue;
      if (!lowering_.graph.IsConstant(node_.operands[i])) {
        return Unsupported("its bounds are not constant");
      }
      bounds[i - 1] =
          lowering_.graph.value(node_.operands[i]).constant->real(0);
    }
    return Unary(format_::UnaryKind::CLIP, bounds[0], bounds[1]);
  }

  bool Conv() {
    const Shape& x = lowering_.type(node_.operands[0]).shape;
    const Shape& w = lowering_.type(node_.operands[1]).shape;
    if (x.size() > 4) return Unsupported("has three or more dimensions");
    std::string fault;
    auto window = WindowOf(node_, x, Shape(w.begin() + 2, w.end()), &fault);
    if (!window) {
      return lowering_.Error(DiagnosticCode::shape_mismatch, id_, fault);
    }
    if (window->size() == 1) window->insert(window->begin(), WindowAxis());
    const WindowAxis &h = (*window)[0], &v = (*window)[1];
    format_::ConvParametersT p;
    p.kernel_height = static_cast<int>(h.kernel);
    p.kernel_width = static_cast<int>(v.kernel);
    p.stride_height = static_cast<int>(h.stride);
    p.stride_width = static_cast<int>(v.stride);
    p.dilation_height = static_cast<int>(h.dilation);
    p.dilation_width = static_cast<int>(v.dilation);
    p.pad_top = static_cast<int>(h.pad_begin);
    p.pad_left = static_cast<int>(v.pad_begin);
    p.groups = static_cast<int>(node_.attribute<int64_t>("group", 1));
    std::vector<int> inputs = {Input(0), Input(1)};
    if (Has(2)) inputs.push_back(Input(2));
    Make(format_::Opcode::F64_CONV, std::move(inputs))
        .parameters.Set(std::move(p));
    return true;
  }

  bool Gemm() {
    format_::F64GemmParametersT p;
    p.transpose_a = node_.attribute<int64_t>("transA", 0) != 0;
    p.transpose_b = node_.attribute<int64_t>("transB", 0) != 0;
    p.alpha = node_.attribute<double>("alpha", 1.0);
    p.beta = node_.attribute<double>("beta", 1.0);
    std::vector<int> inputs = {Input(0), Input(1)};
    if (Has(2)) inputs.push_back(Input(2));
    Make(format_::Opcode::F64_GEMM, std::move(inputs)).parameters.Set(p);
    return true;
  }

  bool Softmax() {
    const auto rank =
        static_cast<int64_t>(lowering_.type(node_.operands[0]).shape.size());
    const bool flat = node_.attribute<int64_t>("opset", 13) < 13;
    int64_t axis = node_.attribute<int64_t>("axis", flat ? 1 : -1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank)
      return Unsupported("its axis is out of range");
    // Before opset 13 the dimensions from `axis` on count as one.
    if (flat && axis != rank - 1) {
      const Shape& shape = lowering_.type(node_.operands[0]).shape;
      const auto middle = shape.begin() + axis;
      const Shape matrix = {ElementCount(Shape(shape.begin(), middle)),
                            ElementCount(Shape(middle, shape.end()))};
      return FlatSoftmax(matrix);
    }
    format_::F64SoftmaxParametersT p;
    p.axis = static_cast<int>(axis);
    Make(format_::Opcode::F64_SOFTMAX, {Input(0)}).parameters.Set(p);
    return true;
  }

  bool FlatSoftmax(const Shape& matrix) {
    const std::string& name = lowering_.graph.value(node_.results[0]).name;
    const int flat = lowering_.Alias(Input(0), name + "/flat", matrix);
    const ValueId result = node_.results[0];
    const Shape& shape = lowering_.type(result).shape;
    const int made =
        lowering_.AddTensor(name + "/rows", format_::ElementType::F64, matrix);
    format_::F64SoftmaxParametersT p;
    p.axis = 1;
    MakeInto(format_::Opcode::F64_SOFTMAX, {flat}, made).parameters.Set(p);
    lowering_.Hold(result, lowering_.Alias(made, name, shape),
                   IdentityPerm(shape.size()));
    return true;
  }

  bool AveragePool() {
    const Shape& x = lowering_.type(node_.operands[0]).shape;
    const auto counts = PoolCounts::Of(node_, x);
    if (!counts || x.size() > 4) return Unsupported("a pool of this shape");
    format_::PoolParametersT p;
    counts->Fill(&p);
    counts->FillDivisors(&p);
    Make(format_::Opcode::F64_AVERAGE_POOL, {Input(0)})
        .parameters.Set(std::move(p));
    return true;
  }

  bool Mean() {
    format_::ReduceParametersT p;
    p.kind = format_::ReduceKind::MEAN;
    const auto rank = lowering_.type(node_.operands[0]).shape.size();
    if (OpOf(node_) == Op::kGlobalAveragePool) {
      for (size_t d = 2; d < rank; ++d) p.axes.push_back(static_cast<int>(d));
    } else {
      const NodeView view(lowering_.graph, node_);
      const auto axes = ReducedAxes(view.view());
      if (!axes) return Unsupported("its axes are not constant");
      p.axes.assign(axes->begin(), axes->end());
    }
    Make(format_::Opcode::F64_REDUCE, {Input(0)}).parameters.Set(std::move(p));
    return true;
  }

  bool BatchNorm() {
    const std::vector<ValueId> parameters(node_.operands.begin() + 1,
                                          node_.operands.end());
    for (ValueId id : parameters) {
      if (!lowering_.graph.IsConstant(id)) {
        return Unsupported("its parameters are not constant");
      }
    }
    const ValueId result = node_.results[0];
    const int value = Normalize(
        Input(0), parameters, node_.attribute<double>("epsilon", 1e-5), Name());
    lowering_.Hold(result, value,
                   IdentityPerm(lowering_.type(result).shape.size()));
    return true;
  }

  Lowering& lowering_;
  NodeId id_;
  const Node& node_;
  int unfinished_ = -1;  // the result before the steps
};

}  // namespace

bool LowerIsland(Lowering& lowering, NodeId node) {
  return IslandOp(lowering, node).Run();
}

}  // namespace fold
