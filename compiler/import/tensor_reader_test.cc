#include "compiler/import/tensor_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fold::importer {
namespace {

using onnx::TensorProto;

TensorProto Make(int type, const Shape& dims) {
  TensorProto tensor;
  tensor.set_data_type(type);
  for (int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}

// The code that CheckTensor gives, or "good".
std::string Code(const TensorProto& tensor) {
  Diagnostics sink;
  if (CheckTensor(tensor, "t", {}, &sink)) return "good";
  EXPECT_EQ(sink.all().at(0).node, "t");
  return KindOf(sink.all().at(0).code).name;
}

TensorPtr Read(const TensorProto& tensor) {
  Diagnostics sink;
  EXPECT_EQ(Code(tensor), "good");
  return ReadTensor(tensor, "t", &sink);
}

std::vector<int64_t> Integers(const TensorPtr& tensor) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor->size(); ++i) {
    values.push_back(tensor->integer(i));
  }
  return values;
}

TEST(TensorReader, RawData) {
  TensorProto tensor = Make(TensorProto::FLOAT, {2});
  const float values[] = {1.5f, -0.0f};
  tensor.set_raw_data(values, sizeof(values));
  const TensorPtr read = Read(tensor);
  EXPECT_EQ(read->type, ElementType::f32);
  EXPECT_EQ(read->shape, Shape{2});
  EXPECT_EQ(std::string(read->bytes.begin(), read->bytes.end()),
            tensor.raw_data());
}

TEST(TensorReader, TypedFields) {
  TensorProto i8 = Make(TensorProto::INT8, {3});
  for (int v : {-128, 0, 127}) i8.add_int32_data(v);
  EXPECT_EQ(Integers(Read(i8)), (std::vector<int64_t>{-128, 0, 127}));
  TensorProto u16 = Make(TensorProto::UINT16, {1});
  u16.add_int32_data(65535);
  EXPECT_EQ(Integers(Read(u16)), std::vector<int64_t>{65535});
  TensorProto u32 = Make(TensorProto::UINT32, {1});
  u32.add_uint64_data(0xfffffffe);
  EXPECT_EQ(Integers(Read(u32)), std::vector<int64_t>{0xfffffffe});
  TensorProto i64 = Make(TensorProto::INT64, {});
  i64.add_int64_data(INT64_MIN);
  EXPECT_EQ(Integers(Read(i64)), std::vector<int64_t>{INT64_MIN});
  TensorProto f64 = Make(TensorProto::DOUBLE, {1});
  f64.add_double_data(0.1);
  EXPECT_EQ(Read(f64)->real(0), 0.1);
  TensorProto f16 = Make(TensorProto::FLOAT16, {1});
  f16.add_int32_data(0xc000);
  EXPECT_EQ(Read(f16)->real(0), -2.0);
  TensorProto boolean = Make(TensorProto::BOOL, {2});
  boolean.set_raw_data(std::string("\x00\x07", 2));
  EXPECT_EQ(Read(boolean)->bytes, (std::vector<uint8_t>{0, 1}));
}

TEST(TensorReader, FourBitElementsAreUnpackedLowFirst) {
  TensorProto tensor = Make(TensorProto::INT4, {3});
  tensor.set_raw_data("\x7f\x08");
  EXPECT_EQ(Integers(Read(tensor)), (std::vector<int64_t>{-1, 7, -8}));
  tensor.set_data_type(TensorProto::UINT4);
  EXPECT_EQ(Integers(Read(tensor)), (std::vector<int64_t>{15, 7, 8}));
  TensorProto typed = Make(TensorProto::UINT4, {3});
  typed.add_int32_data(0x7f);
  typed.add_int32_data(0x08);
  EXPECT_EQ(Integers(Read(typed)), (std::vector<int64_t>{15, 7, 8}));
}

TEST(TensorReader, Empty) {
  EXPECT_EQ(Read(Make(TensorProto::INT8, {0}))->bytes.size(), 0u);
  EXPECT_EQ(Read(Make(TensorProto::FLOAT, {2, 0}))->shape, (Shape{2, 0}));
}

TEST(TensorReader, SizesMustFit) {
  TensorProto raw = Make(TensorProto::INT16, {2});
  raw.set_raw_data("abc");
  EXPECT_EQ(Code(raw), "model_invalid");
  raw.set_raw_data("abcd");
  EXPECT_EQ(Code(raw), "good");
  raw.set_raw_data("abcde");
  EXPECT_EQ(Code(raw), "model_invalid");
  raw.set_raw_data("abcd");
  raw.add_int32_data(1);
  EXPECT_EQ(Code(raw), "model_invalid");
  TensorProto typed = Make(TensorProto::INT16, {2});
  EXPECT_EQ(Code(typed), "model_invalid");
  typed.add_int32_data(1);
  EXPECT_EQ(Code(typed), "model_invalid");
  typed.add_int32_data(1);
  EXPECT_EQ(Code(typed), "good");
  typed.add_int64_data(1);
  EXPECT_EQ(Code(typed), "model_invalid");
  TensorProto wrong_field = Make(TensorProto::FLOAT, {1});
  wrong_field.add_int32_data(1);
  EXPECT_EQ(Code(wrong_field), "model_invalid");
}

TEST(TensorReader, HugeClaimsCostNothing) {
  TensorProto huge = Make(TensorProto::INT8, {int64_t{2} << 30});
  huge.set_raw_data("x");
  EXPECT_EQ(Code(huge), "model_invalid");
  EXPECT_EQ(Code(Make(TensorProto::FLOAT, {INT64_MAX, INT64_MAX})),
            "model_too_large");
  EXPECT_EQ(Code(Make(TensorProto::FLOAT, {-4})), "model_invalid");
}

TEST(TensorReader, TypesAndSegments) {
  TensorProto text = Make(TensorProto::STRING, {1});
  text.add_string_data("x");
  EXPECT_EQ(Code(text), "unsupported_type");
  EXPECT_EQ(Code(Make(TensorProto::FLOAT8E4M3FN, {0})), "unsupported_type");
  EXPECT_EQ(Code(Make(0, {0})), "unsupported_type");
  TensorProto segment = Make(TensorProto::INT8, {0});
  segment.mutable_segment()->set_begin(0);
  EXPECT_EQ(Code(segment), "model_invalid");
}

TEST(TensorReader, NumbersOutsideTheType) {
  for (int value : {-129, 128}) {
    TensorProto tensor = Make(TensorProto::INT8, {1});
    tensor.add_int32_data(value);
    Diagnostics sink;
    EXPECT_EQ(ReadTensor(tensor, "t", &sink), nullptr) << value;
    EXPECT_EQ(sink.all().at(0).code, DiagnosticCode::model_invalid);
    EXPECT_EQ(sink.all().at(0).node, "t");
  }
}

}  // namespace
}  // namespace fold::importer
