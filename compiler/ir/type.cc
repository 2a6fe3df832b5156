#include "compiler/ir/type.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace fold {
namespace {

struct ElementInfo {
  std::string_view name;
  int size;
  bool integer, floating;
  int64_t lowest, highest;
};

constexpr ElementInfo kElements[] = {
    {"undefined", 0, false, false, 0, 0},
    {"f16", 2, false, true, 0, 0},
    {"bf16", 2, false, true, 0, 0},
    {"f32", 4, false, true, 0, 0},
    {"f64", 8, false, true, 0, 0},
    {"i4", 1, true, false, -8, 7},
    {"u4", 1, true, false, 0, 15},
    {"i8", 1, true, false, -128, 127},
    {"u8", 1, true, false, 0, 255},
    {"i16", 2, true, false, -32768, 32767},
    {"u16", 2, true, false, 0, 65535},
    {"i32", 4, true, false, INT32_MIN, INT32_MAX},
    {"u32", 4, true, false, 0, UINT32_MAX},
    {"i64", 8, true, false, INT64_MIN, INT64_MAX},
    {"u64", 8, true, false, 0, INT64_MAX},
    {"boolean", 1, false, false, 0, 1},
};

const ElementInfo& Info(ElementType type) {
  return kElements[static_cast<int>(type)];
}

template <typename T>
T Load(const std::vector<uint8_t>& bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void Store(std::vector<uint8_t>& bytes, int64_t i, T value) {
  std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
}

// IEEE 754 binary16 to double: every value is exact.
double HalfToDouble(uint16_t bits) {
  const double sign = bits >> 15 ? -1.0 : 1.0;
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

// The binary16 nearest to `value`, ties to even.
uint16_t DoubleToHalf(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7e00;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520.0) return sign | 0x7c00;
  if (magnitude == 0) return sign;
  int exponent;
  std::frexp(magnitude, &exponent);
  const int step = std::max(exponent - 11, -24);
  const auto units =
      static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -step)));
  // A carry out of the fraction runs into the exponent, as it should.
  return sign | static_cast<uint16_t>(((step + 24) << 10) + units);
}

void StoreReal(ElementType type, std::vector<uint8_t>& bytes, int64_t i,
               double value) {
  switch (type) {
    case ElementType::f64:
      return Store(bytes, i, value);
    case ElementType::f16:
      return Store(bytes, i, DoubleToHalf(value));
    case ElementType::bf16: {
      const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
      const uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
      return Store(bytes, i, static_cast<uint16_t>(rounded >> 16));
    }
    default:
      return Store(bytes, i, static_cast<float>(value));
  }
}

}  // namespace

std::string_view ElementTypeName(ElementType type) { return Info(type).name; }

std::optional<ElementType> ParseElementType(std::string_view name) {
  for (int i = 0; i < static_cast<int>(std::size(kElements)); ++i) {
    if (kElements[i].name == name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

int ElementSize(ElementType type) { return Info(type).size; }
bool IsInteger(ElementType type) { return Info(type).integer; }
bool IsFloat(ElementType type) { return Info(type).floating; }
int64_t LowestCode(ElementType type) { return Info(type).lowest; }
int64_t HighestCode(ElementType type) { return Info(type).highest; }

int64_t ElementCount(const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

double Tensor::real(int64_t i) const {
  switch (type) {
    case ElementType::f64:
      return Load<double>(bytes, i);
    case ElementType::f32:
      return Load<float>(bytes, i);
    case ElementType::f16:
      return HalfToDouble(Load<uint16_t>(bytes, i));
    case ElementType::bf16:
      return std::bit_cast<float>(
          static_cast<uint32_t>(Load<uint16_t>(bytes, i)) << 16);
    default:
      return static_cast<double>(integer(i));
  }
}

int64_t Tensor::integer(int64_t i) const {
  switch (type) {
    case ElementType::i4:
    case ElementType::i8:
      return Load<int8_t>(bytes, i);
    case ElementType::u4:
    case ElementType::u8:
    case ElementType::boolean:
      return Load<uint8_t>(bytes, i);
    case ElementType::i16:
      return Load<int16_t>(bytes, i);
    case ElementType::u16:
      return Load<uint16_t>(bytes, i);
    case ElementType::i32:
      return Load<int32_t>(bytes, i);
    case ElementType::u32:
      return Load<uint32_t>(bytes, i);
    case ElementType::i64:
    case ElementType::u64:
      return Load<int64_t>(bytes, i);
    default:
      return 0;
  }
}

TensorPtr MakeIntegerTensor(ElementType type, Shape shape,
                            const std::vector<int64_t>& values) {
  auto tensor = std::make_shared<Tensor>();
  tensor->type = type;
  tensor->shape = std::move(shape);
  const int size = ElementSize(type);
  tensor->bytes.resize(values.size() * size);
  // Little-endian: the low bytes of the 64-bit value are the narrow value.
  for (size_t i = 0; i < values.size(); ++i) {
    std::memcpy(tensor->bytes.data() + i * size, &values[i], size);
  }
  return tensor;
}

std::vector<double> RealNumbersOf(const Tensor& tensor,
                                  const Encoding& encoding) {
  int64_t inner = 1;
  for (size_t d = encoding.axis + 1;
       !encoding.per_tensor() && d < tensor.shape.size(); ++d) {
    inner *= tensor.shape[d];
  }
  std::vector<double> reals(tensor.size());
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const int64_t c =
        encoding.per_tensor() ? 0 : i / inner % tensor.shape[encoding.axis];
    reals[i] = static_cast<double>(tensor.integer(i) - encoding.zero_point(c)) *
               encoding.scale(c);
  }
  return reals;
}

TensorPtr MakeRealTensor(ElementType type, Shape shape,
                         const std::vector<double>& values) {
  auto tensor = std::make_shared<Tensor>();
  tensor->type = type;
  tensor->shape = std::move(shape);
  tensor->bytes.resize(values.size() * ElementSize(type));
  for (size_t i = 0; i < values.size(); ++i) {
    StoreReal(type, tensor->bytes, static_cast<int64_t>(i), values[i]);
  }
  return tensor;
}

}  // namespace fold
