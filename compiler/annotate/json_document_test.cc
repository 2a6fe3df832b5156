#include "compiler/annotate/json_document.h"

#include <gtest/gtest.h>

namespace fold {
namespace {

std::string FaultOf(std::string_view text) {
  JsonValue root;
  return ParseJson(text, &root);
}

TEST(JsonDocument, EveryKind) {
  JsonValue root;
  ASSERT_EQ(ParseJson(R"({"a": [1, -2.5, "x", true, null], "b": {}})", &root),
            "");
  ASSERT_EQ(root.kind, JsonValue::Kind::kObject);
  const JsonValue* list = root.Find("a");
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->items.size(), 5u);
  EXPECT_EQ(list->items[0].number, 1);
  EXPECT_EQ(list->items[1].number, -2.5);
  EXPECT_EQ(list->items[2].text, "x");
  EXPECT_TRUE(list->items[3].boolean);
  EXPECT_EQ(list->items[4].kind, JsonValue::Kind::kNull);
  EXPECT_EQ(root.Find("b")->kind, JsonValue::Kind::kObject);
  EXPECT_EQ(root.Find("c"), nullptr);
}

// The double nearest to what is written, and every key as often as it stands.
TEST(JsonDocument, NumbersAndDoubleKeysAsWritten) {
  JsonValue root;
  ASSERT_EQ(ParseJson(R"({"s": 0.023529411764705882, "s": 1e-7})", &root), "");
  ASSERT_EQ(root.items.size(), 2u);
  EXPECT_EQ(root.items[0].number, 0.023529411764705882);
  EXPECT_EQ(root.items[1].number, 1e-7);
  EXPECT_EQ(root.keys[0], root.keys[1]);
  EXPECT_EQ(root.Find("s"), &root.items[0]);
}

TEST(JsonDocument, FaultsHaveTheirPlace) {
  EXPECT_EQ(FaultOf("{\"a\": 1,\n  nan}"), "is not JSON at line 2, column 4");
  EXPECT_NE(FaultOf(""), "");
  EXPECT_NE(FaultOf("[1, NaN]"), "");
  EXPECT_NE(FaultOf("[-Infinity]"), "");
  EXPECT_NE(FaultOf("[1e999]"), "");
  EXPECT_NE(FaultOf("[1] 2"), "");
  EXPECT_NE(FaultOf("[\"\xff\"]"), "");
  EXPECT_NE(FaultOf("{\"a\" 1}"), "");
}

TEST(JsonDocument, DepthAndSizeAreBounded) {
  EXPECT_EQ(FaultOf(std::string(12, '[') + std::string(12, ']')), "");
  EXPECT_NE(
      FaultOf(std::string(13, '[') + std::string(13, ']')).find("levels deep"),
      std::string::npos);
  EXPECT_NE(FaultOf(std::string(100000, '[')).find("levels deep"),
            std::string::npos);
  std::string many = "[0";
  for (int i = 0; i < 2000000; ++i) many += ",0";
  EXPECT_NE(FaultOf(many + "]").find("values"), std::string::npos);
}

}  // namespace
}  // namespace fold
