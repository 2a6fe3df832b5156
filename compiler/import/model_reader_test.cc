#include "compiler/import/model_reader.h"

#include <gtest/gtest.h>

#include "compiler/import/test_model.h"

namespace fold::importer {
namespace {

constexpr char kRelu[] = "g (float[1] x) => (float[1] y) { [n] y = Relu(x) }";

onnx::ModelProto WithOpset(const std::string& imports) {
  return ParseModel("<ir_version: 8, opset_import: [" + imports + "]> " +
                    kRelu);
}

TEST(ModelReader, ReadsVersions) {
  const std::string bytes =
      WithOpset("\"ai.onnx\" : 13, \"com.microsoft\" : 1, \"other\" : 99")
          .SerializeAsString();
  onnx::ModelProto model;
  OpsetVersions versions;
  Diagnostics sink;
  ASSERT_TRUE(
      ReadModel({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                {}, &model, &versions, &sink));
  EXPECT_EQ(versions,
            (OpsetVersions{{"", 13}, {"com.microsoft", 1}, {"other", 99}}));
}

TEST(ModelReader, AliasOfTheOnnxDomain) {
  auto model = WithOpset("\"ai.onnx\" : 13");
  model.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  EXPECT_TRUE(Import(model).good);
  ExpectRefused(Import(WithOpset("\"ai.onnx\" : 13, \"\" : 14")),
                DiagnosticCode::model_invalid, "opset_import ''",
                "two versions");
}

TEST(ModelReader, Garbage) {
  EXPECT_EQ(ImportBytes("this is no model at all").sink.exit_code(), 3);
  EXPECT_EQ(ImportBytes(std::string(1000, '\0')).sink.exit_code(), 3);
  ExpectRefused(ImportBytes("\x08\x08"), DiagnosticCode::model_invalid, "graph",
                "no graph");
}

TEST(ModelReader, EveryTruncationIsRefused) {
  const std::string bytes = WithOpset("\"\" : 13").SerializeAsString();
  ASSERT_TRUE(ImportBytes(bytes).good);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Imported result = ImportBytes(bytes.substr(0, size));
    EXPECT_EQ(result.sink.exit_code(), 3) << size;
  }
}

TEST(ModelReader, Versions) {
  for (const char* good : {"\"\" : 7", "\"\" : 28"}) {
    EXPECT_TRUE(Import(WithOpset(good)).good) << good;
  }
  for (const char* bad : {"\"\" : 6", "\"\" : 29", "\"\" : 0"}) {
    ExpectRefused(Import(WithOpset(bad)), DiagnosticCode::unsupported_operator,
                  "opset_import ''", "foldd reads 7 to 28");
  }
  ExpectRefused(Import(WithOpset("\"\" : 17, \"com.microsoft\" : 2")),
                DiagnosticCode::unsupported_operator,
                "opset_import 'com.microsoft'");
  auto model = WithOpset("\"\" : 17");
  for (int64_t version :
       {int64_t{0}, int64_t{2}, int64_t{15}, int64_t{-1}, INT64_MAX}) {
    model.set_ir_version(version);
    ExpectRefused(Import(model), DiagnosticCode::model_invalid, "ir_version");
  }
}

}  // namespace
}  // namespace fold::importer
