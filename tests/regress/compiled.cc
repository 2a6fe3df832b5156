#include "tests/regress/compiled.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

#include "compiler/api/convert.h"
#include "compiler/api/target_file.h"
#include "compiler/check/artifact_check.h"
#include "onnx/defs/parser.h"
#include "runtime/include/fold/runtime.h"

namespace fold::regress {
namespace {

TargetDescriptor TargetNamed(const std::string& name) {
  foldd::v1::TargetDescriptor message;
  EXPECT_EQ(FindBuiltinTarget(name, &message), "");
  return FromProto(message);
}

// Memory aligned as artifacts and arenas want it.
class Aligned {
 public:
  explicit Aligned(size_t bytes)
      : bytes_(std::aligned_alloc(64, (bytes + 64) / 64 * 64), &std::free) {
    std::memset(bytes_.get(), 0x5a, (bytes + 64) / 64 * 64);
  }
  void* get() const { return bytes_.get(); }

 private:
  std::unique_ptr<void, decltype(&std::free)> bytes_;
};

template <typename T>
void Put(double value, void* bytes, size_t i) {
  static_cast<T*>(bytes)[i] = static_cast<T>(value);
}
template <typename T>
double Get(const void* bytes, size_t i) {
  return static_cast<double>(static_cast<const T*>(bytes)[i]);
}

// A normal number that binary16 has.
void PutHalf(double value, void* bytes, size_t i) {
  int exponent;
  const double fraction = std::frexp(std::abs(value), &exponent);
  const auto significand = static_cast<int>((fraction * 2 - 1) * 1024);
  const int bits = ((exponent + 14) << 10) | significand;
  static_cast<uint16_t*>(bytes)[i] =
      static_cast<uint16_t>(value < 0 ? bits | 0x8000 : bits);
}

void Store(fold_type type, double value, void* bytes, size_t i) {
  switch (type) {
    case FOLD_U8:
      return Put<uint8_t>(value, bytes, i);
    case FOLD_S8:
      return Put<int8_t>(value, bytes, i);
    case FOLD_U16:
      return Put<uint16_t>(value, bytes, i);
    case FOLD_S16:
      return Put<int16_t>(value, bytes, i);
    case FOLD_S32:
      return Put<int32_t>(value, bytes, i);
    case FOLD_S64:
      return Put<int64_t>(value, bytes, i);
    case FOLD_F64:
      return Put<double>(value, bytes, i);
    case FOLD_F16:
      return PutHalf(value, bytes, i);
    default:
      return Put<float>(value, bytes, i);
  }
}

double Load(fold_type type, const void* bytes, size_t i) {
  switch (type) {
    case FOLD_U8:
      return Get<uint8_t>(bytes, i);
    case FOLD_S8:
      return Get<int8_t>(bytes, i);
    case FOLD_U16:
      return Get<uint16_t>(bytes, i);
    case FOLD_S16:
      return Get<int16_t>(bytes, i);
    case FOLD_S32:
      return Get<int32_t>(bytes, i);
    case FOLD_S64:
      return Get<int64_t>(bytes, i);
    case FOLD_F64:
      return Get<double>(bytes, i);
    default:
      return Get<float>(bytes, i);
  }
}

size_t Elements(const fold_value& value) {
  size_t count = 1;
  for (uint32_t d = 0; d < value.rank; ++d) count *= value.shape[d];
  return count;
}

std::vector<double> Numbers(const fold_value& value, const void* bytes) {
  std::vector<double> numbers;
  for (size_t i = 0; i < Elements(value); ++i) {
    numbers.push_back(Load(value.type, bytes, i));
  }
  return numbers;
}

struct TapSink {
  const fold_model* model;
  Ran* ran;
};

void TakeTap(void* context, uint32_t index, const void* stored) {
  const auto* sink = static_cast<const TapSink*>(context);
  fold_value value;
  fold_tap(sink->model, index, &value);
  const Aligned copy(value.bytes);
  fold_read_tap(sink->model, index, stored, copy.get());
  sink->ran->taps[value.name] = Numbers(value, copy.get());
}

// The buffers of one direction of the signature.
struct Buffers {
  std::vector<fold_value> values;
  std::vector<Aligned> memory;
  std::vector<void*> pointers;
  std::vector<size_t> bytes;

