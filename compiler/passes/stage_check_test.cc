// Each stage, held and not held.
#include "compiler/passes/stage_check.h"

#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

Graph With(const std::string& nodes) {
  return GraphOf(
      "fir 1 imported\ngraph @g(%x: f32[1,2], %k: u8[1,2] "
      "q(s=0.5 z=128)) -> %y {\n"
      "%s = const f32[] [0.5]\n%z = const u8[] [128]\n" +
      nodes + "\n}");
}

std::string Fault(Stage stage, const std::string& nodes) {
  return CheckStage(With(nodes), stage);
}

TEST(StageCheck, Imported) {
  Graph graph = With("%y = relu(%x) : f32[1,2] name \"relu\"");
  EXPECT_EQ(CheckStage(graph, Stage::imported), "");
  graph.mutable_value(graph.FindValue("y")).type.element =
      ElementType::undefined;
  EXPECT_EQ(CheckStage(graph, Stage::imported),
            "node 'relu': value 'y' has no type");
}

TEST(StageCheck, ImportedIsWhatTheFileSays) {
  EXPECT_EQ(Fault(Stage::imported,
                  "%y = relu(%x) steps [clip(0, 1)] : "
                  "f32[1,2] name \"relu\""),
            "node 'relu': it has steps, which no file has");
  EXPECT_EQ(Fault(Stage::imported, "%y = requantize(%x) : u8[1,2] name \"r\""),
            "node 'r': no file has its operator");
  EXPECT_EQ(Fault(Stage::imported, "%y = relu(%k) : u8[1,2] name \"relu\""),
            "node 'relu': value 'k' is annotated already");
}

// Every encoding is one, whatever made it.
TEST(StageCheck, AnnotatedEncodings) {
  const auto fault = [](const std::string& type) {
    Graph graph = With("%y = relu(%x) : " + type + " name \"n\"");
    return CheckStage(graph, Stage::annotated);
  };
  const std::string of = "node 'n': the quantization of 'y' ";
  EXPECT_EQ(fault("u8[1,2] q(s=0.5 z=128)"), "");
  EXPECT_EQ(fault("u8[1,2] q(s=[1,2] z=[0,1] axis=1)"), "");
  EXPECT_EQ(fault("u8[1,2] q(s=0 z=1)"), of + "has a scale that is none");
  EXPECT_EQ(fault("u8[1,2] q(s=1 z=-1)"),
            of + "has a zero point beyond its codes");
  EXPECT_EQ(fault("u8[1,2] q(s=1 z=0 codes=[5,4])"),
            of + "has an empty range of codes");
  Graph graph = With(
      "%y = relu(%x) : u8[1,2] q(s=[1,2] z=[0,1] axis=1) "
      "name \"n\"");
  Encoding& e = *graph.mutable_value(graph.FindValue("y")).type.encoding;
  e.axis = 0;
  EXPECT_EQ(CheckStage(graph, Stage::annotated),
            of + "has not a scale for each index of its axis");
  e.axis = 2;
  EXPECT_EQ(CheckStage(graph, Stage::annotated), of + "has no such axis");
  e.axis = -1;
  EXPECT_EQ(CheckStage(graph, Stage::annotated),
            of + "has many scales and no axis");
  e.zero_points.pop_back();
  EXPECT_EQ(CheckStage(graph, Stage::annotated),
            of + "has not as many zero points as scales");
}

TEST(StageCheck, Annotated) {
  const std::string bound =
      "%q = quantize_linear(%x, %s, %z) : u8[1,2] q(s=0.5 z=128)\n"
      "%y = dequantize_linear(%q, %s, %z) : f32[1,2]";
  EXPECT_EQ(Fault(Stage::annotated, bound), "");
  EXPECT_EQ(Fault(Stage::annotated,
                  "%y = quantize_linear(%x, %s, %z) : u8[1,2] name \"q\""),
            "node 'q': its quantization is not bound to a type");
  EXPECT_EQ(Fault(Stage::annotated,
                  "%c = const u8[2] [1,2]\n"
                  "%y = dequantize_linear(%c, %s) : f32[2] name \"dq\""),
            "node 'dq': its quantization is not bound to a type");
}

