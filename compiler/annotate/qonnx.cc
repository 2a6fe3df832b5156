#include "compiler/annotate/qonnx.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "compiler/ir/rewriter.h"
#include "compiler/ops/op_spec.h"

namespace fold {
namespace {

constexpr int64_t kMostBits = 32;

struct CodeBounds {
  int64_t low, high;
};

CodeBounds BoundsOf(const Node& node, int64_t bits) {
  const bool is_signed = node.attribute<int64_t>("signed", 1) != 0;
  const int64_t narrow = node.attribute<int64_t>("narrow", 0) != 0 ? 1 : 0;
  const int64_t half = int64_t{1} << (bits - 1);
  return is_signed ? CodeBounds{-half + narrow, half - 1}
                   : CodeBounds{0, 2 * half - 1 - narrow};
}

std::string Upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

class QonnxReader {
 public:
  QonnxReader(const Graph& graph, NodeId id, Diagnostics* sink)
      : graph_(graph),
        node_(graph.node(id)),
        sink_(sink),
        user_(UserName(graph, id)),
        shape_(graph.value(node_.operands[0]).type.shape) {}

  std::optional<Encoding> Read() {
    encoding_.source =
        std::string(Ops().Mnemonic(node_.op)) + " '" + user_ + "'";
    const Op op = OpOf(node_);
    const bool good = op == Op::kBipolarQuant ? ReadBipolar()
                      : op == Op::kTrunc      ? ReadTrunc()
                                              : ReadQuant();
    if (!good) return std::nullopt;
    return SimplifyEncoding(encoding_);
  }

 private:
  bool Fault(DiagnosticCode code, const std::string& message) const {
    return sink_->Add(code, user_, message);
  }

  TensorPtr Parameter(size_t at, const char* what) const {
    TensorPtr tensor = ConstantOf(graph_, node_.operands[at]);
    if (!tensor || tensor->size() == 0) {
      Fault(DiagnosticCode::dynamic_quantization,
            std::string("its ") + what +
                " is computed at run time; foldd needs constants");
      return nullptr;
    }
    return tensor;
  }

  // The axis of the result that a parameter varies along (-1: none); false
  // with a diagnostic if there are two, or if it makes the result larger.
  bool AxisOf(const Tensor& tensor, const char* what, int* axis) const {
    *axis = -1;
    const size_t rank = tensor.shape.size();
    if (rank > shape_.size()) {
      return Fault(DiagnosticCode::bad_axis,
                   std::string("its ") + what + " has " + std::to_string(rank) +
                       " dimensions, the tensor " +
                       std::to_string(shape_.size()));
    }
    for (size_t d = 0; d < rank; ++d) {
      if (tensor.shape[d] == 1) continue;
      const size_t at = shape_.size() - rank + d;
      if (*axis >= 0 || tensor.shape[d] != shape_[at]) {
        return Fault(DiagnosticCode::bad_axis,
                     std::string("its ") + what +
                         " fits no single dimension of the tensor");
      }
      *axis = static_cast<int>(at);
    }
    return true;
  }

  bool ReadScale(size_t at) {
    const TensorPtr scale = Parameter(at, "scale");
    if (!scale || !AxisOf(*scale, "scale", &encoding_.axis)) return false;
    for (int64_t i = 0; i < scale->size(); ++i) {
      const double s = scale->real(i);
      if (!std::isfinite(s) || s <= 0) {
        return Fault(DiagnosticCode::bad_scale,
                     "a scale is " + std::to_string(s) +
                         "; it has to be finite and greater than zero");
      }
      encoding_.scales.push_back(s);
    }
    return true;
  }

