#include "compiler/import/element_types.h"

#include <gtest/gtest.h>

#include "onnx/onnx_pb.h"

namespace fold::importer {
namespace {

TEST(ElementTypes, EveryOnnxTypeIsKnownOrNamed) {
  int known = 0;
  for (int type = 0; type < onnx::TensorProto::DataType_ARRAYSIZE; ++type) {
    known += FromOnnxType(type) != ElementType::undefined;
  }
  EXPECT_EQ(known, 15);
  EXPECT_EQ(FromOnnxType(onnx::TensorProto::INT4), ElementType::i4);
  EXPECT_EQ(FromOnnxType(onnx::TensorProto::BFLOAT16), ElementType::bf16);
  EXPECT_EQ(FromOnnxType(onnx::TensorProto::STRING), ElementType::undefined);
  EXPECT_EQ(FromOnnxType(-1), ElementType::undefined);
  EXPECT_EQ(OnnxTypeName(onnx::TensorProto::FLOAT8E4M3FN), "float8e4m3fn");
  EXPECT_EQ(OnnxTypeName(99), "type 99");
}

TEST(ElementTypes, ByteCount) {
  EXPECT_EQ(ByteCount(ElementType::f32, {}), 4);
  EXPECT_EQ(ByteCount(ElementType::i4, {3, 5}), 15);
  EXPECT_EQ(ByteCount(ElementType::f32, {3, 0, 5}), 0);
  EXPECT_EQ(ByteCount(ElementType::i8, {-1}), std::nullopt);
  EXPECT_EQ(ByteCount(ElementType::i8, {INT64_MAX}), INT64_MAX);
  EXPECT_EQ(ByteCount(ElementType::i16, {INT64_MAX}), std::nullopt);
  EXPECT_EQ(ByteCount(ElementType::i8, {int64_t{1} << 32, int64_t{1} << 32}),
            std::nullopt);
  EXPECT_EQ(ByteCount(ElementType::i8, {0, int64_t{1} << 32, int64_t{1} << 32}),
            std::nullopt);
}

TEST(ElementTypes, CheckShape) {
  ImportLimits limits;
  limits.max_rank = 3;
  limits.max_value_bytes = 100;
  const auto code = [&](const Shape& shape) -> std::string {
    Diagnostics sink;
    if (CheckShape("v", ElementType::i16, shape, limits, &sink)) return "good";
    EXPECT_EQ(sink.all().at(0).node, "v");
    return KindOf(sink.all().at(0).code).name;
  };
  EXPECT_EQ(code({50}), "good");
  EXPECT_EQ(code({51}), "model_too_large");
  EXPECT_EQ(code({1, 1, 1}), "good");
  EXPECT_EQ(code({1, 1, 1, 1}), "model_too_large");
  EXPECT_EQ(code({-1, 4}), "model_invalid");
  EXPECT_EQ(code({INT64_MAX, 4}), "model_too_large");
}

}  // namespace
}  // namespace fold::importer
