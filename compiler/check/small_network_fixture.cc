#include "compiler/check/small_network_fixture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>

#include "runtime/format/packing.h"

namespace fold::check {
namespace {

using format::ElementType;
using format::Opcode;
using format::Storage;
using onnx::TensorProto;
using Ints = std::vector<int64_t>;

struct Grid {
  float scale;
  int64_t zero;
  bool is_unsigned;
  int64_t low() const { return is_unsigned ? 0 : -128; }
  int64_t high() const { return is_unsigned ? 255 : 127; }
};

constexpr Grid kX = {0.05F, 128, true};
constexpr Grid kC = {0.04F, 3, true};
constexpr Grid kD = {0.06F, -5, false};
constexpr Grid kA = {0.07F, 100, true};
constexpr Grid kG = {0.3F, 10, false};
constexpr Grid kT = {0.02F, 0, false};

int64_t Quantized(long double x, const Grid& grid) {
  const long double code = std::rint(x / grid.scale) + grid.zero;
  if (code < grid.low()) return grid.low();
  return code > grid.high() ? grid.high() : static_cast<int64_t>(code);
}

class Builder {
 public:
  SmallNetwork Build();

 private:
  // The ONNX side.
  void Constant(const std::string& name, int type, const Ints& dims,
                const std::vector<double>& values);
  onnx::NodeProto* Node(const std::string& op,
                        const std::vector<std::string>& in,
                        const std::string& out);
  void Ints_(onnx::NodeProto* node, const std::string& name, const Ints& list);
  void GridConstants(const std::string& name, const Grid& grid);
  void Quantize(const std::string& in, const std::string& out,
                const std::string& grid);
  void Dequantize(const std::string& in, const std::string& out,
                  const std::string& grid);
  void MakeConstants();
  void MakeNodes();

  // The artifact's side.
  int Tensor(const std::string& name, ElementType type, const Ints& shape,
             Storage storage, uint64_t offset);
  int InArena(const std::string& name, const Grid& grid, const Ints& shape);
  int InConstants(ElementType type, const Ints& shape, const void* data);
  format::OpT* Op(const std::string& name, Opcode opcode, std::vector<int> in,
                  int out);
  void Requantize(format::RequantT* requant, const std::string& op,
                  int channels, const Grid& grid, Range range,
                  const std::function<long double(int64_t, int)>& real,
                  const std::function<long double(int)>& slope);
  Range Reach(const std::vector<int>& weights, size_t begin, size_t count,
              Range codes, int64_t zero, bool pads);
  void MakeBoundary();
  void MakeConvolution();
  void MakeDepthwise();
  void MakePools();
  void MakeMatrices();
  void MakeTable();

  SmallNetwork net_;
  uint64_t arena_ = 0;
  std::map<std::string, int> numbers_;
  std::vector<int> w1_, w2_, w3_, w4_;
  std::vector<float> w2_float_, s1_, s2_, s4_;
  std::vector<int> b1_;
  std::vector<float> sb1_, b3_, gamma_, beta_, mean_, variance_;
  Range c_codes_ = {0, 255};
  Range g_codes_ = {-128, 127};
};

void Builder::Constant(const std::string& name, int type, const Ints& dims,
                       const std::vector<double>& values) {
  TensorProto* tensor = net_.model.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (const int64_t size : dims) tensor->add_dims(size);
  for (const double value : values) {
    if (type == TensorProto::FLOAT) {
      tensor->add_float_data(static_cast<float>(value));
    } else {
      tensor->add_int32_data(static_cast<int32_t>(value));
    }
  }
}

onnx::NodeProto* Builder::Node(const std::string& op,
                               const std::vector<std::string>& in,
                               const std::string& out) {
  onnx::NodeProto* node = net_.model.mutable_graph()->add_node();
  node->set_op_type(op);
  for (const std::string& name : in) node->add_input(name);
  node->add_output(out);
  return node;
}

void Builder::Ints_(onnx::NodeProto* node, const std::string& name,
                    const Ints& list) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (const int64_t x : list) attribute->add_ints(x);
}

void Builder::GridConstants(const std::string& name, const Grid& grid) {
  Constant(name + "_s", TensorProto::FLOAT, {}, {grid.scale});
  Constant(name + "_z",
           grid.is_unsigned ? TensorProto::UINT8 : TensorProto::INT8, {},
           {static_cast<double>(grid.zero)});
}

void Builder::Quantize(const std::string& in, const std::string& out,
                       const std::string& grid) {
  Node("QuantizeLinear", {in, grid + "_s", grid + "_z"}, out);
}

void Builder::Dequantize(const std::string& in, const std::string& out,
                         const std::string& grid) {
  Node("DequantizeLinear", {in, grid + "_s", grid + "_z"}, out);
}

void AxisAttribute(onnx::NodeProto* node, const std::string& name,
                   int64_t value) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}

