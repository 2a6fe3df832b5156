#include "compiler/import/external_data.h"

#include <gtest/gtest.h>

#include <map>

#include "compiler/import/test_model.h"

namespace fold::importer {
namespace {

// y = x + w with w's data outside, where `entries` say.
onnx::ModelProto Model(const std::map<std::string, std::string>& entries) {
  auto model = ParseGraph(
      "g (int32[2] x) => (int32[2] y) <int32[2] w = {0, 0}>"
      "{ [add] y = Add(x, w) }");
  auto* tensor = model.mutable_graph()->mutable_initializer(0);
  tensor->clear_int32_data();
  tensor->clear_raw_data();
  tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : entries) {
    auto* entry = tensor->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  return model;
}

// One file of 16 bytes, 0 … 15, beside the model.
class ExternalDataTest : public testing::Test {
 protected:
  ExternalDataTest() {
    for (uint8_t i = 0; i < 16; ++i) file_.push_back(i);
    options_.external_files =
        [this](
            std::string_view name) -> std::optional<std::span<const uint8_t>> {
      asked_.emplace_back(name);
      if (name != "w.bin") return std::nullopt;
      return file_;
    };
  }
  std::vector<uint8_t> file_;
  std::vector<std::string> asked_;
  ImportOptions options_;
};

TEST_F(ExternalDataTest, IsRead) {
  for (const char* name : {"w.bin", "./w.bin"}) {
    const Imported result =
        Import(Model({{"location", name}, {"offset", "8"}, {"length", "8"}}),
               options_);
    ASSERT_TRUE(result.good) << result.Text();
    const Value& w = result.graph.value(result.graph.FindValue("w"));
    EXPECT_EQ(w.constant->bytes,
              (std::vector<uint8_t>{8, 9, 10, 11, 12, 13, 14, 15}));
  }
}

TEST_F(ExternalDataTest, OffsetAndLengthAreOptional) {
  const Imported result = Import(Model({{"location", "w.bin"}}), options_);
  ASSERT_TRUE(result.good) << result.Text();
  const Value& w = result.graph.value(result.graph.FindValue("w"));
  EXPECT_EQ(w.constant->bytes[7], 7);
}

TEST_F(ExternalDataTest, OtherPlacesAreNeverAskedFor) {
  for (const char* name :
       {"/etc/passwd", "../w.bin", "a/../../w.bin", "..", ".", "sub/w.bin",
        "C:\\w.bin", "\\\\host\\w.bin", "./../w.bin", ".//w.bin"}) {
    ExpectRefused(Import(Model({{"location", name}}), options_),
                  DiagnosticCode::external_data, "w",
                  "not the name of a file beside the model");
  }
  ExpectRefused(
      Import(Model({{"location", std::string("w.bin\0x", 7)}}), options_),
      DiagnosticCode::external_data, "w");
  EXPECT_TRUE(asked_.empty());
}

TEST_F(ExternalDataTest, AbsentFile) {
  ExpectRefused(Import(Model({{"location", "v.bin"}}), options_),
                DiagnosticCode::external_data, "w", "was not given");
  ExpectRefused(Import(Model({{"location", "w.bin"}})),
                DiagnosticCode::external_data, "w", "was not given");
  ExpectRefused(Import(Model({}), options_), DiagnosticCode::external_data, "w",
                "no location");
}

TEST_F(ExternalDataTest, RangesMustLieInTheFile) {
  for (const char* offset :
       {"9", "16", "17", "9223372036854775807", "18446744073709551615"}) {
    ExpectRefused(
        Import(Model({{"location", "w.bin"}, {"offset", offset}}), options_),
        DiagnosticCode::external_data, "w", "outside 'w.bin'");
  }
  for (const char* offset : {"-1", "", "8x", "18446744073709551616"}) {
    ExpectRefused(
        Import(Model({{"location", "w.bin"}, {"offset", offset}}), options_),
        DiagnosticCode::external_data, "w", "not a number");
  }
  for (const char* length : {"7", "9", "0", "18446744073709551615"}) {
    ExpectRefused(
        Import(Model({{"location", "w.bin"}, {"length", length}}), options_),
        DiagnosticCode::external_data, "w", "need 8 bytes");
  }
}

TEST_F(ExternalDataTest, ManyTensorsOnOneFileAreCounted) {
  auto model = Model({{"location", "w.bin"}});
  options_.limits.max_constant_bytes = 15;
  EXPECT_TRUE(Import(model, options_).good);
  auto* second = model.mutable_graph()->add_initializer();
  *second = model.graph().initializer(0);
  second->set_name("v");
  ExpectRefused(Import(model, options_), DiagnosticCode::model_too_large, "v");
}

TEST_F(ExternalDataTest, DataOfAConstantNode) {
  auto model = ParseGraph(
      "g (int32[2] x) => (int32[2] y) {"
      " [c] w = Constant <value = int32[2] {1, 2}> ()"
      " [add] y = Add(x, w) }");
  auto* tensor = NodeNamed(&model, "c")->mutable_attribute(0)->mutable_t();
  *tensor = Model({{"location", "../w.bin"}}).graph().initializer(0);
  ExpectRefused(Import(model, options_), DiagnosticCode::external_data, "c");
  *tensor = Model({{"location", "w.bin"}}).graph().initializer(0);
  EXPECT_TRUE(Import(model, options_).good);
}

}  // namespace
}  // namespace fold::importer
