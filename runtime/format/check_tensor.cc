// Tensors, signature and taps.
#include "runtime/format/check.h"

namespace fold::format {
namespace {

template <typename T>
int64_t SizeOf(const flatbuffers::Vector<flatbuffers::Offset<T>>* vector) {
  return vector != nullptr ? vector->size() : 0;
}

// Scales, zero points and offsets have one element or one an index of `axis`.
bool CheckQuantization(Check* check, const Quantization* quantization,
                       const Shape& shape, const char* name) {
  if (quantization == nullptr) return true;
  const int32_t axis = quantization->axis();
  if (axis < -1 || axis >= shape.rank) {
    return check->Fail("%.80s: quantization axis %d", name, axis);
  }
  const int64_t channels = axis < 0 ? 1 : shape.dims[axis];
  const int64_t sizes[] = {View(quantization->scales()).size,
                           View(quantization->zero_points()).size,
                           View(quantization->offsets()).size};
  if (!IsAligned(View(quantization->scales())) ||
      !IsAligned(View(quantization->zero_points())) ||
      !IsAligned(View(quantization->offsets()))) {
    return check->Fail("%.80s: quantization is not aligned", name);
  }
  for (int64_t size : sizes) {
    if (size > 1 && size != channels) {
      return check->Fail("%.80s: %lld quantization parameters, not %lld", name,
                         static_cast<long long>(size),
                         static_cast<long long>(channels));
    }
  }
  return true;
}

// Bytes that `tensor` may be placed in, and its alignment there.
bool CheckPlace(Check* check, const Tensor& tensor, const char* name) {
  const Artifact& artifact = *check->artifact;
  uint64_t room = 0;
  switch (tensor.storage()) {
    case Storage::ARENA:
      room = artifact.plan()->arena_bytes();
      break;
    case Storage::CONSTANT:
      room = static_cast<uint64_t>(ConstantsOf(artifact).size);
      break;
    case Storage::INPUT:
      return tensor.offset() < static_cast<uint64_t>(SizeOf(artifact.inputs()))
                 ? true
                 : check->Fail("tensor %.80s: no such input", name);
    case Storage::OUTPUT:
      return tensor.offset() < static_cast<uint64_t>(SizeOf(artifact.outputs()))
                 ? true
                 : check->Fail("tensor %.80s: no such output", name);
    default:
      return check->Fail("tensor %.80s: unknown storage", name);
  }
  if (tensor.bytes() > room || tensor.offset() > room - tensor.bytes()) {
    return check->Fail("tensor %.80s lies outside its storage", name);
  }
  const uint64_t element = static_cast<uint64_t>(ElementBytes(tensor.type()));
  if (tensor.offset() % element != 0) {
    return check->Fail("tensor %.80s is not aligned to its elements", name);
  }
  return true;
}

bool CheckTensor(Check* check, const Tensor& tensor) {
  const char* name = NameOf(tensor.name());
  const int64_t element = ElementBytes(tensor.type());
  if (element == 0) {
    return check->Fail("tensor %.80s: unknown element type", name);
  }
  int64_t elements = 0;
  if (!CheckShape(check, View(tensor.shape()), name, &elements)) return false;
  if (tensor.bytes() != static_cast<uint64_t>(elements * element)) {
    return check->Fail("tensor %.80s: %llu bytes do not fit its shape", name,
                       static_cast<unsigned long long>(tensor.bytes()));
  }
  return CheckPlace(check, tensor, name) &&
         CheckQuantization(check, tensor.quantization(), ShapeOf(tensor), name);
}

bool CheckEntry(Check* check, const SignatureEntry& entry, uint64_t number,
                Storage storage) {
  const char* name = NameOf(entry.name());
  if (entry.tensor() < 0 ||
      entry.tensor() >= SizeOf(check->artifact->tensors()))
    return check->Fail("signature entry %.80s: no such tensor", name);
  const Tensor& tensor = check->TensorAt(entry.tensor());
  if (tensor.storage() != storage || tensor.offset() != number) {
    return check->Fail("signature entry %.80s: tensor is stored elsewhere",
                       name);
  }
  int64_t elements = 0;
  if (!CheckShape(check, View(entry.shape()), name, &elements)) return false;
  if (entry.type() != tensor.type() ||
      static_cast<uint64_t>(elements * ElementBytes(tensor.type())) !=
          tensor.bytes()) {
    return check->Fail(
        "signature entry %.80s: type or size is not its tensor's", name);
  }
  return CheckQuantization(check, entry.quantization(),
                           ShapeFrom(View(entry.shape())), name);
}

}  // namespace

bool CheckShape(Check* check, Span<int64_t> dims, const char* what,
                int64_t* elements) {
  if (dims.size > kMaxDimensions) {
    return check->Fail("%.80s: %lld dimensions", what,
                       static_cast<long long>(dims.size));
  }
  if (!IsAligned(dims)) return check->Fail("%.80s: shape is not aligned", what);
  *elements = 1;
  for (int64_t d = 0; d < dims.size; ++d) {
    if (dims.data[d] < 1 || dims.data[d] > kMaxDimension) {
      return check->Fail("%.80s: dimension %lld", what,
                         static_cast<long long>(dims.data[d]));
    }
    if (dims.data[d] > kMaxElements / *elements) {
      return check->Fail("%.80s: too many elements", what);
    }
    *elements *= dims.data[d];
  }
  return true;
}

bool CheckTensors(Check* check) {
  const int64_t count = SizeOf(check->artifact->tensors());
  for (int64_t i = 0; i < count; ++i) {
    if (!CheckTensor(check, check->TensorAt(static_cast<int32_t>(i)))) {
      return false;
    }
  }
  return true;
}

bool CheckSignature(Check* check) {
  const Artifact& artifact = *check->artifact;
  for (int64_t i = 0; i < SizeOf(artifact.inputs()); ++i) {
    if (!CheckEntry(check, *artifact.inputs()->Get(static_cast<uint32_t>(i)),
                    static_cast<uint64_t>(i), Storage::INPUT)) {
      return false;
    }
  }
  for (int64_t i = 0; i < SizeOf(artifact.outputs()); ++i) {
    if (!CheckEntry(check, *artifact.outputs()->Get(static_cast<uint32_t>(i)),
                    static_cast<uint64_t>(i), Storage::OUTPUT)) {
      return false;
    }
  }
  // Any other tensor in a caller's buffer covers it whole, too.
  for (int64_t i = 0; i < SizeOf(artifact.tensors()); ++i) {
    const Tensor& tensor = check->TensorAt(static_cast<int32_t>(i));
    const bool input = tensor.storage() == Storage::INPUT;
    if (!input && tensor.storage() != Storage::OUTPUT) continue;
    const auto* entries = input ? artifact.inputs() : artifact.outputs();
    const auto* entry = entries->Get(static_cast<uint32_t>(tensor.offset()));
    const Tensor& whole = check->TensorAt(entry->tensor());
    if (whole.bytes() != tensor.bytes() ||
        ElementBytes(whole.type()) != ElementBytes(tensor.type())) {
      return check->Fail("tensor %.80s: not the size of its buffer",
                         NameOf(tensor.name()));
    }
  }
  return true;
}

bool CheckTaps(Check* check) {
  const auto* taps = check->artifact->taps();
  for (int64_t i = 0; i < SizeOf(taps); ++i) {
    const Tap& tap = *taps->Get(static_cast<uint32_t>(i));
    const char* name = NameOf(tap.name());
    if (tap.tensor() < 0 || tap.tensor() >= SizeOf(check->artifact->tensors()))
      return check->Fail("tap %.80s: no such tensor", name);
    int64_t elements = 0;
    if (!CheckShape(check, View(tap.shape()), name, &elements)) return false;
    if (elements != ShapeOf(check->TensorAt(tap.tensor())).Elements()) {
      return check->Fail("tap %.80s: not its tensor's size", name);
    }
    const Span<int32_t> permutation = View(tap.permutation());
    const int rank = static_cast<int>(View(tap.shape()).size);
    if (permutation.size != 0 &&
        (permutation.size != rank || !IsPermutation(permutation.data, rank))) {
      return check->Fail("tap %.80s: not a permutation", name);
    }
  }
  return true;
}

}  // namespace fold::format