void Builder::MakeConstants() {
  std::mt19937 random(3);
  const auto ints = [&](int count, int low, int high) {
    std::vector<int> list(count);
    for (int& x : list) x = low + static_cast<int>(random() % (high - low + 1));
    return list;
  };
  const auto floats = [&](int count, float low, float high) {
    std::vector<float> list(count);
    for (float& x : list) {
      x = low + (high - low) * static_cast<float>(random() % 10007) / 10007;
    }
    return list;
  };
  const auto doubles = [](const auto& list) {
    return std::vector<double>(list.begin(), list.end());
  };
  w1_ = ints(54, -31, 31);
  s1_ = floats(3, 0.008F, 0.016F);
  b1_ = ints(3, -3000, 3000);
  for (const float s : s1_) sb1_.push_back(kX.scale * s);
  s2_ = floats(3, 0.004F, 0.006F);
  w2_float_ = floats(12, -0.7F, 0.7F);
  for (int i = 0; i < 12; ++i) {
    const Grid grid = {s2_[i / 4], 0, false};
    w2_.push_back(static_cast<int>(Quantized(w2_float_[i], grid)));
  }
  gamma_ = floats(3, 0.5F, 1.5F);
  gamma_[1] = -gamma_[1];
  beta_ = floats(3, -1, 1);
  mean_ = floats(3, -1, 1);
  variance_ = floats(3, 0.3F, 2);
  w3_ = ints(27 * 4, 0, 255);
  b3_ = floats(4, -3, 3);
  w4_ = ints(27 * 2, -127, 127);
  s4_ = floats(2, 0.003F, 0.006F);
  Constant("w1", TensorProto::INT8, {3, 2, 3, 3}, doubles(w1_));
  Constant("w1_s", TensorProto::FLOAT, {3}, doubles(s1_));
  Constant("b1", TensorProto::INT32, {3}, doubles(b1_));
  Constant("b1_s", TensorProto::FLOAT, {3}, doubles(sb1_));
  Constant("w2", TensorProto::FLOAT, {3, 1, 2, 2}, doubles(w2_float_));
  Constant("w2_s", TensorProto::FLOAT, {3}, doubles(s2_));
  Constant("w2_z", TensorProto::INT8, {3}, {0, 0, 0});
  Constant("gamma", TensorProto::FLOAT, {3}, doubles(gamma_));
  Constant("beta", TensorProto::FLOAT, {3}, doubles(beta_));
  Constant("mean", TensorProto::FLOAT, {3}, doubles(mean_));
  Constant("variance", TensorProto::FLOAT, {3}, doubles(variance_));
  Constant("w3", TensorProto::UINT8, {27, 4}, doubles(w3_));
  Constant("w3_s", TensorProto::FLOAT, {}, {0.01F});
  Constant("w3_z", TensorProto::UINT8, {}, {120});
  Constant("b3", TensorProto::FLOAT, {4}, doubles(b3_));
  Constant("w4", TensorProto::INT8, {27, 2}, doubles(w4_));
  Constant("w4_s", TensorProto::FLOAT, {2}, doubles(s4_));
  Constant("low", TensorProto::FLOAT, {}, {-1});
  Constant("high", TensorProto::FLOAT, {}, {2});
  GridConstants("x", kX);
  GridConstants("c", kC);
  GridConstants("d", kD);
  GridConstants("a", kA);
  GridConstants("g", kG);
  GridConstants("t", kT);
}

