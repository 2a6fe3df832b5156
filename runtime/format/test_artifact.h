// Builds small artifacts for tests: every tensor gets its own 64-byte aligned
// place, so nothing overlaps unless a test moves it.
#ifndef RUNTIME_FORMAT_TEST_ARTIFACT_H_
#define RUNTIME_FORMAT_TEST_ARTIFACT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/format/packing.h"
#include "runtime/format/reader.h"
#include "runtime/format/scratch.h"

namespace fold::format {

// A file in memory, aligned as a mapped one.
class TestFile {
 public:
  TestFile(const void* bytes, size_t size)
      : size_(size),
        bytes_(
            static_cast<uint8_t*>(std::aligned_alloc(64, size / 64 * 64 + 64)),
            &std::free) {
    std::memcpy(bytes_.get(), bytes, size);
  }
  uint8_t* data() { return bytes_.get(); }
  const uint8_t* data() const { return bytes_.get(); }
  size_t size() const { return size_; }

 private:
  size_t size_;
  std::unique_ptr<uint8_t, void (*)(void*)> bytes_;
};

using Dims = std::vector<int64_t>;

class TestArtifact {
 public:
  TestArtifact() {
    artifact.format_version = kFormatVersion;
    artifact.compiler = "test";
    artifact.target = "test";
    artifact.plan = std::make_unique<PlanT>();
  }

  int Arena(ElementType type, const Dims& shape) {
    const int index = AddTensor(type, shape, Storage::ARENA, arena_);
    arena_ += Rounded(artifact.tensors.back()->bytes);
    return index;
  }

  template <typename T>
  int Constant(ElementType type, const Dims& shape,
               const std::vector<T>& values) {
    const size_t at = Rounded(artifact.constants.size());
    const int index = AddTensor(type, shape, Storage::CONSTANT, at);
    artifact.constants.resize(at + values.size() * sizeof(T));
    std::memcpy(artifact.constants.data() + at, values.data(),
                values.size() * sizeof(T));
    return index;
  }

  int Input(const std::string& name, ElementType type, const Dims& shape) {
    return AddEntry(name, type, shape, Storage::INPUT, &artifact.inputs);
  }

  int Output(const std::string& name, ElementType type, const Dims& shape) {
    return AddEntry(name, type, shape, Storage::OUTPUT, &artifact.outputs);
  }

  template <typename Parameters>
  OpT* Add(Opcode opcode, Parameters parameters, std::vector<int> inputs,
           int output) {
    auto op = std::make_unique<OpT>();
    op->opcode = opcode;
    op->name = "op" + std::to_string(artifact.ops.size());
    op->parameters.Set(std::move(parameters));
    op->inputs = std::move(inputs);
    op->outputs = {output};
    artifact.ops.push_back(std::move(op));
    return artifact.ops.back().get();
  }

  // Working memory for a matrix op of depth K.
  void Scratch(OpT* op, int64_t bytes) {
    op->scratch_offset = arena_;
    op->scratch_bytes = static_cast<uint64_t>(bytes);
    arena_ += Rounded(op->scratch_bytes);
  }

  void Tap(const std::string& name, int tensor, const Dims& shape,
           const std::vector<int32_t>& permutation) {
    auto tap = std::make_unique<TapT>();
    tap->name = name;
    tap->tensor = tensor;
    tap->shape = shape;
    tap->permutation = permutation;
    artifact.taps.push_back(std::move(tap));
  }

  TestFile Finish() {
    artifact.plan->arena_bytes = arena_;
    flatbuffers::FlatBufferBuilder builder;
    FinishArtifactBuffer(builder, format::Artifact::Pack(builder, &artifact));
    return TestFile(builder.GetBufferPointer(), builder.GetSize());
  }

  ArtifactT artifact;

