#include "compiler/import/onnx_importer.h"

#include <gtest/gtest.h>

#include "compiler/import/test_model.h"
#include "compiler/ops/ops.h"

namespace fold::importer {
namespace {

// A convolution with per-axis weights, as quantization tools write it.
constexpr char kQdqNet[] = R"(
net (float[1,1,4,4] x) => (float[1,2,2,2] y)
<float xs = {0.5}, int8 xz = {-3},
 int8[2,1,3,3] w = {1,2,3,4,5,6,7,8,9, -1,-2,-3,-4,-5,-6,-7,-8,-9},
 float[2] ws = {0.25, 0.125}, int8[2] wz = {0, 0},
 int32[2] b = {100, -100}, float[2] bs = {0.125, 0.0625}, int32[2] bz = {0, 0},
 float ys = {1.5}, uint8 yz = {128}>
{
  [q] xq = QuantizeLinear(x, xs, xz)
  [dq] xd = DequantizeLinear(xq, xs, xz)
  [dw] wd = DequantizeLinear <axis = 0> (w, ws, wz)
  [db] bd = DequantizeLinear <axis = 0> (b, bs, bz)
  [conv] c = Conv <dilations = [1,1], group = 1, kernel_shape = [3,3],
                   pads = [0,1,1,0], strides = [1,1],
                   auto_pad = "NOTSET"> (xd, wd, bd)
  [relu] r = Relu(c)
  [pool] p = MaxPool <kernel_shape = [2,2], strides = [1,1]> (r)
  [yq] q = QuantizeLinear(p, ys, yz)
  [yd] y = DequantizeLinear(q, ys, yz)
}
)";

TEST(OnnxImporter, IsFaithful) {
  const Imported result = Import(ParseGraph(kQdqNet));
  ASSERT_TRUE(result.good) << result.Text();
  const Graph& graph = result.graph;
  EXPECT_EQ(graph.name, "net");
  EXPECT_EQ(graph.stage, Stage::imported);
  const Op kinds[] = {Op::kQuantizeLinear,
                      Op::kDequantizeLinear,
                      Op::kDequantizeLinear,
                      Op::kDequantizeLinear,
                      Op::kConv,
                      Op::kRelu,
                      Op::kMaxPool,
                      Op::kQuantizeLinear,
                      Op::kDequantizeLinear};
  ASSERT_EQ(graph.node_count(), std::size(kinds));
  for (size_t i = 0; i < std::size(kinds); ++i) {
    EXPECT_EQ(OpOf(result.node(i)), kinds[i]) << i;
    EXPECT_EQ(Ops().Check(graph, result.node(i)), "") << i;
    EXPECT_FALSE(graph.value(result.node(i).results[0]).type.encoding);
  }
  const Node& conv = result.node(4);
  EXPECT_EQ(conv.name, "conv");
  const char* operands[] = {"xd", "wd", "bd"};
  ASSERT_EQ(conv.operands.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(graph.value(conv.operands[i]).name, operands[i]);
  }
  EXPECT_EQ(conv.attributes.size(), 6u);
  EXPECT_EQ(conv.attribute<std::vector<int64_t>>("pads", {}),
            (std::vector<int64_t>{0, 1, 1, 0}));
  EXPECT_EQ(conv.attribute<int64_t>("group", 0), 1);
  EXPECT_EQ(conv.attribute<std::string>("auto_pad", ""), "NOTSET");
  EXPECT_EQ(result.node(2).attribute<int64_t>("axis", -1), 0);
  // Left away in the file, left away in the graph.
  EXPECT_EQ(result.node(0).attributes.count("axis"), 0u);
}

TEST(OnnxImporter, TypesAndConstants) {
  const Imported result = Import(ParseGraph(kQdqNet));
  ASSERT_TRUE(result.good) << result.Text();
  const Graph& graph = result.graph;
  const auto type = [&](const char* name) {
    return graph.value(graph.FindValue(name)).type;
  };
  EXPECT_EQ(type("x").element, ElementType::f32);
  EXPECT_EQ(type("xq").element, ElementType::i8);
  EXPECT_EQ(type("q").element, ElementType::u8);
  EXPECT_EQ(type("c").shape, (Shape{1, 2, 3, 3}));
  EXPECT_EQ(type("p").shape, (Shape{1, 2, 2, 2}));
  EXPECT_EQ(type("xs").shape, Shape{});
  const TensorPtr w = graph.value(graph.FindValue("w")).constant;
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->type, ElementType::i8);
  EXPECT_EQ(w->shape, (Shape{2, 1, 3, 3}));
  EXPECT_EQ(w->integer(17), -9);
  EXPECT_EQ(graph.value(graph.FindValue("b")).constant->integer(1), -100);
  EXPECT_EQ(graph.value(graph.FindValue("ws")).constant->real(1), 0.125);
  // Constants come in the file's order, before the results.
  EXPECT_EQ(graph.value(ValueId(1)).name, "xs");
  EXPECT_EQ(graph.value(ValueId(10)).name, "yz");
}

