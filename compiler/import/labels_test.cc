#include "compiler/import/labels.h"

#include <gtest/gtest.h>

namespace fold::importer {
namespace {

TEST(Labels, Utf8) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("conv_1"));
  EXPECT_TRUE(IsUtf8("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
  EXPECT_FALSE(IsUtf8("\x80"));              // continuation alone
  EXPECT_FALSE(IsUtf8("\xc0\xaf"));          // overlong
  EXPECT_FALSE(IsUtf8("\xe0\x80\xaf"));      // overlong
  EXPECT_FALSE(IsUtf8("\xed\xa0\x80"));      // surrogate
  EXPECT_FALSE(IsUtf8("\xf4\x90\x80\x80"));  // above U+10FFFF
  EXPECT_FALSE(IsUtf8("\xe2\x82"));          // cut
}

TEST(Labels, ReadableEscapesAndCuts) {
  EXPECT_EQ(Readable("a\nb\x7f"), "a\\x0ab\\x7f");
  EXPECT_EQ(Readable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(Readable("\xff\xc3\xa9"), "\\xff\xc3\xa9");
  EXPECT_EQ(Readable(std::string(300, 'x'), 5), "xxxxx...");
  EXPECT_EQ(Readable("abcde", 5), "abcde");
}

TEST(Labels, NodeLabel) {
  onnx::NodeProto node;
  node.set_op_type("Conv");
  EXPECT_EQ(NodeLabel(node), "Conv->");
  node.add_output("y");
  EXPECT_EQ(NodeLabel(node), "Conv->y");
  node.set_name("c1");
  EXPECT_EQ(NodeLabel(node), "c1");
}

TEST(Labels, MessagesLoseSourcePaths) {
  EXPECT_EQ(CleanMessage("/build/onnx/common/ir.h:120: f: Assertion `x`"),
            "f: Assertion `x`");
  EXPECT_EQ(CleanMessage("bad (src/defs/old.cc:7) node"), "bad () node");
  EXPECT_EQ(CleanMessage("a\n\n==> Context:  b \n"), "a ==> Context: b");
  EXPECT_EQ(CleanMessage("node /conv1/Conv of x.h"), "node /conv1/Conv of x.h");
}

TEST(Labels, NodeInMessage) {
  EXPECT_EQ(NodeInMessage("Inference error(s): (op_type:Add, node name: a/b): "
                          "[ShapeInferenceError] Incompatible dimensions"),
            "a/b");
  EXPECT_EQ(NodeInMessage("==> Context: Bad node spec for node. Name: c1 "
                          "OpType: Conv"),
            "c1");
  EXPECT_EQ(NodeInMessage("something else"), "");
}

TEST(Labels, FormatShape) {
  onnx::TensorShapeProto shape;
  EXPECT_EQ(FormatShape(shape), "[]");
  shape.add_dim()->set_dim_param("batch");
  shape.add_dim()->set_dim_value(3);
  shape.add_dim();
  EXPECT_EQ(FormatShape(shape), "[batch,3,?]");
}

}  // namespace
}  // namespace fold::importer
