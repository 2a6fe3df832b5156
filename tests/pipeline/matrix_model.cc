#include "tests/pipeline/matrix_model.h"

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/regress/model_builder.h"

namespace fold::pipeline {
namespace {

using onnx::TensorProto;
using regress::ModelBuilder;
using regress::Shape;

// A quantization; `axis` where it has several scales.
struct Grid {
  int32_t type = TensorProto::INT8;
  std::vector<float> scales;
  std::vector<int64_t> zeros;
  int axis = -1;
};

// The names of a grid's numbers in the model.
struct Scheme {
  std::string scale, zero;
};

// A quantized tensor: its codes (in a dialect without any, what has been
// quantized), and its real value once somebody wants it.
struct Quantized {
  std::string codes, real;
  Scheme scheme;
  Grid grid;
};

// What an operator of the matrix is: names in both dialects and attributes.
struct Operator {
  std::string name;
  std::vector<std::pair<std::string, int64_t>> attributes;
};

bool IsSigned(const Grid& grid) { return grid.type == TensorProto::INT8; }

// Writes what is quantized in one dialect.
class Writer {
 public:
  explicit Writer(ModelBuilder* builder) : build_(builder) {}
  virtual ~Writer() = default;

  // A real value onto a grid.
  virtual Quantized Quantize(const std::string& value, const Grid& grid) = 0;
  virtual Quantized Constant(const Shape& shape,
                             const std::vector<int64_t>& codes,
                             const Grid& grid) = 0;
  // What `from` has in the file, with another quantization.
  virtual Quantized Again(const Quantized& from, const Grid& grid) = 0;
  // The real value; one node, however often it is asked for.
  virtual std::string Real(Quantized* value) = 0;
  // A real value from an operator on quantized ones; `between` is the result's
  // grid in a dialect whose operators have one.
  virtual std::string Apply(const Operator& op, Quantized* a, Quantized* b,
                            const Grid& /*between*/) {
    const std::string left = Real(a), right = Real(b);
    return AddNode(op.name, {left, right}, op);
  }
  // The constant, transposed.
  virtual Quantized Transpose(Quantized* value) {
    Quantized turned = *value;
    turned.real = build_->AddNode("Transpose", {Real(value)})->output(0);
    return turned;
  }
  // Makes it an output of the graph.
  virtual void AddOutput(Quantized* value, const Shape& shape) {
    build_->AddOutput(value->codes, value->grid.type, shape);
  }

 protected:
  std::string AddNode(const std::string& name,
                      const std::vector<std::string>& inputs,
                      const Operator& op) {
    auto* node = build_->AddNode(name, inputs);
    for (const auto& [key, value] : op.attributes) {
      ModelBuilder::Set(node, key, value);
    }
    return node->output(0);
  }

  ModelBuilder* build_;
};

// QuantizeLinear and DequantizeLinear.
class QdqWriter : public Writer {
 public:
  using Writer::Writer;

  Quantized Quantize(const std::string& value, const Grid& grid) override {
    const Scheme scheme = Write(grid);
    auto* node =
        build_->AddNode("QuantizeLinear", {value, scheme.scale, scheme.zero});
    return {node->output(0), "", scheme, grid};
  }

  Quantized Constant(const Shape& shape, const std::vector<int64_t>& codes,
                     const Grid& grid) override {
    return {build_->Integers("w", grid.type, shape, codes), "", Write(grid),
            grid};
  }

  Quantized Again(const Quantized& from, const Grid& grid) override {
    return {from.codes, "", Write(grid), grid};
  }

  std::string Real(Quantized* value) override {
    if (!value->real.empty()) return value->real;
    auto* node = build_->AddNode(
        "DequantizeLinear",
        {value->codes, value->scheme.scale, value->scheme.zero});
    if (value->grid.axis >= 0) {
      ModelBuilder::Set(node, "axis", value->grid.axis);
    }
    return value->real = node->output(0);
  }

