#include "compiler/import/contrib_shapes.h"

#include <gtest/gtest.h>

#include "compiler/import/test_model.h"

namespace fold::importer {
namespace {

// Quantization parameters that the nodes below use.
constexpr char kParameters[] =
    "<float s = {0.5}, int8 z = {0}, uint8 u = {128}, int16 h = {0},"
    " int8[5,7] b = {1,1,1,1,1,1,1, 1,1,1,1,1,1,1, 1,1,1,1,1,1,1,"
    " 1,1,1,1,1,1,1, 1,1,1,1,1,1,1}>";

// Type of the result `t` of `node`, with operands from `inputs`.
std::string TypeOf(const std::string& inputs, const std::string& node) {
  const Imported result =
      Import(ParseGraph("g (" + inputs + ") => (int8[1] keep) " + kParameters +
                        "{ [n] t = com.microsoft." + node +
                        " keep = Constant <value = int8[1] {0}> () }"));
  if (!result.good) return result.Text();
  const TensorType& type = result.graph.value(result.graph.FindValue("t")).type;
  std::string text(ElementTypeName(type.element));
  for (int64_t dim : type.shape) text += " " + std::to_string(dim);
  return text;
}

// What TypeOf says is a refusal of node n.
void ExpectFault(const std::string& text, const std::string& message) {
  EXPECT_NE(text.find("error[model_invalid]: 'n'"), std::string::npos) << text;
  EXPECT_NE(text.find(message), std::string::npos) << text;
}

TEST(ContribShapes, Quantize) {
  EXPECT_EQ(TypeOf("float[2,3] x", "QuantizeLinear(x, s, h)"), "i16 2 3");
  EXPECT_EQ(TypeOf("float[2,3] x", "QuantizeLinear(x, s)"), "u8 2 3");
  EXPECT_EQ(TypeOf("int8[2,3] x", "DequantizeLinear(x, s, z)"), "f32 2 3");
  EXPECT_EQ(TypeOf("int32[4] x", "DequantizeLinear(x, s)"), "f32 4");
}

TEST(ContribShapes, BinaryBroadcasts) {
  EXPECT_EQ(TypeOf("int8[2,1,3] x, int8[4,1] y",
                   "QLinearAdd(x, s, z, y, s, z, s, z)"),
            "i8 2 4 3");
  EXPECT_EQ(
      TypeOf("uint8[3] x, uint8[3] y", "QLinearMul(x, s, u, y, s, u, s, u)"),
      "u8 3");
  ExpectFault(
      TypeOf("int8[2] x, int8[3] y", "QLinearAdd(x, s, z, y, s, z, s, z)"),
      "Incompatible dimensions");
  ExpectFault(
      TypeOf("int8[3] x, uint8[3] y", "QLinearAdd(x, s, z, y, s, u, s, z)"),
      "B");
}

TEST(ContribShapes, Pools) {
  EXPECT_EQ(TypeOf("int8[1,3,8,9] x",
                   "QLinearAveragePool <kernel_shape = [2,3], strides = [2,1],"
                   " pads = [0,1,0,1]> (x, s, z, s, z)"),
            "i8 1 3 4 9");
  EXPECT_EQ(
      TypeOf("int8[1,3,8,9] x", "QLinearGlobalAveragePool(x, s, z, s, z)"),
      "i8 1 3 1 1");
  ExpectFault(TypeOf("int8[1,3,8,9] x",
                     "QLinearGlobalAveragePool <channels_last = 1>"
                     "(x, s, z, s, z)"),
              "channels_last");
  ExpectFault(TypeOf("int8[1,3,8,9] x", "QLinearAveragePool(x, s, z, s, z)"),
              "kernel_shape");
}

TEST(ContribShapes, Gemm) {
  EXPECT_EQ(TypeOf("int8[2,5] x", "QGemm(x, s, z, b, s, z, , s, z)"), "i8 2 7");
  EXPECT_EQ(TypeOf("int8[7,2] x",
                   "QGemm <transA = 1, transB = 1> (x, s, z, b, s, z)"),
            "f32 2 5");
  ExpectFault(TypeOf("int8[2,4] x", "QGemm(x, s, z, b, s, z)"),
              "inner dimensions differ: 4 and 5");
  ExpectFault(TypeOf("int8[2,5,1] x", "QGemm(x, s, z, b, s, z)"), "rank 3");
  ExpectFault(TypeOf("int8[2,5] x", "QGemm(x, s, z, b, s, z, , s)"),
              "go together");
}

TEST(ContribShapes, SoftmaxAndConcat) {
  EXPECT_EQ(TypeOf("int8[2,5] x",
                   "QLinearSoftmax <axis = 1, opset = 13> (x, s, z, s, z)"),
            "i8 2 5");
  EXPECT_EQ(TypeOf("int8[2,5] x, int8[2,3] y",
                   "QLinearConcat <axis = -1> (s, z, x, s, z, y, s, z)"),
            "i8 2 8");
  ExpectFault(TypeOf("int8[2,5] x, int8[3,3] y",
                     "QLinearConcat <axis = 1> (s, z, x, s, z, y, s, z)"),
              "dimensions differ: 2 and 3");
  ExpectFault(TypeOf("int8[2,5] x, int8[2,3] y",
                     "QLinearConcat <axis = 2> (s, z, x, s, z, y, s, z)"),
              "axis");
  ExpectFault(TypeOf("int8[2,5] x", "QLinearConcat <axis = 1> (s, z, x, s)"),
              "triples");
}

}  // namespace
}  // namespace fold::importer