void Builder::MakeNodes() {
  Quantize("x", "x_q", "x");
  Dequantize("x_q", "x_d", "x");
  AxisAttribute(Node("DequantizeLinear", {"w1", "w1_s"}, "w1_d"), "axis", 0);
  AxisAttribute(Node("DequantizeLinear", {"b1", "b1_s"}, "b1_d"), "axis", 0);
  Ints_(Node("Conv", {"x_d", "w1_d", "b1_d"}, "conv"), "pads", {1, 1, 1, 1});
  Node("Relu", {"conv"}, "relu");
  Quantize("relu", "c_q", "c");
  Dequantize("c_q", "c_d", "c");
  AxisAttribute(Node("QuantizeLinear", {"w2", "w2_s", "w2_z"}, "w2_q"), "axis",
                0);
  AxisAttribute(Node("DequantizeLinear", {"w2_q", "w2_s", "w2_z"}, "w2_d"),
                "axis", 0);
  AxisAttribute(Node("Conv", {"c_d", "w2_d"}, "depthwise"), "group", 3);
  Node("BatchNormalization", {"depthwise", "gamma", "beta", "mean", "variance"},
       "norm");
  Quantize("norm", "d_q", "d");
  Dequantize("d_q", "d_d", "d");
  Ints_(Node("MaxPool", {"c_d"}, "max"), "kernel_shape", {2, 2});
  Quantize("max", "m_q", "c");
  Dequantize("m_q", "m_d", "c");
  Node("Add", {"d_d", "m_d"}, "add");
  Quantize("add", "a_q", "a");
  Dequantize("a_q", "a_d", "a");
  onnx::NodeProto* pool = Node("AveragePool", {"a_d"}, "mean_pool");
  Ints_(pool, "kernel_shape", {2, 2});
  Ints_(pool, "pads", {1, 1, 0, 0});
  Quantize("mean_pool", "p_q", "a");
  Dequantize("p_q", "p_d", "a");
  Node("Flatten", {"p_d"}, "flat");
  Node("DequantizeLinear", {"w3", "w3_s", "w3_z"}, "w3_d");
  Node("Gemm", {"flat", "w3_d", "b3"}, "gemm");
  Quantize("gemm", "g_q", "g");
  Dequantize("g_q", "g_d", "g");
  Node("Clip", {"g_d", "low", "high"}, "clip");
  Quantize("clip", "t_q", "t");
  Dequantize("t_q", "y", "t");
  AxisAttribute(Node("DequantizeLinear", {"w4", "w4_s"}, "w4_d"), "axis", 1);
  Node("MatMul", {"flat", "w4_d"}, "z");
}

int Builder::Tensor(const std::string& name, ElementType type,
                    const Ints& shape, Storage storage, uint64_t offset) {
  auto tensor = std::make_unique<format::TensorT>();
  tensor->name = name;
  tensor->type = type;
  tensor->shape = shape;
  tensor->storage = storage;
  tensor->offset = offset;
  int64_t bytes = type == ElementType::F32 || type == ElementType::S32 ? 4
                  : type == ElementType::S16                           ? 2
                                                                       : 1;
  for (const int64_t size : shape) bytes *= size;
  tensor->bytes = bytes;
  net_.artifact.tensors.push_back(std::move(tensor));
  const int number = static_cast<int>(net_.artifact.tensors.size()) - 1;
  if (!name.empty()) numbers_[name] = number;
  return number;
}

int Builder::InArena(const std::string& name, const Grid& grid,
                     const Ints& shape) {
  const ElementType type = grid.is_unsigned ? ElementType::U8 : ElementType::S8;
  const int number = Tensor(name, type, shape, Storage::ARENA, arena_);
  arena_ += (net_.artifact.tensors.back()->bytes + 63) / 64 * 64;
  return number;
}

int Builder::InConstants(ElementType type, const Ints& shape,
                         const void* data) {
  std::vector<uint8_t>& constants = net_.artifact.constants;
  constants.resize((constants.size() + 63) / 64 * 64);
  const int number =
      Tensor("", type, shape, Storage::CONSTANT, constants.size());
  const auto* bytes = static_cast<const uint8_t*>(data);
  constants.insert(constants.end(), bytes,
                   bytes + net_.artifact.tensors.back()->bytes);
  return number;
}

format::OpT* Builder::Op(const std::string& name, Opcode opcode,
                         std::vector<int> in, int out) {
  auto op = std::make_unique<format::OpT>();
  op->name = name;
  op->opcode = opcode;
  op->inputs = std::move(in);
  op->outputs = {out};
  net_.artifact.ops.push_back(std::move(op));
  return net_.artifact.ops.back().get();
}