 protected:
  Scheme Write(const Grid& grid) {
    const Shape shape = grid.axis < 0
                            ? Shape{}
                            : Shape{static_cast<int64_t>(grid.scales.size())};
    return {build_->Floats("scale", shape, grid.scales),
            build_->Integers("zero", grid.type, shape, grid.zeros)};
  }
};

// QLinear operators between the two.
class QLinearWriter final : public QdqWriter {
 public:
  using QdqWriter::QdqWriter;

  std::string Apply(const Operator& op, Quantized* a, Quantized* b,
                    const Grid& between) override {
    const Scheme scheme = Write(between);
    std::vector<std::string> inputs;
    for (const Quantized* value : {a, b}) {
      inputs.push_back(value->codes);
      inputs.push_back(value->scheme.scale);
      inputs.push_back(value->scheme.zero);
    }
    if (op.name == "Gemm") inputs.push_back("");  // no C
    inputs.push_back(scheme.scale);
    inputs.push_back(scheme.zero);
    const bool others = op.name == "Add" || op.name == "Mul";
    const std::string name = op.name == "Gemm" ? "com.microsoft.QGemm"
                             : others ? "com.microsoft.QLinear" + op.name
                                      : "QLinear" + op.name;
    Quantized result = {AddNode(name, inputs, op), "", scheme, between};
    return Real(&result);
  }

  Quantized Transpose(Quantized* value) override {
    Quantized turned = *value;
    turned.codes = build_->AddNode("Transpose", {value->codes})->output(0);
    turned.real.clear();
    if (turned.grid.axis >= 0) turned.grid.axis = 1 - turned.grid.axis;
    return turned;
  }
};

// QONNX's Quant: all values stay real, weights are numbers on their grid.
class QuantWriter final : public Writer {
 public:
  using Writer::Writer;

  Quantized Quantize(const std::string& value, const Grid& grid) override {
    Shape shape;  // broadcasts against what is quantized
    if (grid.axis >= 0) {
      shape.assign(rank_, 1);
      shape[grid.axis] = static_cast<int64_t>(grid.scales.size());
    }
    const std::vector<float> zeros(grid.zeros.begin(), grid.zeros.end());
    const std::string scale = build_->Floats("scale", shape, grid.scales);
    const std::string zero = build_->Floats("zero", shape, zeros);
    auto* node =
        build_->AddNode("qonnx.custom_op.general.Quant",
                        {value, scale, zero, build_->Floats("bits", {}, {8})});
    ModelBuilder::Set(node, "signed", IsSigned(grid));
    ModelBuilder::Set(node, "narrow", 0);
    return {value, node->output(0), {}, grid};
  }

  Quantized Constant(const Shape& shape, const std::vector<int64_t>& codes,
                     const Grid& grid) override {
    rank_ = shape.size();
    std::vector<float> reals;
    for (size_t i = 0; i < codes.size(); ++i) {
      const Shape at = regress::Coordinates(static_cast<int64_t>(i), shape);
      const size_t k = grid.axis < 0 ? 0 : at[grid.axis];
      reals.push_back(static_cast<float>(codes[i] - grid.zeros[k]) *
                      grid.scales[k]);
    }
    return Quantize(build_->Floats("w", shape, reals), grid);
  }

  Quantized Again(const Quantized& from, const Grid& grid) override {
    return Quantize(from.codes, grid);
  }

  std::string Real(Quantized* value) override { return value->real; }

  void AddOutput(Quantized* value, const Shape& shape) override {
    build_->AddOutput(value->real, TensorProto::FLOAT, shape);
  }

