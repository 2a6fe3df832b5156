// The C interface over the executor.
#include "runtime/include/fold/runtime.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "runtime/exec/execution.h"
#include "runtime/format/reader.h"
#include "runtime/kernels/move/move.h"

namespace {

using fold::exec::Execution;
using fold::format::Artifact;
using fold::format::Shape;
using fold::format::SignatureEntry;
using fold::format::Tensor;
using fold::format::View;

// What lies in fold_model.opaque.
struct Model {
  const Artifact* artifact;
  fold::CpuLevel level;
};
static_assert(sizeof(Model) <= sizeof(fold_model), "fold_model is too small");

Model ModelOf(const fold_model* model) {
  Model m;
  std::memcpy(&m, model->opaque, sizeof(m));
  return m;
}

const Artifact& ArtifactOf(const fold_model* model) {
  return *ModelOf(model).artifact;
}

fold_status Refuse(fold_error* error, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
fold_status Refuse(fold_error* error, const char* format, ...) {
  if (error == nullptr) return FOLD_BAD_ARGUMENT;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(error->message, sizeof(error->message), format, arguments);
  va_end(arguments);
  return FOLD_BAD_ARGUMENT;
}

template <typename T>
uint32_t Count(const flatbuffers::Vector<flatbuffers::Offset<T>>* vector) {
  return vector != nullptr ? vector->size() : 0;
}

void Describe(const flatbuffers::String* name, const Tensor& tensor,
              const flatbuffers::Vector<int64_t>* shape,
              const fold::format::Quantization* quantization,
              fold_value* value) {
  *value = fold_value();
  value->name = fold::format::NameOf(name);
  value->type = static_cast<fold_type>(tensor.type());
  value->rank = static_cast<uint32_t>(View(shape).size);
  value->shape = View(shape).data;
  value->bytes = static_cast<size_t>(tensor.bytes());
  value->axis = -1;
  if (quantization == nullptr) return;
  value->axis = quantization->axis();
  value->scale_count = static_cast<uint32_t>(View(quantization->scales()).size);
  value->scales = View(quantization->scales()).data;
  value->zero_point_count =
      static_cast<uint32_t>(View(quantization->zero_points()).size);
  value->zero_points = View(quantization->zero_points()).data;
  value->offset_count =
      static_cast<uint32_t>(View(quantization->offsets()).size);
  value->offsets = View(quantization->offsets()).data;
}

fold_status DescribeEntry(
    const Artifact& artifact,
    const flatbuffers::Vector<flatbuffers::Offset<SignatureEntry>>* entries,
    uint32_t index, fold_value* value) {
  if (index >= Count(entries)) return FOLD_BAD_ARGUMENT;
  const SignatureEntry& entry = *entries->Get(index);
  const Tensor& tensor =
      *artifact.tensors()->Get(static_cast<uint32_t>(entry.tensor()));
  Describe(entry.name(), tensor, entry.shape(), entry.quantization(), value);
  value->converted = entry.converted() ? 1 : 0;
  return FOLD_OK;
}

// One buffer a signature entry: there, whole, aligned.
fold_status CheckBuffers(
    const Artifact& artifact,
    const flatbuffers::Vector<flatbuffers::Offset<SignatureEntry>>* entries,
    const char* kind, const void* const* buffers, const size_t* sizes,
    uint32_t count, fold_error* error) {
  if (count != Count(entries)) {
    return Refuse(error, "%u %s buffers, not %u", count, kind, Count(entries));
  }
  for (uint32_t i = 0; i < count; ++i) {
    const SignatureEntry& entry = *entries->Get(i);
    const Tensor& tensor =
        *artifact.tensors()->Get(static_cast<uint32_t>(entry.tensor()));
    const char* name = fold::format::NameOf(entry.name());
    if (buffers[i] == nullptr || sizes[i] != tensor.bytes()) {
      return Refuse(error, "%s %.100s: %zu bytes, not %llu", kind, name,
                    buffers[i] == nullptr ? 0 : sizes[i],
                    static_cast<unsigned long long>(tensor.bytes()));
    }
    const auto alignment =
        static_cast<uintptr_t>(fold::format::ElementBytes(tensor.type()));
    if (reinterpret_cast<uintptr_t>(buffers[i]) % alignment != 0) {
      return Refuse(error, "%s %.100s: buffer is not aligned", kind, name);
    }
  }
  return FOLD_OK;
}

fold_status CheckArena(const Artifact& artifact, const fold_run_options& o,
                       fold_error* error) {
  const auto& plan = *artifact.plan();
  if (o.arena_bytes < plan.arena_bytes() ||
      (o.arena == nullptr && plan.arena_bytes() > 0)) {
    return Refuse(error, "the arena has %zu bytes, not %llu", o.arena_bytes,
                  static_cast<unsigned long long>(plan.arena_bytes()));
  }
  if (reinterpret_cast<uintptr_t>(o.arena) % plan.arena_alignment() != 0) {
    return Refuse(error, "the arena is not aligned to %u bytes",
                  plan.arena_alignment());
  }
  return FOLD_OK;
}

}  // namespace

fold_status fold_open(const void* bytes, size_t size, fold_model* model,
                      fold_error* error) {
  fold::format::Fault fault;
  Model m = {fold::format::OpenArtifact(bytes, size, &fault),
             fold::exec::UsedCpuLevel()};
  if (m.artifact == nullptr) {
    Refuse(error, "%s", fault.text);
    return FOLD_BAD_ARTIFACT;
  }
  std::memcpy(model->opaque, &m, sizeof(m));
  return FOLD_OK;
}

uint32_t fold_input_count(const fold_model* model) {
  return Count(ArtifactOf(model).inputs());
}

uint32_t fold_output_count(const fold_model* model) {
  return Count(ArtifactOf(model).outputs());
}

uint32_t fold_tap_count(const fold_model* model) {
  return Count(ArtifactOf(model).taps());
}

fold_status fold_input(const fold_model* model, uint32_t index,
                       fold_value* value) {
  const Artifact& artifact = ArtifactOf(model);
  return DescribeEntry(artifact, artifact.inputs(), index, value);
}

fold_status fold_output(const fold_model* model, uint32_t index,
                        fold_value* value) {
  const Artifact& artifact = ArtifactOf(model);
  return DescribeEntry(artifact, artifact.outputs(), index, value);
}

fold_status fold_tap(const fold_model* model, uint32_t index,
                     fold_value* value) {
  const Artifact& artifact = ArtifactOf(model);
  if (index >= Count(artifact.taps())) return FOLD_BAD_ARGUMENT;
  const fold::format::Tap& tap = *artifact.taps()->Get(index);
  const Tensor& tensor =
      *artifact.tensors()->Get(static_cast<uint32_t>(tap.tensor()));
  // The tensor's quantization counts physical dimensions: only one without an
  // axis says anything about the logical value.
  const auto* quantization = tensor.quantization();
  const bool whole = quantization != nullptr && quantization->axis() < 0;
  Describe(tap.name(), tensor, tap.shape(), whole ? quantization : nullptr,
           value);
  return FOLD_OK;
}

size_t fold_arena_bytes(const fold_model* model) {
  return static_cast<size_t>(ArtifactOf(model).plan()->arena_bytes());
}

size_t fold_arena_alignment(const fold_model* model) {
  return ArtifactOf(model).plan()->arena_alignment();
}

const char* fold_compiler(const fold_model* model) {
  return fold::format::NameOf(ArtifactOf(model).compiler());
}

const char* fold_target(const fold_model* model) {
  return fold::format::NameOf(ArtifactOf(model).target());
}

const char* fold_cpu_level(const fold_model* model) {
  return fold::exec::CpuLevelName(ModelOf(model).level);
}

fold_status fold_run(const fold_model* model, const fold_run_options* options,
                     fold_error* error) {
  const Model m = ModelOf(model);
  const Artifact& artifact = *m.artifact;
  const fold_run_options& o = *options;
  fold_status status = CheckArena(artifact, o, error);
  if (status == FOLD_OK) {
    status = CheckBuffers(artifact, artifact.inputs(), "input", o.inputs,
                          o.input_bytes, o.input_count, error);
  }
  if (status == FOLD_OK) {
    status = CheckBuffers(artifact, artifact.outputs(), "output", o.outputs,
                          o.output_bytes, o.output_count, error);
  }
  if (status != FOLD_OK) return status;
  Execution run;
  run.artifact = m.artifact;
  run.constants = fold::format::ConstantsOf(artifact).data;
  run.arena = static_cast<uint8_t*>(o.arena);
  run.inputs = o.inputs;
  run.outputs = o.outputs;
  run.kernels = fold::exec::KernelsFor(m.level);
  run.parallel_for = o.parallel_for;
  run.parallel_context = o.parallel_context;
  run.workers = o.parallel_for != nullptr && o.workers > 0 ? o.workers : 1;
  run.tap = o.tap;
  run.tap_context = o.tap_context;
  fold::exec::RunAll(run);
  return FOLD_OK;
}

fold_status fold_read_tap(const fold_model* model, uint32_t index,
                          const void* stored, void* destination) {
  const Artifact& artifact = ArtifactOf(model);
  if (index >= Count(artifact.taps())) return FOLD_BAD_ARGUMENT;
  const fold::format::Tap& tap = *artifact.taps()->Get(index);
  const Tensor& tensor =
      *artifact.tensors()->Get(static_cast<uint32_t>(tap.tensor()));
  const Shape logical = fold::format::ShapeFrom(View(tap.shape()));
  const int32_t* permutation = View(tap.permutation()).data;
  int64_t physical[fold::format::kMaxDimensions];
  fold::format::RowMajorStrides(fold::format::Permuted(logical, permutation),
                                physical);
  int64_t a[fold::format::kMaxDimensions];
  int64_t b[fold::format::kMaxDimensions];
  for (int d = 0; d < logical.rank; ++d) {
    a[permutation != nullptr ? permutation[d] : d] = physical[d];
  }
  fold::format::RowMajorStrides(logical, b);
  fold::kernels::MoveBox move;
  move.box = fold::exec::Strided(logical, a, b);
  move.element_bytes = fold::format::ElementBytes(tensor.type());
  move.x = stored;
  move.out = destination;
  fold::kernels::Move(move);
  return FOLD_OK;
}
