// Which kernel a float operator becomes, and with what parameters.
#include "compiler/lower/lowering.h"
#include "compiler/lower/test_lowering.h"

namespace fold {
namespace {

// The kernels that compute, without the signature's casts.
std::vector<std::string> Kernels(const Lowered& lowered) {
  EXPECT_TRUE(lowered.good) << lowered.Text();
  std::vector<std::string> kernels;
  for (const auto& op : lowered.program.artifact.ops) {
    if (op->boundary) continue;
    kernels.push_back(KernelName(op->opcode));
    EXPECT_EQ(op->exactness, format_::Exactness::FLOAT);
  }
  return kernels;
}

std::string Graph1(const std::string& input, const std::string& nodes) {
  return "fir 1 fused\ngraph @g(%x: f32[" + input + "]) -> %y {\n" + nodes +
         "\n}";
}

using Names = std::vector<std::string>;

TEST(LowerIsland, Kernels) {
  const std::pair<const char*, const char*> cases[] = {
      {"%y = add(%x, %x) : f32[2,2]", "f64_binary"},
      {"%y = div(%x, %x) : f32[2,2]", "f64_binary"},
      {"%y = relu(%x) : f32[2,2]", "f64_unary"},
      {"%y = clip(%x) {max=6.0} : f32[2,2]", "f64_unary"},
      {"%y = softmax(%x) {axis=-1} : f32[2,2]", "f64_softmax"},
      {"%y = matmul(%x, %x) : f32[2,2]", "f64_matmul"},
      {"%y = gemm(%x, %x) {transA=1} : f32[2,2]", "f64_gemm"},
      {"%y = reduce_mean(%x) {axes=[1]} : f32[2,1]", "f64_reduce"},
  };
  for (const auto& [node, kernel] : cases) {
    EXPECT_EQ(Kernels(LowerText(Graph1("2,2", node))), Names{kernel}) << node;
  }
  EXPECT_EQ(
      Kernels(LowerText(Graph1("1,2,4",
                               "%y = average_pool(%x) {kernel_shape=[2]} : "
                               "f32[1,2,3]"))),
      Names{"f64_average_pool"});
  EXPECT_EQ(Kernels(LowerText(Graph1("1,2,4",
                                     "%w = const f32[1,2,2] splat(0.5)\n"
                                     "%y = conv(%x, %w) : f32[1,1,3]"))),
            Names{"f64_conv"});
}

TEST(LowerIsland, BoundsOfAClip) {
  const Lowered lowered = LowerText(
      Graph1("2", "%lo = const f32[] [-0.5]\n%y = clip(%x, %lo) : f32[2]"));
  for (const auto& op : lowered.program.artifact.ops) {
    const auto* p = op->parameters.AsF64UnaryParameters();
    if (!p) continue;
    EXPECT_EQ(p->kind, format_::UnaryKind::CLIP);
    EXPECT_EQ(p->alpha, -0.5);
    EXPECT_EQ(p->beta, std::numeric_limits<double>::infinity());
  }
}

// Before opset 13 the dimensions from the axis on count as one.
TEST(LowerIsland, SoftmaxOfOldOperatorSets) {
  const auto shape = [](const std::string& attributes) {
    const Lowered lowered = LowerText(
        Graph1("2,3,4", "%y = softmax(%x) {" + attributes + "} : f32[2,3,4]"));
    for (const auto& op : lowered.program.artifact.ops) {
      if (op->opcode == format_::Opcode::F64_SOFTMAX) {
        return lowered.tensor(op->inputs[0]).shape;
      }
    }
    return Shape{};
  };
  EXPECT_EQ(shape("opset=11"), (Shape{2, 12}));
  EXPECT_EQ(shape("opset=11, axis=2"), (Shape{2, 3, 4}));
  EXPECT_EQ(shape("opset=13"), (Shape{2, 3, 4}));
  EXPECT_EQ(shape("opset=13, axis=0"), (Shape{2, 3, 4}));
}

TEST(LowerIsland, BatchNormalizationInThreeSteps) {
  EXPECT_EQ(Kernels(LowerText(Graph1(
                "1,2,3",
                "%p = const f32[2] [1,2]\n"
                "%y = batch_normalization(%x, %p, %p, %p, %p) : f32[1,2,3]"))),
            (Names{"f64_binary", "f64_binary", "f64_binary"}));
}

// The steps of an operator that stays in double are not lost.
TEST(LowerIsland, Steps) {
  EXPECT_EQ(Kernels(LowerText(
                Graph1("1,2",
                       "%w = const f32[2,1] [1,2]\n%f = const f32[] [3]\n"
                       "%y = matmul(%x, %w, %f) steps [multiply(2), "
                       "clip(0, inf)] : f32[1,1]"))),
            (Names{"f64_matmul", "f64_binary", "f64_unary"}));
}

TEST(LowerIsland, Faults) {
  ExpectFault(LowerText("fir 1 fused\n"
                        "graph @g(%x: f32[2], %lo: f32[]) -> %y {\n"
                        "%y = clip(%x, %lo) : f32[2] name \"clip\"\n}"),
              DiagnosticCode::unsupported_operator, "clip", "not constant");
  ExpectFault(LowerText(Graph1("2,2",
                               "%i = const i64[] [0]\n"
                               "%y = gather(%x, %i) : f32[2] "
                               "name \"gather\"")),
              DiagnosticCode::unsupported_operator, "gather",
              "has no form in double");
  ExpectFault(LowerText(Graph1("1,1,2,2,2",
                               "%w = const f32[1,1,1,1,1] [1]\n"
                               "%y = conv(%x, %w) : f32[1,1,2,2,2] "
                               "name \"conv\"")),
              DiagnosticCode::unsupported_operator, "conv", "dimensions");
}

}  // namespace
}  // namespace fold
