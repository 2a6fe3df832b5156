// Float islands: operators evaluated in double, in ONNX order of dimensions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/lower/lowering.h"
#include "compiler/lower/pool_counts.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/pool.h"

namespace fold {
namespace {

class IslandOp {
 public:
  IslandOp(Lowering& lowering, NodeId id)
      : lowering_(lowering), id_(id), node_(lowering.graph.node(id)) {}

  bool Run() {
    if (!lowering_.Island(id_)) return false;
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
        return Binary(format_::BinaryKind::DIV, Input(0), Input(1));
      case Op::kRelu:
        return Unary(format_::UnaryKind::RELU, 0, 0);
      case Op::kClip:
        return Clip();
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

 private:
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
    const ValueId result = node_.results[0];
    const int output = lowering_.AddValue(
        result, IdentityPerm(lowering_.type(result).shape.size()));
    return MakeInto(opcode, std::move(inputs), output);
  }

  bool Binary(format_::BinaryKind kind, int a, int b) {
    format_::F64BinaryParametersT p;
    p.kind = kind;
    Make(format_::Opcode::F64_BINARY, {a, b}).parameters.Set(std::move(p));
    return true;
  }

  bool Unary(format_::UnaryKind kind, double alpha, double beta) {
    format_::F64UnaryParametersT p;
    p.kind = kind;
    p.alpha = alpha;
    p.beta = beta;
    Make(format_::Opcode::F64_UNARY, {Input(0)}).parameters.Set(std::move(p));
    return true;
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
    auto window =
        WindowOf(node_, x, Shape(w.begin() + 2, w.end()), &fault);
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
    Make(format_::Opcode::F64_GEMM, std::move(inputs))
        .parameters.Set(std::move(p));
    return true;
  }

  bool Softmax() {
    const auto rank =
        static_cast<int64_t>(lowering_.type(node_.operands[0]).shape.size());
    const bool flat = node_.attribute<int64_t>("opset", 13) < 13;
    int64_t axis = node_.attribute<int64_t>("axis", flat ? 1 : -1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return Unsupported("its axis is out of range");
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
    Make(format_::Opcode::F64_SOFTMAX, {Input(0)}).parameters.Set(std::move(p));
    return true;
  }

  bool FlatSoftmax(const Shape& matrix) {
    const std::string& name = lowering_.graph.value(node_.results[0]).name;
    const int flat = lowering_.Alias(Input(0), name + "/flat", matrix);
    const ValueId result = node_.results[0];
    const Shape& shape = lowering_.type(result).shape;
    const int made = lowering_.AddTensor(name + "/rows",
                                         format_::ElementType::F64, matrix);
    format_::F64SoftmaxParametersT p;
    p.axis = 1;
    MakeInto(format_::Opcode::F64_SOFTMAX, {flat}, made)
        .parameters.Set(std::move(p));
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

  // (x - mean) * (scale / sqrt(variance + epsilon)) + bias, per channel.
  bool BatchNorm() {
    const ValueId result = node_.results[0];
    const Shape& shape = lowering_.type(result).shape;
    const double epsilon = node_.attribute<double>("epsilon", 1e-5);
    std::vector<double> mean, factor, bias;
    for (int i = 1; i < 5; ++i) {
      if (!lowering_.graph.IsConstant(node_.operands[i])) {
        return Unsupported("its parameters are not constant");
      }
    }
    const auto parameter = [&](int i, int64_t c) {
      return lowering_.graph.value(node_.operands[i]).constant->real(c);
    };
    const int64_t channels = shape.size() > 1 ? shape[1] : 1;
    for (int64_t c = 0; c < channels; ++c) {
      factor.push_back(parameter(1, c) / std::sqrt(parameter(4, c) + epsilon));
      bias.push_back(parameter(2, c));
      mean.push_back(parameter(3, c));
    }
    Shape along(shape.size(), 1);
    if (shape.size() > 1) along[1] = channels;
    const std::string& name = lowering_.graph.value(result).name;
    const auto step = [&](format_::BinaryKind kind, int from,
                          const std::vector<double>& values,
                          const std::string& suffix) {
      const int constant =
          lowering_.AddConstantOf(name + suffix + "/constant",
                                  format_::ElementType::F64, along, values);
      const int to = lowering_.AddTensor(name + suffix,
                                         format_::ElementType::F64, shape);
      format_::F64BinaryParametersT p;
      p.kind = kind;
      MakeInto(format_::Opcode::F64_BINARY, {from, constant}, to)
          .parameters.Set(std::move(p));
      return to;
    };
    int value = step(format_::BinaryKind::SUB, Input(0), mean, "/centred");
    value = step(format_::BinaryKind::MUL, value, factor, "/scaled");
    value = step(format_::BinaryKind::ADD, value, bias, "");
    lowering_.Hold(result, value, IdentityPerm(shape.size()));
    return true;
  }

  Lowering& lowering_;
  NodeId id_;
  const Node& node_;
};

}  // namespace

bool LowerIsland(Lowering& lowering, NodeId node) {
  return IslandOp(lowering, node).Run();
}

}  // namespace fold
