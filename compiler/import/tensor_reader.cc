#include "compiler/import/tensor_reader.h"

#include <cstring>
#include <limits>
#include <memory>

#include "compiler/import/element_types.h"
#include "compiler/import/labels.h"

namespace fold::importer {
namespace {

using onnx::TensorProto;

Shape DimsOf(const TensorProto& tensor) {
  return Shape(tensor.dims().begin(), tensor.dims().end());
}

bool IsNibble(ElementType type) {
  return type == ElementType::i4 || type == ElementType::u4;
}

// The repeated field in which ONNX stores elements of `type`.
enum class Field { kFloat, kDouble, kInt32, kInt64, kUint64 };
Field FieldOf(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return Field::kFloat;
    case ElementType::f64:
      return Field::kDouble;
    case ElementType::i64:
      return Field::kInt64;
    case ElementType::u32:
    case ElementType::u64:
      return Field::kUint64;
    default:
      return Field::kInt32;
  }
}

int64_t FieldSize(const TensorProto& tensor, Field field) {
  switch (field) {
    case Field::kFloat:
      return tensor.float_data_size();
    case Field::kDouble:
      return tensor.double_data_size();
    case Field::kInt32:
      return tensor.int32_data_size();
    case Field::kInt64:
      return tensor.int64_data_size();
    case Field::kUint64:
      return tensor.uint64_data_size();
  }
  return 0;
}

// Numbers in all fields together: data in two places is caught by comparing it
// with the size of the right one.
int64_t AllFieldSizes(const TensorProto& tensor) {
  int64_t sum = tensor.string_data_size();
  for (Field field : {Field::kFloat, Field::kDouble, Field::kInt32,
                      Field::kInt64, Field::kUint64}) {
    sum += FieldSize(tensor, field);
  }
  return sum;
}

// Entries of the typed field for `count` elements: onnx.proto puts two 4-bit
// elements into an entry.
int64_t EntryCount(ElementType type, int64_t count) {
  return IsNibble(type) ? count / 2 + count % 2 : count;
}

bool CheckData(const TensorProto& tensor, ElementType type,
               const std::string& node, Diagnostics* sink) {
  const auto fault = [&](const std::string& what) {
    return sink->Add(DiagnosticCode::model_invalid, node, what);
  };
  if (tensor.has_segment()) return fault("segmented tensors are not ONNX");
  const int64_t typed = AllFieldSizes(tensor);
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    if (typed > 0 || !tensor.raw_data().empty()) {
      return fault("has data both in the file and outside");
    }
    return true;
  }
  if (tensor.has_raw_data() && !(tensor.raw_data().empty() && typed > 0)) {
    if (typed > 0) return fault("has data both in raw_data and elsewhere");
    const auto size = static_cast<int64_t>(tensor.raw_data().size());
    const int64_t expected = RawByteCount(tensor);
    if (size == expected) return true;
    return fault("raw_data has " + std::to_string(size) + " bytes where " +
                 std::to_string(expected) + " are needed");
  }
  const int64_t expected = EntryCount(type, ElementCount(DimsOf(tensor)));
  const int64_t size = FieldSize(tensor, FieldOf(type));
  if (size == expected && typed == size) return true;
  return fault("has " + std::to_string(typed) + " numbers where " +
               std::to_string(expected) + " are needed");
}

template <typename T>
void Append(std::vector<uint8_t>* bytes, T value) {
  uint8_t raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  bytes->insert(bytes->end(), raw, raw + sizeof(T));
}

// Low nibble first; the last byte of an odd count has one element.
void UnpackNibble(uint8_t packed, ElementType type, int64_t count,
                  std::vector<uint8_t>* bytes) {
  for (int shift : {0, 4}) {
    if (static_cast<int64_t>(bytes->size()) == count) return;
    uint8_t nibble = (packed >> shift) & 15;
    if (type == ElementType::i4 && nibble >= 8) nibble |= 0xf0;
    bytes->push_back(nibble);
  }
}

void ReadRaw(const TensorProto& tensor, int64_t count, Tensor* result) {
  const std::string& raw = tensor.raw_data();
  if (IsNibble(result->type)) {
    for (char c : raw) {
      UnpackNibble(static_cast<uint8_t>(c), result->type, count,
                   &result->bytes);
    }
    return;
  }
  result->bytes.assign(raw.begin(), raw.end());
}

