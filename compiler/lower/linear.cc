// Conv, Gemm and MatMul with constant weights.
#include <algorithm>

#include "compiler/exact/affine_output.h"
#include "compiler/lower/linear_weights.h"
#include "compiler/lower/requantization.h"
#include "compiler/ops/ops.h"
#include "compiler/ops/window.h"
#include "compiler/passes/pattern.h"
#include "runtime/format/packing.h"
#include "runtime/format/scratch.h"

namespace fold {
namespace {

bool HasOwnBias(const Node& node) {
  return OpOf(node) != Op::kMatMul && node.operands.size() > 2 &&
         node.operands[2].valid();
}

// Everything from the accumulator of output channel `n` to the real result.
std::vector<exact::ChainStep> ChannelChain(const Graph& graph, const Node& node,
                                           int64_t n) {
  const Encoding& x = *graph.value(node.operands[0]).type.encoding;
  const Encoding& w = *graph.value(node.operands[1]).type.encoding;
  const bool gemm = OpOf(node) == Op::kGemm;
  exact::Rational scale =
      exact::FromDouble(x.scale(0)) * exact::FromDouble(w.scale(n));
  if (gemm) scale *= exact::FromDouble(node.attribute<double>("alpha", 1.0));
  std::vector<exact::ChainStep> chain = {exact::Multiply{scale}};
  if (HasOwnBias(node)) {
    exact::Rational bias = RealConstant(graph, node.operands[2], n);
    if (gemm) bias *= exact::FromDouble(node.attribute<double>("beta", 1.0));
    chain.push_back(exact::Add{bias});
  }
  AppendSteps(graph, node, n, &chain);
  return chain;
}

// Adds the constants, and the result, of a linear op.
class LinearOp {
 public:
  LinearOp(Lowering& lowering, NodeId id)
      : lowering_(lowering),
        graph_(lowering.graph),
        id_(id),
        node_(lowering.graph.node(id)),
        weights_(lowering.graph, lowering.graph.node(id)) {}

  bool Run() {
    std::string fault = weights_.fault();
    if (fault.empty()) fault = BiasFault();
    if (!fault.empty()) {
      return lowering_.Error(DiagnosticCode::unsupported_operator, id_, fault);
    }
    const bool conv = OpOf(node_) == Op::kConv;
    const Shape& x = lowering_.type(node_.operands[0]).shape;
    if (conv && x.size() > 4) {
      return lowering_.Error(DiagnosticCode::unsupported_operator, id_,
                             "a convolution over three or more dimensions");
    }
    auto requant = MakeRequant();
    if (!requant) return false;
    return conv ? AddConv(std::move(requant))
                : AddFullyConnected(std::move(requant));
  }

 private:
  std::string BiasFault() const {
    if (!HasOwnBias(node_)) return "";
    const Value& bias = graph_.value(node_.operands[2]);
    const int64_t size = bias.constant->size();
    const Shape& result = lowering_.type(node_.results[0]).shape;
    const bool along = OpOf(node_) == Op::kConv
                           ? size == 1 || size == weights_.outputs()
                           : AsChannelVector(*bias.constant, result,
                                             ChannelAxis(node_, result))
                                 .has_value();
    if (!along) {
      return "the bias does not run along the output channels";
    }
    return "";
  }

  std::unique_ptr<format_::RequantT> MakeRequant() {
    const TensorType& result = lowering_.type(node_.results[0]);
    const int64_t axis = ChannelAxis(node_, result.shape);
    std::vector<exact::ChannelProblem> problems;
    for (int64_t n = 0; n < weights_.outputs(); ++n) {
      exact::ChannelProblem problem;
      weights_.AccumulatorRange(n, &problem.acc_low, &problem.acc_high);
      if (problem.acc_low < INT32_MIN || problem.acc_high > INT32_MAX) {
        const int64_t beyond =
            problem.acc_low < INT32_MIN ? problem.acc_low : problem.acc_high;
        lowering_.Error(DiagnosticCode::accumulator_overflow, id_,
                        "output channel " + std::to_string(n) + " can reach " +
                            std::to_string(beyond) + ", beyond 32 bits");
        return nullptr;
      }
      if (result.encoding) {
        problem.steps = ChannelChain(graph_, node_, n);
        const bool own = result.encoding->axis == axis;
        problem.quantization = QuantizationOf(result, own ? n : 0);
        problems.push_back(std::move(problem));
      }
    }
    if (result.encoding && !result.encoding->per_tensor() &&
        result.encoding->axis != axis) {
      lowering_.Error(DiagnosticCode::unsupported_operator, id_,
                      "its result is quantized along another axis");
      return nullptr;
    }
    if (!result.encoding) return std::make_unique<format_::RequantT>();
    return ProveRequant(lowering_, id_, problems);
  }