// Fits MUL64 to real(acc, channel) and makes sure that it is exact.
void Builder::Requantize(format::RequantT* requant, const std::string& op,
                         int channels, const Grid& grid, Range range,
                         const std::function<long double(int64_t, int)>& real,
                         const std::function<long double(int)>& slope) {
  requant->form = format::RequantForm::MUL64;
  requant->lo = static_cast<int32_t>(range.low);
  requant->hi = static_cast<int32_t>(range.high);
  for (int c = 0; c < channels; ++c) {
    const long double ratio = slope(c) / grid.scale;
    int shift = 0;
    while (std::fabs(ratio) * std::ldexp(1.0L, shift + 1) < 0x1p31L) ++shift;
    const auto m =
        static_cast<int64_t>(std::llround(ratio * std::ldexp(1.0L, shift)));
    const long double constant = real(0, c) / grid.scale + grid.zero + 0.5L;
    const auto addend =
        static_cast<int64_t>(std::llround(constant * std::ldexp(1.0L, shift)));
    requant->multipliers.push_back(m);
    requant->addends.push_back(addend);
    requant->shifts.push_back(static_cast<uint8_t>(shift));
    const Range reach = net_.reachable[op][c];
    for (int64_t acc = reach.low; acc <= reach.high; ++acc) {
      const int64_t code =
          std::clamp((acc * m + addend) >> shift, range.low, range.high);
      if (code ==
          std::clamp(Quantized(real(acc, c), grid), range.low, range.high)) {
        continue;
      }
      std::fprintf(stderr, "%s: no exact form\n", op.c_str());
      std::abort();
    }
  }
}

Range Builder::Reach(const std::vector<int>& weights, size_t begin,
                     size_t count, Range codes, int64_t zero, bool pads) {
  Range reach = {0, 0};
  for (size_t k = begin; k < begin + count; ++k) {
    const int64_t a = weights[k] * (codes.low - zero);
    const int64_t b = weights[k] * (codes.high - zero);
    reach.low += std::min({a, b, pads ? 0 : std::max(a, b)});
    reach.high += std::max({a, b, pads ? 0 : std::min(a, b)});
  }
  return reach;
}

void Builder::MakeConvolution() {
  format::OpT* op = nullptr;
  std::vector<int8_t> packed(format::PackedMatrixBytes(3, 18));
  // The file has (channel, tap), the artifact (tap, channel).
  const auto weight = [&](int64_t n, int64_t k) {
    return w1_[n * 18 + k % 2 * 9 + k / 2];
  };
  format::PackMatrix(3, 18, false, weight, packed.data());
  std::vector<int32_t> corrections(3);
  format::MatrixCorrections(
      3, 18, false, weight, [](int64_t) { return 0; },
      static_cast<int32_t>(kX.zero), true, corrections.data());
  const int w = InConstants(
      ElementType::S8, {static_cast<int64_t>(packed.size())}, packed.data());
  const int b = InConstants(ElementType::S32, {3}, corrections.data());
  op = Op("conv", Opcode::CONV, {numbers_["x_q"], w, b},
          InArena("c_q", kC, {1, 4, 4, 3}));
  op->scratch_offset = arena_;
  op->scratch_bytes = 512;
  arena_ += 512;
  format::ConvParametersT p;
  p.kernel_height = p.kernel_width = 3;
  p.pad_top = p.pad_left = 1;
  p.input_zero = static_cast<int32_t>(kX.zero);
  p.requant = std::make_unique<format::RequantT>();
  for (int c = 0; c < 3; ++c) {
    net_.reachable["conv"].push_back(
        Reach(w1_, c * 18, 18, {0, 255}, kX.zero, true));
  }
  const auto slope = [&](int c) {
    return static_cast<long double>(kX.scale) * s1_[c];
  };
  const auto real = [&](int64_t acc, int c) {
    return acc * slope(c) + static_cast<long double>(sb1_[c]) * b1_[c];
  };
  Requantize(p.requant.get(), "conv", 3, kC, {kC.zero, 255}, real, slope);
  c_codes_ = {255, 0};
  for (int c = 0; c < 3; ++c) {
    const Range reach = net_.reachable["conv"][c];
    for (const int64_t end : {reach.low, reach.high}) {
      const int64_t code = Quantized(std::max(real(end, c), 0.0L), kC);
      c_codes_.low = std::min(c_codes_.low, code);
      c_codes_.high = std::max(c_codes_.high, code);
    }
  }
  op->parameters.Set(std::move(p));
}