// The result of every QLinear operator has its quantization, pools too.
TEST(StageCheck, AnnotatedQLinearOperators) {
  EXPECT_EQ(Fault(Stage::annotated,
                  "%y = qlinear_add(%k, %s, %z, %k, %s, %z, %s, %z) : u8[1,2] "
                  "name \"add\""),
            "node 'add': its quantization is not bound to a type");
  EXPECT_EQ(Fault(Stage::annotated,
                  "%y = qlinear_softmax(%k, %s, %z, %s, %z) : u8[1,2] "
                  "name \"softmax\""),
            "node 'softmax': its quantization is not bound to a type");
  EXPECT_EQ(Fault(Stage::annotated,
                  "%w = const i8[2,1] q(s=1 z=0) [1,2]\n"
                  "%y = qgemm(%k, %s, %z, %w, %s, %z) : f32[1,1]"),
            "");
}

TEST(StageCheck, Simplified) {
  EXPECT_EQ(Fault(Stage::simplified, "%y = relu(%x) : f32[1,2]"), "");
  EXPECT_EQ(
      Fault(Stage::simplified, "%y = identity(%x) : f32[1,2] name \"same\""),
      "node 'same': it gives what it gets");
  EXPECT_EQ(Fault(Stage::simplified,
                  "%c = const f32[2] [1,2]\n"
                  "%d = relu(%c) : f32[2] name \"constant\"\n"
                  "%y = add(%x, %d) : f32[1,2]"),
            "node 'constant': all its operands are constant and it is not "
            "evaluated");
}

TEST(StageCheck, SimplifiedLeavesNothingThatDoesNothing) {
  EXPECT_EQ(
      Fault(Stage::simplified, "%y = cast(%x) {to=1} : f32[1,2] name \"cast\""),
      "node 'cast': it gives what it gets");
  EXPECT_EQ(Fault(Stage::simplified,
                  "%y = concat(%x) {axis=0} : f32[1,2] name \"one\""),
            "node 'one': it gives what it gets");
  // Codes that are read otherwise are no less codes.
  EXPECT_EQ(Fault(Stage::simplified,
                  "%y = identity(%k) : u8[1,2] q(s=0.25 z=1) name \"recast\""),
            "");
  const std::string clip =
      "%q = quantize_linear(%x, %s, %z) : u8[1,2] q(s=0.5 z=128)\n"
      "%lo = const u8[] [3]\n"
      "%y = clip(%q, %lo) : u8[1,2] q(s=0.5 z=128) name \"clip\"";
  EXPECT_EQ(Fault(Stage::simplified, clip),
            "node 'clip': its Clip of codes is not folded into the "
            "QuantizeLinear");
}

TEST(StageCheck, SimplifiedBatchNormalization) {
  const auto graph = [](const std::string& outputs) {
    return GraphOf("fir 1 annotated\ngraph @g(%x: f32[1,1,4]) -> " + outputs +
                   " {\n%w = const f32[2,1,3] splat(1)\n"
                   "%c = conv(%x, %w) : f32[1,2,2]\n"
                   "%p = const f32[2] [1,2]\n"
                   "%y = batch_normalization(%c, %p, %p, %p, %p) : f32[1,2,2] "
                   "name \"bn\"\n}");
  };
  EXPECT_EQ(CheckStage(graph("%y"), Stage::simplified),
            "node 'bn': its BatchNormalization is not folded into the linear "
            "op");
  // With another user it cannot be.
  EXPECT_EQ(CheckStage(graph("(%c, %y)"), Stage::simplified), "");
}

TEST(StageCheck, Folded) {
  EXPECT_EQ(
      Fault(Stage::folded, "%y = requantize(%k) : u8[1,2] q(s=0.25 z=128)"),
      "");
  EXPECT_EQ(Fault(Stage::folded,
                  "%d = dequantize_linear(%k, %s, %z) : f32[1,2]\n"
                  "%y = quantize_linear(%d, %s, %z) : u8[1,2] q(s=0.5 z=128) "
                  "name \"q\""),
            "node 'q': a fake-quantization is left");
  EXPECT_EQ(Fault(Stage::folded,
                  "%y = qlinear_softmax(%k, %s, %z, %s, %z) : u8[1,2] "
                  "q(s=0.5 z=128) name \"softmax\""),
            "node 'softmax': a QLinear operator is left");
  // At the signature both stand.
  EXPECT_EQ(Fault(Stage::folded,
                  "%q = quantize_linear(%x, %s, %z) : u8[1,2] q(s=0.5 z=128)\n"
                  "%y = dequantize_linear(%q, %s, %z) : f32[1,2]"),
            "");
}

