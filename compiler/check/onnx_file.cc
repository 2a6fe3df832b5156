#include "compiler/check/onnx_file.h"

#include <google/protobuf/io/coded_stream.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace fold::check {
namespace {

using onnx::TensorProto;

static_assert(std::endian::native == std::endian::little);

template <typename T>
void CopyRaw(const std::string& raw, std::vector<int64_t>* ints) {
  for (size_t i = 0; i + sizeof(T) <= raw.size(); i += sizeof(T)) {
    T element;
    std::memcpy(&element, raw.data() + i, sizeof(T));
    ints->push_back(static_cast<int64_t>(element));
  }
}

template <typename T>
void CopyRawReals(const std::string& raw, std::vector<double>* reals) {
  for (size_t i = 0; i + sizeof(T) <= raw.size(); i += sizeof(T)) {
    T element;
    std::memcpy(&element, raw.data() + i, sizeof(T));
    reals->push_back(static_cast<double>(element));
  }
}

double HalfToDouble(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) {
    return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

bool ReadInts(const TensorProto& tensor, std::vector<int64_t>* ints) {
  const std::string& raw = tensor.raw_data();
  switch (tensor.data_type()) {
    case TensorProto::INT8:
      CopyRaw<int8_t>(raw, ints);
      break;
    case TensorProto::UINT8:
    case TensorProto::BOOL:
      CopyRaw<uint8_t>(raw, ints);
      break;
    case TensorProto::INT16:
      CopyRaw<int16_t>(raw, ints);
      break;
    case TensorProto::UINT16:
      CopyRaw<uint16_t>(raw, ints);
      break;
    case TensorProto::INT32:
      CopyRaw<int32_t>(raw, ints);
      break;
    case TensorProto::INT64:
      CopyRaw<int64_t>(raw, ints);
      for (const int64_t x : tensor.int64_data()) ints->push_back(x);
      return true;
    default:
      return false;
  }
  for (const int32_t x : tensor.int32_data()) ints->push_back(x);
  return true;
}

bool ReadReals(const TensorProto& tensor, std::vector<double>* reals) {
  std::vector<int64_t> halves;
  switch (tensor.data_type()) {
    case TensorProto::FLOAT:
      CopyRawReals<float>(tensor.raw_data(), reals);
      for (const float x : tensor.float_data()) reals->push_back(x);
      return true;
    case TensorProto::DOUBLE:
      CopyRawReals<double>(tensor.raw_data(), reals);
      for (const double x : tensor.double_data()) reals->push_back(x);
      return true;
    case TensorProto::FLOAT16:
      CopyRaw<uint16_t>(tensor.raw_data(), &halves);
      for (const int32_t x : tensor.int32_data()) halves.push_back(x);
      for (const int64_t x : halves) {
        reals->push_back(HalfToDouble(static_cast<uint16_t>(x)));
      }
      return true;
    default:
      return false;
  }
}

}  // namespace

bool ParseModel(std::span<const uint8_t> bytes, onnx::ModelProto* model) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return false;
  }
  google::protobuf::io::CodedInputStream stream(bytes.data(),
                                                static_cast<int>(bytes.size()));
  return model->ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

Value ReadTensor(const TensorProto& tensor) {
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    return UnknownValue("constant outside the file");
  }
  Shape shape(tensor.dims().begin(), tensor.dims().end());
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) {
      return UnknownValue("constant with a bad shape");
    }
  }
  const int type = tensor.data_type();
  std::vector<int64_t> ints;
  std::vector<double> reals;
  if (ReadInts(tensor, &ints)) {
    if (static_cast<int64_t>(ints.size()) != count) {
      return UnknownValue("constant of another size than its shape");
    }
    if (type == TensorProto::INT64 || type == TensorProto::BOOL) {
      return IntsValue(std::move(shape), type, std::move(ints));
    }
    return CodesValue(std::move(shape), type, ints);
  }
  if (ReadReals(tensor, &reals)) {
    if (static_cast<int64_t>(reals.size()) != count) {
      return UnknownValue("constant of another size than its shape");
    }
    return RealsValue(std::move(shape), type, std::move(reals));
  }
  return UnknownValue("constant of element type " + std::to_string(type));
}

std::string NodeName(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  return node.op_type() + "->" +
         (node.output_size() > 0 ? node.output(0) : std::string());
}

std::optional<std::pair<int64_t, int64_t>> CodeRange(int element_type) {
  switch (element_type) {
    case TensorProto::INT8:
      return std::make_pair(-128, 127);
    case TensorProto::UINT8:
      return std::make_pair(0, 255);
    case TensorProto::INT16:
      return std::make_pair(-32768, 32767);
    case TensorProto::UINT16:
      return std::make_pair(0, 65535);
    case TensorProto::INT32:
      return std::make_pair(std::numeric_limits<int32_t>::min(),
                            std::numeric_limits<int32_t>::max());
    default:
      return std::nullopt;
  }
}

bool IsFloat(int element_type) {
  return element_type == TensorProto::FLOAT ||
         element_type == TensorProto::DOUBLE ||
         element_type == TensorProto::FLOAT16 ||
         element_type == TensorProto::BFLOAT16;
}

const onnx::AttributeProto* Attributes::Find(const std::string& name) const {
  for (const onnx::AttributeProto& attribute : node_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

int64_t Attributes::Int(const std::string& name, int64_t otherwise) const {
  const onnx::AttributeProto* attribute = Find(name);
  return attribute != nullptr ? attribute->i() : otherwise;
}

double Attributes::Float(const std::string& name, double otherwise) const {
  const onnx::AttributeProto* attribute = Find(name);
  return attribute != nullptr ? attribute->f() : otherwise;
}

std::string Attributes::Text(const std::string& name) const {
  const onnx::AttributeProto* attribute = Find(name);
  return attribute != nullptr ? attribute->s() : std::string();
}

std::vector<int64_t> Attributes::Ints(const std::string& name,
                                      std::vector<int64_t> otherwise) const {
  const onnx::AttributeProto* attribute = Find(name);
  if (attribute == nullptr) return otherwise;
  return {attribute->ints().begin(), attribute->ints().end()};
}

}  // namespace fold::check