 private:
  size_t rank_ = 0;  // of the constant
};

std::unique_ptr<Writer> WriterOf(Source source, ModelBuilder* builder) {
  switch (source) {
    case Source::kQLinear:
      return std::make_unique<QLinearWriter>(builder);
    case Source::kQuant:
      return std::make_unique<QuantWriter>(builder);
    default:
      return std::make_unique<QdqWriter>(builder);
  }
}

// Sizes that differ, so that an axis cannot be taken for another.
constexpr int64_t kRows = 2, kDepth = 3, kColumns = 5;

struct Layout {
  Operator op;
  Shape x, w, y;
  bool constant_left = false, transpose_constant = false,
       transpose_result = false;
};

Layout GemmLayout(bool left, bool a, bool b) {
  Layout layout;
  layout.constant_left = left;
  layout.op = {"Gemm", {}};
  if (a) layout.op.attributes.push_back({"transA", 1});
  if (b) layout.op.attributes.push_back({"transB", 1});
  Shape first = {kRows, kDepth}, second = {kDepth, kColumns};
  if (a) std::swap(first[0], first[1]);
  if (b) std::swap(second[0], second[1]);
  layout.x = left ? second : first;
  layout.w = left ? first : second;
  layout.y = {kRows, kColumns};
  return layout;
}

Layout LayoutOf(Place place) {
  const Shape x = {kRows, kDepth}, w = {kDepth, kColumns},
              y = {kRows, kColumns};
  switch (place) {
    case Place::kMatMulLeft:
      return {{"MatMul", {}}, w, x, y, true};
    case Place::kGemmRight:
      return GemmLayout(false, false, false);
    case Place::kGemmRightTransposed:
      return GemmLayout(false, false, true);
    case Place::kGemmRightOtherTransposed:
      return GemmLayout(false, true, false);
    case Place::kGemmRightBothTransposed:
      return GemmLayout(false, true, true);
    case Place::kGemmLeft:
      return GemmLayout(true, false, false);
    case Place::kGemmLeftTransposed:
      return GemmLayout(true, true, false);
    case Place::kGemmLeftOtherTransposed:
      return GemmLayout(true, false, true);
    case Place::kGemmLeftBothTransposed:
      return GemmLayout(true, true, true);
    case Place::kTransposeOfConstant:
      return {{"MatMul", {}}, x, {kColumns, kDepth}, y, false, true};
    case Place::kTransposeOfResult:
      return {{"MatMul", {}}, x, w, {kColumns, kRows}, false, false, true};
    case Place::kConv:
      return {{"Conv", {}},
              {1, kDepth, 2, 2},
              {kColumns, kDepth, 2, 1},
              {1, kColumns, 1, 2}};
    case Place::kAddRight:
    case Place::kAddLeft:
      return {{"Add", {}}, x, x, x, place == Place::kAddLeft};
    case Place::kMulRight:
    case Place::kMulLeft:
      return {{"Mul", {}}, x, x, x, place == Place::kMulLeft};
    default:
      return {{"MatMul", {}}, x, w, y};
  }
}

int64_t Zero(bool is_signed, ZeroPoints kind) {
  if (kind == ZeroPoints::kZero) return 0;
  if (kind == ZeroPoints::kExtreme) return is_signed ? -128 : 255;
  return is_signed ? 37 : 131;
}

Grid OneScale(bool is_signed, float scale, ZeroPoints zero_points) {
  return {is_signed ? TensorProto::INT8 : TensorProto::UINT8,
          {scale},
          {Zero(is_signed, zero_points)},
          -1};
}

Grid ConstantGrid(const Combination& c, const Shape& shape, float factor) {
  constexpr float kScales[] = {0.0231f, 0.017f, 0.04f, 0.0125f, 0.03125f};
  Grid grid = OneScale(c.signed_weights, kScales[0] * factor, c.zero_points);
  if (c.scales == Scales::kPerTensor) return grid;
  grid.axis = c.scales == Scales::kAxis0 ? 0 : 1;
  grid.scales.clear();
  grid.zeros.clear();
  for (int64_t i = 0; i < shape[grid.axis]; ++i) {
    grid.scales.push_back(kScales[i] * factor);
    // Some channels have another one.
    const auto kind = static_cast<int>(c.zero_points);
    const auto count = static_cast<int>(ZeroPoints::kCount);
    grid.zeros.push_back(
        Zero(c.signed_weights,
             static_cast<ZeroPoints>(
                 c.zero_points == ZeroPoints::kZero ? 0 : (kind + i) % count)));
  }
  return grid;
}

class MatrixModel {
 public:
  explicit MatrixModel(const Combination& combination)
      : c_(combination),
        layout_(LayoutOf(combination.place)),
        build_("matrix"),
        writer_(WriterOf(combination.source, &build_)) {}