  // The result's tensor: codes, or int32 accumulators where the result is real.
  int AddResult(const Perm& perm) {
    const ValueId result = node_.results[0];
    if (lowering_.type(result).encoding) {
      return lowering_.AddValue(result, perm);
    }
    const Shape physical = Permuted(lowering_.type(result).shape, perm);
    const int raw = lowering_.AddTensor(graph_.value(result).name,
                                        format_::ElementType::S32, physical);
    auto q = std::make_unique<format_::QuantizationT>();
    const int64_t axis = ChannelAxis(node_, lowering_.type(result).shape);
    for (int64_t n = 0; n < weights_.outputs(); ++n) {
      const auto affine = exact::AffineOutputOf(ChannelChain(graph_, node_, n));
      if (!affine) return -1;
      q->scales.push_back(affine->scale);
      q->zero_points.push_back(0);
      q->offsets.push_back(affine->offset);
    }
    q->axis = PlaceOf(perm, axis);
    lowering_.program.artifact.tensors[raw]->quantization = std::move(q);
    lowering_.HoldAccumulators(result, raw, perm);
    return raw;
  }

  bool Finish(format_::Opcode opcode, std::vector<int> inputs, int result,
              int64_t depth, int64_t rows, format_::OpParametersUnion params) {
    if (result < 0) {
      return lowering_.Error(DiagnosticCode::unsupported_operator, id_,
                             "its real result is not a scale and an offset");
    }
    format_::OpT& op =
        lowering_.AddOp(id_, opcode, std::move(inputs), {result});
    if (depth > 0) {
      op.scratch_bytes = static_cast<uint64_t>(
          fold::format::RecommendedMatrixScratch(depth, rows));
    }
    op.parameters = std::move(params);
    return true;
  }

  // weights, correction, and weight zero points where there are any.
  void AddMatrixConstants(int64_t groups, std::vector<int>* inputs) {
    const int64_t columns = weights_.outputs() / groups;
    const int64_t depth = weights_.depth();
    const int64_t block = fold::format::PackedMatrixBytes(columns, depth);
    std::vector<int8_t> packed(groups * block);
    std::vector<int32_t> correction(weights_.outputs());
    const TensorType& x = lowering_.type(node_.operands[0]);
    for (int64_t g = 0; g < groups; ++g) {
      const auto weight = [&](int64_t n, int64_t k) {
        return weights_.code(g * columns + n, k);
      };
      const auto zero = [&](int64_t n) {
        return weights_.zero(g * columns + n);
      };
      fold::format::PackMatrix(columns, depth, weights_.is_unsigned(), weight,
                               packed.data() + g * block);
      fold::format::MatrixCorrections(
          columns, depth, weights_.is_unsigned(), weight, zero,
          static_cast<int32_t>(x.encoding->zero_points[0]),
          LowestCode(x.element) == 0, correction.data() + g * columns);
    }
    const std::string& name = graph_.value(node_.operands[1]).name;
    inputs->push_back(
        lowering_.AddConstantOf(name, format_::ElementType::S8,
                                {static_cast<int64_t>(packed.size())}, packed));
    inputs->push_back(
        lowering_.AddConstantOf(name + "/correction", format_::ElementType::S32,
                                {weights_.outputs()}, correction));
    std::vector<int32_t> zeros;
    for (int64_t n = 0; n < weights_.outputs(); ++n) {
      zeros.push_back(
          fold::format::SignedCode(weights_.zero(n), weights_.is_unsigned()));
    }
    if (std::any_of(zeros.begin(), zeros.end(), [](int32_t z) { return z; })) {
      inputs->push_back(lowering_.AddConstantOf(name + "/zero",
                                                format_::ElementType::S32,
                                                {weights_.outputs()}, zeros));
    }
  }