  bool ReadZero(size_t at) {
    const TensorPtr zero = Parameter(at, "zero point");
    int axis = -1;
    if (!zero || !AxisOf(*zero, "zero point", &axis)) return false;
    if (axis >= 0 && encoding_.axis < 0) {
      encoding_.axis = axis;
      encoding_.scales.resize(zero->size(), encoding_.scales[0]);
    }
    if (axis >= 0 && axis != encoding_.axis) {
      return Fault(DiagnosticCode::bad_axis,
                   "scale and zero point vary along different dimensions");
    }
    for (size_t i = 0; i < encoding_.scales.size(); ++i) {
      const int64_t at_zero = axis < 0 ? 0 : static_cast<int64_t>(i);
      const double z = zero->real(at_zero);
      constexpr double kLimit = 4294967296.0;
      if (z != std::floor(z) || std::fabs(z) > kLimit) {
        return Fault(DiagnosticCode::bad_zero_point,
                     "its zero point is not a whole number below 2^32");
      }
      encoding_.zero_points.push_back(static_cast<int64_t>(z));
    }
    return true;
  }

  std::optional<int64_t> Bits(size_t at) const {
    const TensorPtr tensor = Parameter(at, "bit width");
    if (!tensor) return std::nullopt;
    for (int64_t i = 0; i < tensor->size(); ++i) {
      const double bits = tensor->real(i);
      if (bits == tensor->real(0) && bits == std::floor(bits) && bits >= 1 &&
          bits <= kMostBits) {
        continue;
      }
      Fault(DiagnosticCode::unsupported_attribute,
            "its bit width is not one whole number from 1 to 32");
      return std::nullopt;
    }
    return static_cast<int64_t>(tensor->real(0));
  }

  bool AllZeros(bool (*good)(int64_t)) const {
    return std::all_of(encoding_.zero_points.begin(),
                       encoding_.zero_points.end(), good);
  }

  // The mode's rounding of x / scale, where QONNX rounds x / scale + zero.
  bool ReadRounding(const char* otherwise) {
    const std::string mode =
        Upper(node_.attribute<std::string>("rounding_mode", otherwise));
    const auto take = [&](Rounding rounding, bool possible) {
      encoding_.rounding = rounding;
      return possible ||
             Fault(DiagnosticCode::unsupported_attribute,
                   "rounding mode " + mode +
                       " with a zero point other than 0 is not supported");
    };
    const bool no_zero = AllZeros([](int64_t z) { return z == 0; });
    if (mode == "FLOOR") return take(Rounding::kFloor, true);
    if (mode == "CEIL") return take(Rounding::kCeil, true);
    if (mode == "UP") return take(Rounding::kFromZero, no_zero);
    if (mode == "DOWN" || mode == "ROUND_TO_ZERO") {
      return take(Rounding::kToZero, no_zero);
    }
    if (mode == "HALF_UP") return take(Rounding::kHalfFromZero, no_zero);
    if (mode == "HALF_DOWN") return take(Rounding::kHalfToZero, no_zero);
    if (mode == "ROUND" || mode == "HALF_EVEN") {
      if (AllZeros([](int64_t z) { return z % 2 == 0; })) {
        return take(Rounding::kHalfEven, true);
      }
      if (AllZeros([](int64_t z) { return z % 2 != 0; })) {
        return take(Rounding::kHalfOdd, true);
      }
      return take(Rounding::kHalfEvenCode, true);
    }
    return Fault(DiagnosticCode::unsupported_attribute,
                 "there is no rounding mode '" + mode + "'");
  }

  bool ReadQuant() {
    if (!ReadScale(1) || !ReadZero(2) || !ReadRounding("ROUND")) return false;
    const auto bits = Bits(3);
    if (!bits) return false;
    const CodeBounds bounds = BoundsOf(node_, *bits);
    encoding_.code_low = bounds.low;
    encoding_.code_high = bounds.high;
    return true;
  }

  bool ReadBipolar() {
    if (!ReadScale(1)) return false;
    encoding_.zero_points.assign(encoding_.scales.size(), 0);
    encoding_.code_low = -1;
    encoding_.code_high = 1;
    encoding_.rounding = Rounding::kSign;
    return true;
  }