void Builder::MakeDepthwise() {
  std::vector<int16_t> packed(format::PackedDepthwiseElements(4, 3));
  format::PackDepthwise(
      3, 4, [&](int64_t c, int64_t tap) { return w2_[c * 4 + tap]; },
      packed.data());
  const int w = InConstants(
      ElementType::S16, {static_cast<int64_t>(packed.size())}, packed.data());
  format::OpT* op = Op("depthwise", Opcode::DEPTHWISE_CONV,
                       {numbers_["c_q"], w}, InArena("d_q", kD, {1, 3, 3, 3}));
  format::ConvParametersT p;
  p.kernel_height = p.kernel_width = 2;
  p.input_zero = static_cast<int32_t>(kC.zero);
  p.requant = std::make_unique<format::RequantT>();
  p.requant->form = format::RequantForm::THRESHOLDS;
  p.requant->lo = -128;
  p.requant->hi = 127;
  std::vector<std::vector<int64_t>> rows;
  size_t most = 0;
  for (int c = 0; c < 3; ++c) {
    const Range reach = Reach(w2_, c * 4, 4, c_codes_, kC.zero, false);
    net_.reachable["depthwise"].push_back(reach);
    const auto code = [&](int64_t acc) {
      const long double x = acc * static_cast<long double>(kC.scale) * s2_[c];
      const long double inverse =
          gamma_[c] / std::sqrt(static_cast<long double>(variance_[c]) + 1e-5F);
      return Quantized((x - mean_[c]) * inverse + beta_[c], kD);
    };
    std::vector<int64_t> row;
    for (int64_t acc = reach.low + 1; acc <= reach.high; ++acc) {
      const int64_t steps = std::abs(code(acc) - code(acc - 1));
      row.insert(row.end(), steps, acc);
    }
    most = std::max(most, row.size());
    rows.push_back(row);
    p.requant->first_codes.push_back(static_cast<int32_t>(code(reach.low)));
    p.requant->decreasing.push_back(gamma_[c] < 0 ? 1 : 0);
  }
  p.requant->threshold_count = static_cast<uint32_t>(most);
  for (std::vector<int64_t>& row : rows) {
    row.resize(most, INT64_MAX);
    p.requant->thresholds.insert(p.requant->thresholds.end(), row.begin(),
                                 row.end());
  }
  op->parameters.Set(std::move(p));
}

void Builder::MakePools() {
  format::PoolParametersT max;
  max.kernel_height = max.kernel_width = 2;
  Op("max", Opcode::MAX_POOL, {numbers_["c_q"]},
     InArena("m_q", kC, {1, 3, 3, 3}))
      ->parameters.Set(std::move(max));
  format::Add2ParametersT add;
  constexpr int kShift = 40;
  const auto scaled = [](long double x) {
    return static_cast<int64_t>(std::llround(std::ldexp(x, kShift)));
  };
  const long double a = static_cast<long double>(kD.scale) / kA.scale;
  const long double b = static_cast<long double>(kC.scale) / kA.scale;
  add.a_multiplier = scaled(a);
  add.b_multiplier = scaled(b);
  add.addend = scaled(0.5L + kA.zero - a * kD.zero - b * kC.zero);
  add.shift = kShift;
  add.lo = 0;
  add.hi = 255;
  Op("add", Opcode::ADD2, {numbers_["d_q"], numbers_["m_q"]},
     InArena("a_q", kA, {1, 3, 3, 3}))
      ->parameters.Set(add);
  format::PoolParametersT mean;
  mean.kernel_height = mean.kernel_width = 2;
  mean.pad_top = mean.pad_left = 1;
  mean.input_zero = static_cast<int32_t>(kA.zero);
  mean.row_classes = mean.column_classes = {0, 1, 1};
  mean.column_class_count = 2;
  mean.requant = std::make_unique<format::RequantT>();
  mean.requant->form = format::RequantForm::REMAINDER;
  mean.requant->multipliers = {1, 1, 1, 1};
  mean.requant->addends = {0, 0, 0, 0};
  mean.requant->divisors = {1, 2, 2, 4};
  mean.requant->zero = static_cast<int32_t>(kA.zero);
  mean.requant->lo = 0;
  mean.requant->hi = 255;
  for (const int64_t count : {1, 2, 2, 4}) {
    net_.reachable["mean"].push_back(
        {-kA.zero * count, (255 - kA.zero) * count});
  }
  Op("mean", Opcode::AVERAGE_POOL, {numbers_["a_q"]},
     InArena("p_q", kA, {1, 3, 3, 3}))
      ->parameters.Set(std::move(mean));
}