  void Add(const fold_value& value) {
    values.push_back(value);
    memory.emplace_back(value.bytes);
    pointers.push_back(memory.back().get());
    bytes.push_back(value.bytes);
  }
};

std::string FillInputs(const fold_model& model, const Ideals& values,
                       Buffers* inputs) {
  for (uint32_t i = 0; i < fold_input_count(&model); ++i) {
    fold_value value;
    fold_input(&model, i, &value);
    inputs->Add(value);
    if (!values.count(value.name)) return "no input " + std::string(value.name);
    const Ideal& given = values.at(value.name);
    if (given.numbers.size() != Elements(value)) return "an input's size";
    for (size_t k = 0; k < given.numbers.size(); ++k) {
      Store(value.type, given.numbers[k].get_d(), inputs->pointers.back(), k);
    }
  }
  return "";
}

// What the boundary makes of an exact number.
double AsStored(const mpq_class& exact, int32_t type) {
  if (type != onnx::TensorProto::FLOAT) return exact.get_d();
  // Round to nearest even: GMP truncates, and a float's 24 bits are not a
  // double's.
  const auto down = static_cast<float>(exact.get_d());
  float best = down;
  for (float candidate :
       {std::nextafterf(down, -INFINITY), std::nextafterf(down, INFINITY)}) {
    const mpq_class a = abs(exact - mpq_class(candidate));
    const mpq_class b = abs(exact - mpq_class(best));
    uint32_t bits;
    std::memcpy(&bits, &candidate, sizeof(bits));
    if (a < b || (a == b && (bits & 1) == 0)) best = candidate;
  }
  return best;
}

std::string Digits(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", number);
  return text;
}

void Compare(const std::string& what, const std::vector<double>& found,
             const Ideal& ideal, int steps, std::vector<std::string>* wrong) {
  if (found.size() != ideal.numbers.size()) {
    wrong->push_back(what + " has another size");
    return;
  }
  int count = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const double expected = AsStored(ideal.numbers[i], ideal.type);
    if (found[i] == expected) continue;
    if (steps > 0 && (ideal.type == onnx::TensorProto::FLOAT ||
                      std::abs(found[i] - expected) <= steps)) {
      continue;
    }
    if (++count > 4) continue;
    wrong->push_back(what + "[" + std::to_string(i) + "] is " +
                     Digits(found[i]) + ", not " + Digits(expected));
  }
  if (count > 4) {
    wrong->push_back(what + ": " + std::to_string(count) + " of " +
                     std::to_string(found.size()) + " are wrong");
  }
}

}  // namespace

onnx::ModelProto ModelOf(const std::string& graph, int version) {
  const std::string text =
      "<ir_version: 8, opset_import: [\"\" : " + std::to_string(version) +
      ", \"com.microsoft\" : 1]>\n" + graph;
  onnx::ModelProto model;
  onnx::OnnxParser parser(text);
  const auto status = parser.Parse(model);
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return model;
}

std::string DrawnList(uint32_t seed, int count, int low, int high) {
  std::mt19937 engine(seed);
  std::string text;
  for (int i = 0; i < count; ++i) {
    const int drawn = static_cast<int>(engine() % (high - low + 1)) + low;
    text += (i ? ", " : "{") + std::to_string(drawn);
  }
  return text + "}";
}

