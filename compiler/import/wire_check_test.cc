#include "compiler/import/wire_check.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/import/test_model.h"

namespace fold::importer {
namespace {

// Fields of ModelProto and below, as tags with wire type 2.
constexpr char kGraphTag = 7 << 3 | 2;
constexpr char kNodeTag = 1 << 3 | 2;
constexpr char kAttributeTag = 5 << 3 | 2;
constexpr char kSubgraphTag = 6 << 3 | 2;

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) {
    bytes += static_cast<char>((value & 0x7f) | 0x80);
  }
  return bytes + static_cast<char>(value);
}

std::string Field(char tag, const std::string& body) {
  return std::string(1, tag) + Varint(body.size()) + body;
}

Diagnostics Check(const std::string& bytes, const ImportLimits& limits = {}) {
  Diagnostics sink;
  const bool good =
      CheckWire({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                limits, &sink);
  EXPECT_EQ(good, sink.all().empty());
  return sink;
}

void ExpectFault(const Diagnostics& sink, DiagnosticCode code,
                 const std::string& field, const std::string& message) {
  ASSERT_EQ(sink.all().size(), 1u);
  EXPECT_EQ(sink.all()[0].code, code);
  EXPECT_EQ(sink.all()[0].node, field);
  EXPECT_NE(sink.all()[0].message.find(message), std::string::npos)
      << sink.all()[0].message;
}

TEST(WireCheck, AcceptsAModel) {
  const auto model = ParseGraph(
      "g (float[1] x) => (float[1] y) {"
      " [n] y = Relu(x) }");
  EXPECT_TRUE(Check(model.SerializeAsString()).all().empty());
}

TEST(WireCheck, EmptyFile) {
  ExpectFault(Check(""), DiagnosticCode::model_unreadable, "model", "empty");
}

TEST(WireCheck, TwoGibibytesClaimedInAHundredBytes) {
  const std::string bytes = std::string(1, kGraphTag) +
                            Varint(uint64_t{2} << 30) + std::string(90, 'x');
  ExpectFault(Check(bytes), DiagnosticCode::model_unreadable, "graph",
              "claims 2147483648 bytes where 90 are left");
  ExpectFault(Check(std::string(1, kGraphTag) + Varint(~uint64_t{0})),
              DiagnosticCode::model_unreadable, "graph",
              "claims 18446744073709551615 bytes where 0 are left");
}

TEST(WireCheck, InnerLengthBeyondItsMessage) {
  const std::string node = std::string(1, kNodeTag) + Varint(50);
  ExpectFault(Check(Field(kGraphTag, node) + std::string(60, '\0')),
              DiagnosticCode::model_unreadable, "graph.node",
              "claims 50 bytes where 0 are left");
}

TEST(WireCheck, NestingIsBounded) {
  std::string graph;
  for (int i = 0; i < 40; ++i) {
    graph = Field(kNodeTag, Field(kAttributeTag, Field(kSubgraphTag, graph)));
  }
  const Diagnostics sink = Check(Field(kGraphTag, graph));
  ExpectFault(sink, DiagnosticCode::model_unreadable,
              "...g.node.attribute.g.node.attribute.g.node",
              "nested deeper than 64");
  // Deeper than any stack would bear.
  graph.clear();
  for (int i = 0; i < 4000; ++i) {
    graph = Field(kNodeTag, Field(kAttributeTag, Field(kSubgraphTag, graph)));
  }
  EXPECT_FALSE(Check(Field(kGraphTag, graph)).all().empty());
}

TEST(WireCheck, ItemsAreBounded) {
  std::string graph;
  for (int i = 0; i < 100; ++i) graph += Field(kNodeTag, "");
  ImportLimits limits;
  limits.max_items = 101;
  EXPECT_TRUE(Check(Field(kGraphTag, graph), limits).all().empty());
  limits.max_items = 100;
  ExpectFault(Check(Field(kGraphTag, graph), limits),
              DiagnosticCode::model_too_large, "graph.node",
              "more than 100 messages");
}

TEST(WireCheck, FileSizeIsBounded) {
  ImportLimits limits;
  limits.max_model_bytes = 4;
  ExpectFault(Check(Field(kGraphTag, "abc"), limits),
              DiagnosticCode::model_too_large, "model", "5 bytes");
}

TEST(WireCheck, MalformedNumbers) {
  ExpectFault(Check("\x08\xff"), DiagnosticCode::model_unreadable, "ir_version",
              "middle of a number");
  ExpectFault(Check("\x08" + std::string(11, '\xff')),
              DiagnosticCode::model_unreadable, "ir_version", "ten bytes");
  ExpectFault(Check(std::string("\x00\x01", 2)),
              DiagnosticCode::model_unreadable, "model", "out of range");
  ExpectFault(Check("\x0b"), DiagnosticCode::model_unreadable, "ir_version",
              "wire type 3");
}

TEST(WireCheck, NamesAreUtf8) {
  constexpr char kDocStringTag = 10 << 3 | 2;
  constexpr char kNodeNameTag = 3 << 3 | 2;
  EXPECT_TRUE(
      Check(Field(kGraphTag, Field(kDocStringTag, "\xff"))).all().empty());
  ExpectFault(
      Check(Field(kGraphTag, Field(kNodeTag, Field(kNodeNameTag, "\xff")))),
      DiagnosticCode::model_unreadable, "graph.node.name", "UTF-8");
}

}  // namespace
}  // namespace fold::importer