void Builder::MakeMatrices() {
  // The flattened picture stays channels-last: row k of the weights is
  // position (h, w, c) there and (c, h, w) in the file.
  const auto file_row = [](int64_t k) { return k % 3 * 9 + k / 3; };
  const auto add = [&](const std::string& name, const std::vector<int>& w,
                       int columns, bool is_unsigned, int zero, int out) {
    const auto weight = [&](int64_t n, int64_t k) {
      return w[file_row(k) * columns + n];
    };
    std::vector<int8_t> packed(format::PackedMatrixBytes(columns, 27));
    format::PackMatrix(columns, 27, is_unsigned, weight, packed.data());
    std::vector<int32_t> corrections(columns);
    format::MatrixCorrections(
        columns, 27, is_unsigned, weight, [=](int64_t) { return zero; },
        static_cast<int32_t>(kA.zero), true, corrections.data());
    std::vector<int> in = {
        numbers_["p_q"],
        InConstants(ElementType::S8, {static_cast<int64_t>(packed.size())},
                    packed.data()),
        InConstants(ElementType::S32, {columns}, corrections.data())};
    if (zero != 0) {
      const std::vector<int32_t> zeros(columns,
                                       format::SignedCode(zero, is_unsigned));
      in.push_back(InConstants(ElementType::S32, {columns}, zeros.data()));
    }
    format::OpT* op = Op(name, Opcode::FULLY_CONNECTED, in, out);
    op->scratch_offset = arena_;
    op->scratch_bytes = 512;
    arena_ += 512;
    return op;
  };
  format::OpT* op = add("gemm", w3_, 4, true, 120, InArena("g_q", kG, {1, 4}));
  format::FullyConnectedParametersT p;
  p.input_zero = static_cast<int32_t>(kA.zero);
  p.requant = std::make_unique<format::RequantT>();
  g_codes_ = {127, -128};
  const auto slope = [](int) {
    return static_cast<long double>(kA.scale) * 0.01F;
  };
  const auto real = [&](int64_t acc, int c) { return acc * slope(c) + b3_[c]; };
  for (int c = 0; c < 4; ++c) {
    std::vector<int> column;
    column.reserve(27);
    for (int k = 0; k < 27; ++k) column.push_back(w3_[k * 4 + c] - 120);
    const Range reach = Reach(column, 0, 27, {0, 255}, kA.zero, false);
    net_.reachable["gemm"].push_back(reach);
    for (const int64_t end : {reach.low, reach.high}) {
      const int64_t code = Quantized(real(end, c), kG);
      g_codes_.low = std::min(g_codes_.low, code);
      g_codes_.high = std::max(g_codes_.high, code);
    }
  }
  Requantize(p.requant.get(), "gemm", 4, kG, {-128, 127}, real, slope);
  op->parameters.Set(std::move(p));
  const int raw = Tensor("z", ElementType::S32, {1, 2}, Storage::ARENA, arena_);
  arena_ += 64;
  format::FullyConnectedParametersT q;
  q.input_zero = static_cast<int32_t>(kA.zero);
  q.requant = std::make_unique<format::RequantT>();
  add("raw", w4_, 2, false, 0, raw)->parameters.Set(std::move(q));
  format::DequantizeParametersT out;
  for (const float s : s4_) {
    out.scales.push_back(static_cast<double>(kA.scale) * s);
  }
  out.zero_points = {0, 0};
  out.axis = 1;
  format::OpT* dequantize =
      Op("dequantize_z", Opcode::DEQUANTIZE, {raw},
         Tensor("z", ElementType::F32, {1, 2}, Storage::OUTPUT, 1));
  dequantize->boundary = true;
  dequantize->parameters.Set(std::move(out));
}