  onnx::ModelProto Build() {
    std::mt19937 engine(7);
    std::vector<int64_t> codes;
    for (int64_t i = 0; i < regress::Count(layout_.w); ++i) {
      const auto drawn = static_cast<int64_t>(engine() % 256);
      codes.push_back(c_.signed_weights ? drawn - 128 : drawn);
    }
    codes.front() = c_.signed_weights ? -128 : 0;
    codes.back() = c_.signed_weights ? 127 : 255;
    Quantized w =
        writer_->Constant(layout_.w, codes, ConstantGrid(c_, layout_.w, 1));
    AddPath("x", &w);
    if (c_.sharing == Sharing::kTwoConsumers) {
      AddPath("x2", &w);
    } else if (c_.sharing == Sharing::kTwoScales) {
      Quantized again = writer_->Again(w, ConstantGrid(c_, layout_.w, 1.7f));
      AddPath("x2", &again);
    } else if (c_.sharing == Sharing::kAlsoOutput) {
      // Of codes, or of real values where the dialect has those.
      if (c_.source == Source::kQdq) {
        build_.AddOutput(writer_->Real(&w), TensorProto::FLOAT, layout_.w);
      } else {
        writer_->AddOutput(&w, layout_.w);
      }
    }
    return build_.model();
  }

 private:
  // From an input through the operator and the division to an output.
  void AddPath(const std::string& input, Quantized* w) {
    build_.AddInput(input, TensorProto::FLOAT, layout_.x);
    Quantized x = writer_->Quantize(
        input, OneScale(c_.signed_activations, 0.0437f, c_.zero_points));
    Quantized turned;
    if (layout_.transpose_constant) {
      turned = writer_->Transpose(w);
      w = &turned;
    }
    const float scale = layout_.op.name == "Add" ? 0.08f : 0.19f;
    const Grid between =
        OneScale(c_.signed_activations, scale, ZeroPoints::kMiddle);
    std::string y = layout_.constant_left
                        ? writer_->Apply(layout_.op, w, &x, between)
                        : writer_->Apply(layout_.op, &x, w, between);
    if (layout_.transpose_result) {
      y = build_.AddNode("Transpose", {y})->output(0);
    }
    y = Divided(y, between);
    Quantized result = writer_->Quantize(
        y, OneScale(c_.signed_activations, 0.11f, c_.zero_points));
    writer_->AddOutput(&result, layout_.y);
  }

  std::string Divided(const std::string& y, const Grid& between) {
    switch (c_.division) {
      case Division::kByConstant:
        return Binary("Div", y, build_.Floats("c", {}, {1.7f}));
      case Division::kByReciprocal:
        return Binary("Mul", y, build_.Floats("c", {}, {1 / 1.7f}));
      case Division::kByChannel: {
        const std::vector<float> all = {1.7f, -0.6f, 2.25f, 3.1f, -1.3f};
        const bool spatial = layout_.y.size() == 4;
        const int64_t channels = spatial ? layout_.y[1] : layout_.y.back();
        const Shape shape = spatial ? Shape{channels, 1, 1} : Shape{channels};
        return Binary(
            "Div", y,
            build_.Floats("c", shape, {all.begin(), all.begin() + channels}));
      }
      default: {
        // Of a quantized value: of a sum of products it would be a function
        // of too many codes.
        Quantized x = writer_->Quantize(y, between);
        return Binary("Div", build_.Floats("c", {}, {3.3f}), writer_->Real(&x));
      }
    }
  }

  std::string Binary(const std::string& op, const std::string& a,
                     const std::string& b) {
    return build_.AddNode(op, {a, b})->output(0);
  }

  Combination c_;
  Layout layout_;
  ModelBuilder build_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace

onnx::ModelProto ModelOf(const Combination& combination) {
  return MatrixModel(combination).Build();
}

}  // namespace fold::pipeline
