#include "compiler/import/attribute_reader.h"

#include <gtest/gtest.h>

#include "compiler/import/test_model.h"

namespace fold::importer {
namespace {

AttributeMap Read(const std::string& node_text, int version = 17) {
  auto model =
      ParseGraph("g (float[4] x) => (float[4] y) { " + node_text + " }");
  AttributeMap attributes;
  Diagnostics sink;
  EXPECT_TRUE(ReadAttributes(model.graph().node(0), {{"", version}},
                             &attributes, &sink));
  return attributes;
}

TEST(AttributeReader, EveryKind) {
  const AttributeMap read = Read(
      "y = Any <i = 7, f = 0.1, s = \"VALID\", is = [1, -2], fs = [0.5, 2.0],"
      " ss = [\"a\", \"b\"], t = int8[2] {3, 4}> (x)");
  EXPECT_EQ(std::get<int64_t>(read.at("i")), 7);
  // The number that the stored float encodes, not the decimal.
  EXPECT_EQ(std::get<double>(read.at("f")), static_cast<double>(0.1f));
  EXPECT_EQ(std::get<std::string>(read.at("s")), "VALID");
  EXPECT_EQ(std::get<std::vector<int64_t>>(read.at("is")),
            (std::vector<int64_t>{1, -2}));
  EXPECT_EQ(std::get<std::vector<double>>(read.at("fs")),
            (std::vector<double>{0.5, 2}));
  EXPECT_EQ(std::get<std::vector<std::string>>(read.at("ss")),
            (std::vector<std::string>{"a", "b"}));
  const TensorPtr t = std::get<TensorPtr>(read.at("t"));
  EXPECT_EQ(t->type, ElementType::i8);
  EXPECT_EQ(t->bytes, (std::vector<uint8_t>{3, 4}));
  EXPECT_EQ(read.size(), 7u);
}

TEST(AttributeReader, OpsetWhereItMatters) {
  EXPECT_EQ(std::get<int64_t>(Read("y = Softmax(x)", 11).at("opset")), 11);
  EXPECT_EQ(Read("y = Relu(x)").count("opset"), 0u);
  EXPECT_EQ(Read("y = com.microsoft.Softmax(x)").count("opset"), 0u);
}

TEST(AttributeReader, ConstantsBecomeTensors) {
  const auto value = [](const std::string& attribute) {
    const AttributeMap read = Read("y = Constant <" + attribute + "> ()");
    EXPECT_EQ(read.size(), 1u);
    return *std::get<TensorPtr>(read.at("value"));
  };
  EXPECT_EQ(value("value_int = 5"),
            *MakeIntegerTensor(ElementType::i64, {}, {5}));
  EXPECT_EQ(value("value_ints = [5, 6]"),
            *MakeIntegerTensor(ElementType::i64, {2}, {5, 6}));
  EXPECT_EQ(value("value_float = 0.5"),
            *MakeRealTensor(ElementType::f32, {}, {0.5}));
  EXPECT_EQ(value("value_floats = [0.5, 1.0]"),
            *MakeRealTensor(ElementType::f32, {2}, {0.5, 1}));
  EXPECT_EQ(value("value = int8[1] {9}"),
            *MakeIntegerTensor(ElementType::i8, {1}, {9}));
}

TEST(AttributeReader, ConstantsThatAreNone) {
  ExpectRefused(Import(ParseGraph("g (float[4] x) => (float[4] x) {"
                                  " [c] t = Constant <value_string = \"a\">"
                                  " () }")),
                DiagnosticCode::unsupported_type, "t");
  EXPECT_FALSE(Import(ParseGraph("g (float[4] x) => (float[4] x) {"
                                 " [c] t = Constant () }"))
                   .good);
}

}  // namespace
}  // namespace fold::importer