  bool ReadTrunc() {
    if (node_.operands.size() != 6) {
      return Fault(DiagnosticCode::unsupported_operator,
                   "Trunc of operator set version 1 does not say which codes "
                   "it gives; export it with version 2 (out_scale, signed)");
    }
    if (!ReadScale(1) || !ReadZero(2) || !ReadRounding("FLOOR")) return false;
    const auto bits = Bits(5);
    if (!bits) return false;
    const Rounding rounding = encoding_.rounding;
    if (rounding != Rounding::kFloor && rounding != Rounding::kCeil) {
      return Fault(DiagnosticCode::unsupported_attribute,
                   "a Trunc rounds with FLOOR or CEIL");
    }
    const Encoding in = encoding_;
    encoding_.scales.clear();
    encoding_.zero_points.clear();
    if (!ReadScale(4)) return false;
    if (!in.per_tensor() || !encoding_.per_tensor()) {
      return Fault(DiagnosticCode::bad_axis, "a Trunc has one scale");
    }
    int exponent = 0;
    const double ratio = encoding_.scales[0] / in.scales[0];
    if (std::frexp(ratio, &exponent) != 0.5 || ratio < 1 ||
        ratio * in.scales[0] != encoding_.scales[0]) {
      return Fault(DiagnosticCode::bad_scale,
                   "the scales of a Trunc differ by no power of two");
    }
    const double zero = static_cast<double>(in.zero_points[0]) / ratio;
    if (zero != std::floor(zero)) {
      return Fault(DiagnosticCode::bad_zero_point,
                   "its zero point is no multiple of the scales' ratio");
    }
    encoding_.zero_points = {static_cast<int64_t>(zero)};
    // Without dropped bits what is rounded is whole already.
    if (ratio == 1) {
      encoding_.rounding =
          in.zero_points[0] % 2 == 0 ? Rounding::kHalfEven : Rounding::kHalfOdd;
    }
    const CodeBounds bounds = BoundsOf(node_, *bits);
    encoding_.code_low = bounds.low;
    encoding_.code_high = bounds.high;
    return true;
  }

  const Graph& graph_;
  const Node& node_;
  Diagnostics* sink_;
  std::string user_;
  const Shape& shape_;
  Encoding encoding_;
};

}  // namespace

bool IsQonnx(Op op) {
  return op == Op::kQuant || op == Op::kBipolarQuant || op == Op::kTrunc;
}

std::optional<Encoding> QonnxEncoding(const Graph& graph, NodeId node,
                                      Diagnostics* sink) {
  return QonnxReader(graph, node, sink).Read();
}

// With r = x / s rounded half to even and b >= 1 bits dropped, floor(r / 2^b)
// steps to k where r reaches k * 2^b, an even number, which takes the tie: at
// x / s = k * 2^b - 1/2. So it is floor((x + s / 2) / (s * 2^b)); ceil alike.
double TruncAddend(const Graph& graph, const Node& node) {
  if (OpOf(node) != Op::kTrunc) return 0;
  const double in = ConstantOf(graph, node.operands[1])->real(0);
  const double out = ConstantOf(graph, node.operands[4])->real(0);
  const Rounding rounding =
      graph.value(node.results[0]).type.encoding->rounding;
  if (out == in) return 0;
  return rounding == Rounding::kFloor ? in / 2 : -in / 2;
}

ElementType StorageOf(const Encoding& encoding) {
  for (ElementType type : {ElementType::i8, ElementType::u8, ElementType::i16,
                           ElementType::u16, ElementType::i32}) {
    // Codes that both 8-bit types have are signed only if one is negative.
    if (type == ElementType::i8 && *encoding.code_low >= 0) continue;
    if (type == ElementType::i16 && *encoding.code_low >= 0) continue;
    if (*encoding.code_low >= LowestCode(type) &&
        *encoding.code_high <= HighestCode(type)) {
      return type;
    }
  }
  return ElementType::u32;
}

}  // namespace fold