TEST(OnnxImporter, OldAttributesStayAttributes) {
  const Imported result =
      Import(ParseGraph("g (float[1,4] x) => (float[4,1] y) {"
                        " [s] t = Squeeze <axes = [0]> (x)"
                        " [c] u = Clip <min = 0.0, max = 6.0> (t)"
                        " [m] v = Softmax <axis = 0> (u)"
                        " [u] y = Unsqueeze <axes = [1]> (v) }",
                        10));
  ASSERT_TRUE(result.good) << result.Text();
  EXPECT_EQ(result.node(0).attribute<std::vector<int64_t>>("axes", {}),
            std::vector<int64_t>{0});
  EXPECT_EQ(result.node(1).attribute<double>("max", 0), 6.0);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(result.node(i).operands.size(), 1u);
    EXPECT_EQ(result.node(i).attribute<int64_t>("opset", 0), 10);
  }
}

TEST(OnnxImporter, FourBitWeights) {
  auto model = ParseGraph(
      "g (float[1,4] x) => (float[1,1] y) <float s = {0.5},"
      " int4[4,1] w = {0, 0, 0, 0}> {"
      " d = DequantizeLinear(w, s)"
      " y = MatMul(x, d) }",
      21);
  auto* tensor = model.mutable_graph()->mutable_initializer(1);
  tensor->clear_int32_data();
  tensor->set_raw_data("\x78\x10");
  const Imported result = Import(model);
  ASSERT_TRUE(result.good) << result.Text();
  const TensorPtr w = result.graph.value(result.graph.FindValue("w")).constant;
  EXPECT_EQ(w->bytes, (std::vector<uint8_t>{0xf8, 7, 0, 1}));
}

// QONNX's operators are the same under each name of their domain, also where
// the model does not import it, as its first exporters wrote.
TEST(OnnxImporter, QonnxUnderEveryName) {
  for (const std::string domain :
       {"qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general"}) {
    for (const std::string name : {"Quant", "IntQuant"}) {
      onnx::ModelProto model = ParseGraph(R"(
g (float[2,3] x) => (float[2,3] y)
<float s = {0.25}, float z = {0.0}, int64 b = {4}>
{ [q] y = Relu(x) [b] u = Relu(s) })",
                                          9);
      auto* node = NodeNamed(&model, "q");
      node->set_domain(domain);
      node->set_op_type(name);
      for (const char* operand : {"s", "z", "b"}) node->add_input(operand);
      const Imported result = Import(model);
      ASSERT_TRUE(result.good) << domain << name << result.Text();
      EXPECT_EQ(OpOf(result.node(0)), Op::kQuant);
      EXPECT_EQ(result.graph.value(result.node(0).results[0]).type.shape,
                (Shape{2, 3}));
      auto* import = model.add_opset_import();
      import->set_domain(domain);
      import->set_version(2);
      EXPECT_TRUE(Import(model).good);
      import->set_version(3);
      const Imported newer = Import(model);
      EXPECT_FALSE(newer.good);
      EXPECT_NE(newer.Text().find("version 3"), std::string::npos);
      import->set_version(1);
      node->set_op_type("FloatQuant");
      const Imported other = Import(model);
      EXPECT_FALSE(other.good);
      EXPECT_NE(other.Text().find(domain + ".FloatQuant"), std::string::npos);
    }
  }
}

TEST(OnnxImporter, NodeCountIsBounded) {
  ImportOptions options;
  options.limits.max_nodes = 8;
  ExpectRefused(Import(ParseGraph(kQdqNet), options),
                DiagnosticCode::model_too_large, "graph.node", "9 nodes");
}

TEST(OnnxImporter, SameBytesSameGraph) {
  const Imported a = Import(ParseGraph(kQdqNet));
  const Imported b = Import(ParseGraph(kQdqNet));
  ASSERT_EQ(a.graph.value_count(), b.graph.value_count());
  for (uint32_t i = 0; i < a.graph.value_count(); ++i) {
    EXPECT_EQ(a.graph.value(ValueId(i)).name, b.graph.value(ValueId(i)).name);
  }
}

// Flips bits, drops and repeats runs of bytes all over a model: the import
// says yes or why not, whatever the file says.
TEST(OnnxImporter, DamageIsSurvived) {
  const std::string bytes = ParseGraph(kQdqNet).SerializeAsString();
  uint32_t state = 1;
  const auto next = [&](size_t bound) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % bound;
  };
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = bytes;
    for (size_t i = next(3) + 1; i > 0; --i) {
      const size_t at = next(damaged.size());
      switch (next(3)) {
        case 0:
          damaged[at] = static_cast<char>(next(256));
          break;
        case 1:
          damaged.erase(at, next(9));
          break;
        default:
          damaged.insert(at, damaged.substr(at, next(9)));
      }
    }
    const Imported result = ImportBytes(damaged);
    if (!result.good) {
      EXPECT_EQ(result.sink.exit_code(), 3) << result.Text();
    }
  }
}

}  // namespace
}  // namespace fold::importer