 private:
  static uint64_t Rounded(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

  int AddTensor(ElementType type, const Dims& shape, Storage storage,
                uint64_t offset) {
    auto tensor = std::make_unique<TensorT>();
    tensor->name = "t" + std::to_string(artifact.tensors.size());
    tensor->type = type;
    tensor->shape = shape;
    tensor->storage = storage;
    tensor->offset = offset;
    tensor->bytes = static_cast<uint64_t>(ElementBytes(type));
    for (int64_t d : shape) tensor->bytes *= static_cast<uint64_t>(d);
    artifact.tensors.push_back(std::move(tensor));
    return static_cast<int>(artifact.tensors.size()) - 1;
  }

  int AddEntry(const std::string& name, ElementType type, const Dims& shape,
               Storage storage,
               std::vector<std::unique_ptr<SignatureEntryT>>* entries) {
    auto entry = std::make_unique<SignatureEntryT>();
    entry->name = name;
    entry->type = type;
    entry->shape = shape;
    entry->tensor = AddTensor(type, shape, storage, entries->size());
    entries->push_back(std::move(entry));
    return entries->back()->tensor;
  }

  uint64_t arena_ = 0;
};

// "ok", or what the reader says.
inline std::string FaultOf(const TestFile& file) {
  Fault fault;
  const Artifact* artifact = OpenArtifact(file.data(), file.size(), &fault);
  return artifact != nullptr ? "ok" : fault.text;
}

// Whether the reader refuses the artifact for a reason that contains `text`.
inline ::testing::AssertionResult Refuses(TestArtifact* artifact,
                                          const std::string& text) {
  const std::string fault = FaultOf(artifact->Finish());
  if (fault != "ok" && fault.find(text) != std::string::npos) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << "'" << fault << "', not '" << text << "'";
}

inline ::testing::AssertionResult Accepts(TestArtifact* artifact) {
  const std::string fault = FaultOf(artifact->Finish());
  if (fault == "ok") return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << fault;
}

// A requantization that divides by 2^shift, rounding down.
inline std::unique_ptr<RequantT> ShiftRequant(int shift, int lo, int hi) {
  auto r = std::make_unique<RequantT>();
  r->form = RequantForm::MUL64;
  r->multipliers = {1};
  r->addends = {0};
  r->shifts = {static_cast<uint8_t>(shift)};
  r->lo = lo;
  r->hi = hi;
  return r;
}

// Raw accumulators.
inline std::unique_ptr<RequantT> NoRequant() {
  return std::make_unique<RequantT>();
}

// x f32 [1,3,4,5] -> u8 NHWC -> 2x2 convolution to 6 channels -> s8 -> f32,
// with taps: a bit of everything.
inline TestArtifact SmallNetwork() {
  TestArtifact a;
  const int x = a.Input("x", ElementType::F32, {1, 3, 4, 5});
  const int codes = a.Arena(ElementType::U8, {1, 4, 5, 3});
  QuantizeParametersT quantize;
  quantize.scales = {0.5};
  quantize.zero_points = {10};
  quantize.permutation = {0, 2, 3, 1};
  quantize.hi = 255;
  a.Add(Opcode::QUANTIZE, quantize, {x}, codes)->boundary = true;

  constexpr int64_t kDepth = 12;
  constexpr int64_t kChannels = 6;
  const auto weight = [](int64_t n, int64_t k) {
    return static_cast<int>((n * 7 + k * 5) % 41) - 20;
  };
  std::vector<int8_t> packed(PackedMatrixBytes(kChannels, kDepth));
  PackMatrix(kChannels, kDepth, false, weight, packed.data());
  std::vector<int32_t> correction(kChannels);
  MatrixCorrections(
      kChannels, kDepth, false, weight, [](int64_t) { return 0; }, 10, true,
      correction.data());
  const int w = a.Constant(ElementType::S8,
                           {static_cast<int64_t>(packed.size())}, packed);
  const int c = a.Constant(ElementType::S32, {kChannels}, correction);
  const int y = a.Arena(ElementType::S8, {1, 4, 5, kChannels});
  ConvParametersT conv;
  conv.kernel_height = 2;
  conv.kernel_width = 2;
  conv.input_zero = 10;
  conv.requant = ShiftRequant(6, -128, 127);
  a.Scratch(a.Add(Opcode::CONV, conv, {codes, w, c}, y),
            MinimumMatrixScratch(kDepth));

  const int out = a.Output("y", ElementType::F32, {1, kChannels, 4, 5});
  DequantizeParametersT dequantize;
  dequantize.scales = {0.25};
  dequantize.zero_points = {0};
  dequantize.permutation = {0, 2, 3, 1};
  a.Add(Opcode::DEQUANTIZE, dequantize, {y}, out)->boundary = true;
  a.Tap("x_quantized", codes, {1, 3, 4, 5}, {0, 2, 3, 1});
  a.Tap("conv", y, {1, kChannels, 4, 5}, {0, 2, 3, 1});
  return a;
}

}  // namespace fold::format

#endif  // RUNTIME_FORMAT_TEST_ARTIFACT_H_