CompileResult CompileModel(const onnx::ModelProto& model,
                           CompileOptions options, const std::string& target) {
  const std::string bytes = model.SerializeAsString();
  options.taps = true;
  options.verify = CompileOptions::Verify::kEach;
  return Compile({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                 TargetNamed(target), options);
}

std::string Describe(const CompileResult& result) {
  std::string text;
  for (const Diagnostic& d : result.report.diagnostics) {
    text += FormatDiagnostic(d) + "\n";
  }
  for (const PassSummary& pass : result.report.passes) {
    for (const KeptNode& kept : pass.kept) {
      text += pass.name + " kept '" + kept.node + "': " + kept.reason + "\n";
    }
  }
  for (const OpSummary& op : result.report.ops) {
    text += op.kind + " " + op.name + "\n";
  }
  return text;
}

Ran RunArtifact(const std::vector<uint8_t>& artifact, const Ideals& values) {
  Ran ran;
  const Aligned file(artifact.size());
  std::memcpy(file.get(), artifact.data(), artifact.size());
  fold_model model;
  fold_error error = {};
  if (fold_open(file.get(), artifact.size(), &model, &error) != FOLD_OK) {
    ran.fault = error.message;
    return ran;
  }
  Buffers inputs, outputs;
  ran.fault = FillInputs(model, values, &inputs);
  if (!ran.fault.empty()) return ran;
  for (uint32_t i = 0; i < fold_output_count(&model); ++i) {
    fold_value value;
    fold_output(&model, i, &value);
    outputs.Add(value);
  }
  const Aligned arena(fold_arena_bytes(&model));
  TapSink sink = {&model, &ran};
  fold_run_options options = {};
  options.arena = arena.get();
  options.arena_bytes = fold_arena_bytes(&model);
  options.inputs = inputs.pointers.data();
  options.input_bytes = inputs.bytes.data();
  options.input_count = static_cast<uint32_t>(inputs.pointers.size());
  options.outputs = outputs.pointers.data();
  options.output_bytes = outputs.bytes.data();
  options.output_count = static_cast<uint32_t>(outputs.pointers.size());
  options.tap = TakeTap;
  options.tap_context = &sink;
  if (fold_run(&model, &options, &error) != FOLD_OK) {
    ran.fault = error.message;
    return ran;
  }
  for (size_t i = 0; i < outputs.values.size(); ++i) {
    ran.outputs[outputs.values[i].name] =
        Numbers(outputs.values[i], outputs.pointers[i]);
  }
  return ran;
}

Ideals InputsOf(const onnx::ModelProto& model, const Source& source) {
  Ideals values;
  for (const auto& input : model.graph().input()) {
    const auto& type = input.type().tensor_type();
    Ideal x;
    x.type = type.elem_type();
    for (const auto& dim : type.shape().dim()) {
      x.shape.push_back(dim.dim_value());
    }
    for (int64_t i = 0; i < Count(x.shape); ++i) {
      const double number =
          source(static_cast<onnx::TensorProto_DataType>(x.type), i);
      x.numbers.emplace_back(static_cast<float>(number));
    }
    values[input.name()] = std::move(x);
  }
  return values;
}

std::vector<std::string> Differences(const CompileResult& result,
                                     const Ideals& inputs, const Ideals& ideals,
                                     int steps) {
  const Ran ran = RunArtifact(result.artifact, inputs);
  if (!ran.fault.empty()) return {ran.fault};
  std::vector<std::string> wrong;
  for (const auto& [name, numbers] : ran.outputs) {
    if (ideals.count(name) == 0) {
      wrong.push_back("an output that the model has not: " + name);
      continue;
    }
    Compare("output " + name, numbers, ideals.at(name), steps, &wrong);
  }
  for (const auto& [name, numbers] : ran.taps) {
    // Values that the compiler made have no tensor in the model.
    if (ideals.count(name) == 0) continue;
    Compare("tap " + name, numbers, ideals.at(name), steps, &wrong);
  }
  return wrong;
}

void ExpectSame(const CompileResult& result, const Ideals& inputs,
                const Ideals& ideals, int steps) {
  for (const std::string& line : Differences(result, inputs, ideals, steps)) {
    ADD_FAILURE() << line;
  }
}

CompileResult ExpectIdeal(const onnx::ModelProto& model, const Ideals& inputs,
                          const std::string& target) {
  CompileResult result = CompileModel(model, {}, target);
  EXPECT_EQ(result.exit_code, 0) << Describe(result);
  if (result.exit_code != 0) return result;
  Ideals ideals = inputs;
  const std::string fault = EvaluateIdeal(model, &ideals);
  EXPECT_EQ(fault, "");
  if (fault.empty()) ExpectSame(result, inputs, ideals);
  return result;
}

CompileResult ExpectIdeal(const onnx::ModelProto& model, uint32_t seed,
                          double range) {
  CompileResult result;
  for (uint32_t round = 0; round < 3; ++round) {
    std::mt19937 engine(seed * 1000 + round);
    result = ExpectIdeal(
        model, InputsOf(model, [&](onnx::TensorProto_DataType type, int64_t) {
          if (type == onnx::TensorProto::INT8)
            return static_cast<int>(engine() % 256) - 128.0;
          if (type == onnx::TensorProto::UINT8) return engine() % 256 + 0.0;
          // Multiples of 1/64 meet ties of power-of-two scales.
          const double unit = static_cast<int>(engine() % 1024) / 512.0 - 1;
          return unit * range;
        }));
    if (testing::Test::HasFailure()) break;
  }
  return result;
}

void ExpectChecked(const CompileResult& result, const onnx::ModelProto& model) {
  const std::string bytes = model.SerializeAsString();
  check::CheckReport report;
  std::string why;
  EXPECT_TRUE(check::CheckArtifact(
      result.artifact,
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, {},
      &report, &why))
      << why;
  EXPECT_TRUE(report.passed()) << report.Text();
}

void ExpectRefusal(const onnx::ModelProto& model, DiagnosticCode code,
                   const std::string& node) {
  const CompileResult result = CompileModel(model);
  EXPECT_NE(result.exit_code, 0) << Describe(result);
  for (const Diagnostic& d : result.report.diagnostics) {
    if (d.severity() != Severity::kError) continue;
    EXPECT_STREQ(KindOf(d.code).name, KindOf(code).name) << Describe(result);
    EXPECT_EQ(d.node, node) << Describe(result);
    EXPECT_EQ(result.exit_code, KindOf(code).exit_code);
    return;
  }
  ADD_FAILURE() << "no error: " << Describe(result);
}

std::string FirstIsland(const CompileResult& result) {
  for (const OpSummary& op : result.report.ops) {
    if (op.exactness != Exactness::kFloat) continue;
    std::string text = op.kind;
    for (const std::string& source : op.sources) text += " " + source;
    return text;
  }
  return "";
}

bool HasKind(const CompileResult& result, const std::string& kind) {
  return std::any_of(result.report.ops.begin(), result.report.ops.end(),
                     [&](const OpSummary& op) { return op.kind == kind; });
}

}  // namespace fold::regress