  int AddDepthwiseConstants() {
    const int64_t channels = weights_.outputs(), taps = weights_.depth();
    std::vector<int16_t> packed(
        fold::format::PackedDepthwiseElements(taps, channels));
    fold::format::PackDepthwise(
        channels, taps,
        [&](int64_t c, int64_t tap) {
          return weights_.code(c, tap) - weights_.zero(c);
        },
        packed.data());
    return lowering_.AddConstantOf(
        graph_.value(node_.operands[1]).name, format_::ElementType::S16,
        {static_cast<int64_t>(packed.size())}, packed);
  }

  bool AddConv(std::unique_ptr<format_::RequantT> requant) {
    const TensorType& x = lowering_.type(node_.operands[0]);
    const TensorType& w = lowering_.type(node_.operands[1]);
    const size_t rank = x.shape.size();
    std::string fault;
    const auto window = WindowOf(
        node_, x.shape, Shape(w.shape.begin() + 2, w.shape.end()), &fault);
    if (!window) {
      return lowering_.Error(DiagnosticCode::shape_mismatch, id_, fault);
    }
    const int64_t groups = node_.attribute<int64_t>("group", 1);
    const bool depthwise = groups == x.shape[1] && w.shape[1] == 1 &&
                           groups > 1 &&
                           FindTargetOp(lowering_.target, "depthwise_conv");
    format_::ConvParametersT p;
    const WindowAxis none;
    const WindowAxis& h = rank == 4 ? (*window)[0] : none;
    const WindowAxis& v = window->back();
    p.kernel_height = static_cast<int>(h.kernel);
    p.kernel_width = static_cast<int>(v.kernel);
    p.stride_height = static_cast<int>(h.stride);
    p.stride_width = static_cast<int>(v.stride);
    p.dilation_height = static_cast<int>(h.dilation);
    p.dilation_width = static_cast<int>(v.dilation);
    p.pad_top = static_cast<int>(h.pad_begin);
    p.pad_left = static_cast<int>(v.pad_begin);
    p.groups = depthwise ? 1 : static_cast<int>(groups);
    p.input_zero = static_cast<int>(x.encoding->zero_points[0]);
    p.requant = std::move(requant);
    std::vector<int> inputs = {
        lowering_.Want(node_.operands[0], ChannelsLast(rank))};
    if (depthwise) {
      inputs.push_back(AddDepthwiseConstants());
    } else {
      AddMatrixConstants(groups, &inputs);
    }
    const int result = AddResult(ChannelsLast(rank));
    int64_t rows = x.shape[0];
    for (const WindowAxis& axis : *window) rows *= axis.output;
    format_::OpParametersUnion params;
    params.Set(std::move(p));
    return Finish(
        depthwise ? format_::Opcode::DEPTHWISE_CONV : format_::Opcode::CONV,
        std::move(inputs), result, depthwise ? 0 : weights_.depth(), rows,
        std::move(params));
  }

  bool AddFullyConnected(std::unique_ptr<format_::RequantT> requant) {
    const TensorType& x = lowering_.type(node_.operands[0]);
    const bool transposed =
        OpOf(node_) == Op::kGemm && node_.attribute<int64_t>("transA", 0) != 0;
    format_::FullyConnectedParametersT p;
    p.input_zero = static_cast<int>(x.encoding->zero_points[0]);
    p.requant = std::move(requant);
    const Perm wanted = transposed ? Perm{1, 0} : IdentityPerm(x.shape.size());
    std::vector<int> inputs = {lowering_.Want(node_.operands[0], wanted)};
    AddMatrixConstants(1, &inputs);
    const size_t rank = lowering_.type(node_.results[0]).shape.size();
    const int result = AddResult(IdentityPerm(rank));
    const int64_t rows = ElementCount(lowering_.type(node_.results[0]).shape) /
                         weights_.outputs();
    format_::OpParametersUnion params;
    params.Set(std::move(p));
    return Finish(format_::Opcode::FULLY_CONNECTED, std::move(inputs), result,
                  weights_.depth(), rows, std::move(params));
  }

  Lowering& lowering_;
  const Graph& graph_;
  NodeId id_;
  const Node& node_;
  LinearWeights weights_;
};

}  // namespace

bool LowerLinear(Lowering& lowering, NodeId node) {
  return LinearOp(lowering, node).Run();
}

}  // namespace fold