TEST(StageCheck, Fused) {
  const std::string product =
      "%w = const i8[2,1] q(s=1 z=0) [1,2]\n"
      "%p = matmul(%k, %w) : f32[1,1]\n";
  EXPECT_EQ(Fault(Stage::fused,
                  product + "%y = quantize_linear(%p, %s, %z) : u8[1,1] "
                            "q(s=0.5 z=128) name \"q\""),
            "node 'q': its quantization is not fused into the op before it");
  EXPECT_EQ(Fault(Stage::fused,
                  product + "%r = relu(%p) : f32[1,1] name \"relu\"\n"
                            "%y = quantize_linear(%r, %s, %z) : u8[1,1] "
                            "q(s=0.5 z=128)"),
            "node 'relu': it is not fused into the op before it");
  // A clamp that is never quantized stays.
  EXPECT_EQ(Fault(Stage::fused, product + "%y = relu(%p) : f32[1,1]"), "");
  EXPECT_EQ(Fault(Stage::fused,
                  product + "%y = dequantize_linear(%k, %s, %z) : f32[1,2]"),
            "node '->p': nothing needs it");
  EXPECT_EQ(Fault(Stage::fused,
                  "%w = const i8[2,1] q(s=1 z=0) [1,2]\n"
                  "%y = matmul(%k, %w) : u8[1,1] q(s=0.5 z=128)"),
            "");
}

TEST(StageCheck, FusedRequantizations) {
  EXPECT_EQ(Fault(Stage::fused,
                  "%y = requantize(%k) : u8[1,2] q(s=0.5 z=128) "
                  "name \"r\""),
            "node 'r': its requantization changes nothing");
  EXPECT_EQ(Fault(Stage::fused, "%y = requantize(%k) : u8[1,2] q(s=0.5 z=127)"),
            "");
}

// What held at a stage holds at the later ones.
TEST(CheckInvariants, EarlierStagesHold) {
  const std::string constants =
      "%c = const f32[2] [1,2]\n"
      "%d = relu(%c) : f32[2] name \"constant\"\n"
      "%y = add(%x, %d) : f32[1,2]";
  Graph graph = With(constants);
  EXPECT_EQ(CheckStage(graph, Stage::folded), "");
  EXPECT_EQ(CheckInvariants(graph, Stage::annotated), "");
  EXPECT_EQ(CheckInvariants(graph, Stage::folded),
            "node 'constant': all its operands are constant and it is not "
            "evaluated (stage simplified)");
  Graph typed = With("%y = relu(%x) : f32[1,2] name \"n\"");
  typed.mutable_value(typed.FindValue("y")).type.element =
      ElementType::undefined;
  EXPECT_EQ(CheckInvariants(typed, Stage::fused),
            "node 'n': value 'y' has no type");
  // Steps and encodings are no faults of a later graph.
  EXPECT_EQ(
      CheckInvariants(With("%y = requantize(%k) steps [clip(0, 1)] : u8[1,2] "
                           "q(s=0.5 z=1)"),
                      Stage::fused),
      "");
}

TEST(CheckNodes, StructureThenEveryNode) {
  Graph graph = With(
      "%a = relu(%x) : f32[1,2] name \"a\"\n"
      "%y = relu(%a) : f32[1,2] name \"b\"");
  EXPECT_EQ(CheckNodes(graph), "");
  Graph shape = graph;
  shape.mutable_value(shape.FindValue("a")).type.shape = {2, 1};
  EXPECT_EQ(CheckNodes(shape),
            "node 'a': the result's shape does not follow from the operands");
  Graph order = graph;
  order.SetOperands(MakerOf(order, "a"), {order.FindValue("y")});
  EXPECT_NE(CheckNodes(order).find("before it is made"), std::string::npos)
      << CheckNodes(order);
}

}  // namespace
}  // namespace fold