// Lowest and highest int32_data entry for `type`. Pairs of 4-bit elements and
// the bits of 16-bit floats are bit patterns: writers store them signed or not.
struct Range {
  int64_t low, high;
};
Range EntryRange(ElementType type) {
  switch (type) {
    case ElementType::i4:
    case ElementType::u4:
      return {-128, 255};
    case ElementType::f16:
    case ElementType::bf16:
      return {-32768, 65535};
    case ElementType::boolean:
      return {0, 1};
    default:
      return {LowestCode(type), HighestCode(type)};
  }
}

// Appends the low bytes of each entry of an integer field, of which all must
// be in range.
template <typename Values>
bool AppendEntries(const Values& values, int64_t count, Tensor* result,
                   int64_t low, int64_t high) {
  const int size = ElementSize(result->type);
  for (auto value : values) {
    const auto number = static_cast<int64_t>(value);
    if (number < low || number > high) return false;
    if (IsNibble(result->type)) {
      UnpackNibble(static_cast<uint8_t>(number), result->type, count,
                   &result->bytes);
    } else if (size == 1) {
      Append(&result->bytes, static_cast<uint8_t>(number));
    } else if (size == 2) {
      Append(&result->bytes, static_cast<uint16_t>(number));
    } else {
      Append(&result->bytes, static_cast<uint32_t>(number));
    }
  }
  return true;
}

bool ReadTyped(const TensorProto& tensor, int64_t count, Tensor* result) {
  switch (FieldOf(result->type)) {
    case Field::kFloat:
      for (float value : tensor.float_data()) Append(&result->bytes, value);
      return true;
    case Field::kDouble:
      for (double value : tensor.double_data()) Append(&result->bytes, value);
      return true;
    case Field::kInt64:
      for (int64_t value : tensor.int64_data()) Append(&result->bytes, value);
      return true;
    case Field::kUint64:
      if (result->type == ElementType::u32) {
        return AppendEntries(tensor.uint64_data(), count, result, 0,
                             std::numeric_limits<uint32_t>::max());
      }
      for (uint64_t value : tensor.uint64_data()) {
        Append(&result->bytes, value);
      }
      return true;
    case Field::kInt32:
      break;
  }
  const Range range = EntryRange(result->type);
  return AppendEntries(tensor.int32_data(), count, result, range.low,
                       range.high);
}

}  // namespace

int64_t RawByteCount(const TensorProto& tensor) {
  const int64_t bytes = UnpackedByteCount(tensor);
  return IsNibble(FromOnnxType(tensor.data_type())) ? bytes / 2 + bytes % 2
                                                    : bytes;
}

int64_t UnpackedByteCount(const TensorProto& tensor) {
  return ByteCount(FromOnnxType(tensor.data_type()), DimsOf(tensor))
      .value_or(0);
}

bool CheckTensor(const TensorProto& tensor, const std::string& name,
                 const ImportLimits& limits, Diagnostics* sink) {
  const std::string node = Readable(name);
  const ElementType type = FromOnnxType(tensor.data_type());
  if (type == ElementType::undefined) {
    return sink->Add(
        DiagnosticCode::unsupported_type, node,
        "a constant of element type " + OnnxTypeName(tensor.data_type()));
  }
  return CheckShape(name, type, DimsOf(tensor), limits, sink) &&
         CheckData(tensor, type, node, sink);
}

TensorPtr ReadTensor(const TensorProto& tensor, const std::string& name,
                     Diagnostics* sink) {
  auto result = std::make_shared<Tensor>();
  result->type = FromOnnxType(tensor.data_type());
  result->shape = DimsOf(tensor);
  const int64_t count = ElementCount(result->shape);
  result->bytes.reserve(static_cast<size_t>(UnpackedByteCount(tensor)));
  if (!tensor.raw_data().empty()) {
    ReadRaw(tensor, count, result.get());
  } else if (!ReadTyped(tensor, count, result.get())) {
    sink->Add(DiagnosticCode::model_invalid, Readable(name),
              "a number outside " + std::string(ElementTypeName(result->type)));
    return nullptr;
  }
  if (result->type == ElementType::boolean) {
    for (uint8_t& byte : result->bytes) byte = byte != 0;
  }
  return result;
}

}  // namespace fold::importer