void Builder::MakeTable() {
  std::vector<int8_t> table;
  for (int code = -128; code < 128; ++code) {
    const long double x = static_cast<long double>(kG.scale) * (code - kG.zero);
    table.push_back(
        static_cast<int8_t>(Quantized(std::clamp(x, -1.0L, 2.0L), kT)));
  }
  net_.reachable["table"] = {g_codes_};
  const int constant = InConstants(ElementType::S8, {256}, table.data());
  Op("table", Opcode::TABLE_1, {numbers_["g_q"], constant},
     InArena("t_q", kT, {1, 4}))
      ->parameters.Set(format::TableParametersT());
  format::DequantizeParametersT p;
  p.scales = {kT.scale};
  p.zero_points = {kT.zero};
  format::OpT* op =
      Op("dequantize_y", Opcode::DEQUANTIZE, {numbers_["t_q"]},
         Tensor("y", ElementType::F32, {1, 4}, Storage::OUTPUT, 0));
  op->boundary = true;
  op->parameters.Set(std::move(p));
}

void Builder::MakeBoundary() {
  const int x = Tensor("x", ElementType::F32, {1, 2, 4, 4}, Storage::INPUT, 0);
  format::QuantizeParametersT p;
  p.scales = {kX.scale};
  p.zero_points = {kX.zero};
  p.permutation = {0, 2, 3, 1};
  p.lo = 0;
  p.hi = 255;
  format::OpT* op =
      Op("quantize", Opcode::QUANTIZE, {x}, InArena("x_q", kX, {1, 4, 4, 2}));
  op->boundary = true;
  op->parameters.Set(std::move(p));
}

SmallNetwork Builder::Build() {
  onnx::ModelProto& model = net_.model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::ValueInfoProto* x = model.mutable_graph()->add_input();
  x->set_name("x");
  auto* type = x->mutable_type()->mutable_tensor_type();
  type->set_elem_type(TensorProto::FLOAT);
  for (const int64_t size : {1, 2, 4, 4}) {
    type->mutable_shape()->add_dim()->set_dim_value(size);
  }
  for (const char* name : {"y", "z"}) {
    model.mutable_graph()->add_output()->set_name(name);
  }
  MakeConstants();
  MakeNodes();
  net_.artifact.format_version = 1;
  MakeBoundary();
  MakeConvolution();
  MakeDepthwise();
  MakePools();
  MakeMatrices();
  MakeTable();
  net_.artifact.plan = std::make_unique<format::PlanT>();
  net_.artifact.plan->arena_bytes = arena_;
  const auto entry = [&](const std::string& name, Ints shape, bool input) {
    auto e = std::make_unique<format::SignatureEntryT>();
    e->name = name;
    for (size_t i = 0; i < net_.artifact.tensors.size(); ++i) {
      const format::TensorT& t = *net_.artifact.tensors[i];
      const Storage storage = input ? Storage::INPUT : Storage::OUTPUT;
      if (t.name == name && t.storage == storage) {
        e->tensor = static_cast<int>(i);
      }
    }
    e->type = ElementType::F32;
    e->shape = std::move(shape);
    (input ? net_.artifact.inputs : net_.artifact.outputs)
        .push_back(std::move(e));
  };
  entry("x", {1, 2, 4, 4}, true);
  entry("y", {1, 4}, false);
  entry("z", {1, 2}, false);
  auto tap = std::make_unique<format::TapT>();
  tap->name = "a_q";
  tap->tensor = numbers_["a_q"];
  tap->shape = {1, 3, 3, 3};
  tap->permutation = {0, 2, 3, 1};
  net_.artifact.taps.push_back(std::move(tap));
  return std::move(net_);
}

}  // namespace

SmallNetwork MakeSmallNetwork() { return Builder().Build(); }

std::vector<uint8_t> Pack(const format::ArtifactT& artifact) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(format::Artifact::Pack(builder, &artifact),
                 format::ArtifactIdentifier());
  return {builder.GetBufferPointer(),
          builder.GetBufferPointer() + builder.GetSize()};
}

format::OpT* FindOp(format::ArtifactT* artifact, const std::string& name) {
  for (const auto& op : artifact->ops) {
    if (op->name == name) return op.get();
  }
  std::abort();
}

}  // namespace fold::check
