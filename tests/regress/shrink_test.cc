#include "tests/regress/shrink.h"

#include <gtest/gtest.h>

#include "tests/regress/compiled.h"
#include "tests/regress/network_drawer.h"

namespace fold::regress {
namespace {

int CountOf(const onnx::ModelProto& model, const std::string& op) {
  int count = 0;
  for (const auto& node : model.graph().node()) count += node.op_type() == op;
  return count;
}

bool Compiles(const onnx::ModelProto& model) {
  return CompileModel(model).exit_code == 0;
}

// A planted failure: a network that compiles and has a Relu behind a Conv.
bool HasReluBehindConv(const onnx::ModelProto& model) {
  for (const auto& node : model.graph().node()) {
    if (node.op_type() != "Relu") continue;
    for (const auto& maker : model.graph().node()) {
      if (maker.op_type() == "Conv" && maker.output(0) == node.input(0)) {
        return Compiles(model);
      }
    }
  }
  return false;
}

TEST(Shrink, LeavesWhatTheFailureNeeds) {
  const auto model = ModelOf(
      "g (float[2,4,6,6] x) => (float[2,8,3,3] y, uint8[2,8,3,3] q)"
      " <float s = {0.037}, uint8 z = {113}, float[8] sw = {0.1, 0.2, 0.3, 0.4,"
      " 0.5, 0.6, 0.7, 0.8}, int8[8] zw = {0, 0, 0, 0, 0, 0, 0, 0},"
      " int8[8,4,3,3] w = " +
      DrawnList(1, 8 * 4 * 9, -127, 127) +
      "> { a = QuantizeLinear(x, s, z) b = DequantizeLinear(a, s, z)"
      " dw = DequantizeLinear <axis = 0> (w, sw, zw)"
      " c = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (b, dw)"
      " r = Relu(c) t = QuantizeLinear(r, s, z) u = DequantizeLinear(t, s, z)"
      " m = Mul(u, u) q = QuantizeLinear(m, s, z) y = DequantizeLinear(q, s, z)"
      " }");
  ASSERT_TRUE(HasReluBehindConv(model));
  const auto small = Shrink(model, HasReluBehindConv);
  EXPECT_EQ(small.graph().node_size(), 2) << GoldenBlock(small, "small");
  EXPECT_EQ(small.graph().output_size(), 1);
  int64_t elements = 0;
  for (const auto& input : small.graph().input()) {
    int64_t count = 1;
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      count *= dim.dim_value();
    }
    elements += count;
  }
  EXPECT_LE(elements, 2 * 2) << GoldenBlock(small, "small");
}

// A planted error in arithmetic: somebody multiplies where a sum is asked for.
// The small network shows it still, and is read again.
TEST(Shrink, OfAWrongResult) {
  const auto wrong = [](const onnx::ModelProto& model) {
    if (!Compiles(model)) return false;
    Ideals right = InputsOf(model, [](auto, int64_t i) { return 3.0 + i % 5; });
    Ideals other = right;
    onnx::ModelProto broken = model;
    for (auto& node : *broken.mutable_graph()->mutable_node()) {
      if (node.op_type() == "Add") node.set_op_type("Mul");
    }
    if (!EvaluateIdeal(model, &right).empty()) return false;
    if (!EvaluateIdeal(broken, &other).empty()) return false;
    const std::string output = model.graph().output(0).name();
    return right.at(output).numbers != other.at(output).numbers;
  };
  int tried = 0;
  for (uint32_t seed = 1; tried < 3 && seed < 500; ++seed) {
    const auto model = NetworkDrawer(seed).Draw();
    if (CountOf(model, "Add") != 1 || !wrong(model)) continue;
    ++tried;
    const auto small = Shrink(model, wrong);
    EXPECT_TRUE(wrong(small));
    EXPECT_LE(small.graph().node_size(), 4) << GoldenBlock(small, "small");
    const std::string block = GoldenBlock(small, "drawn_1");
    EXPECT_EQ(block.find("# RUN: annotate,"), 0u) << block;
    EXPECT_NE(block.find("\nfir 1 imported\n"), std::string::npos) << block;
    EXPECT_NE(block.find("= add("), std::string::npos) << block;
  }
  EXPECT_EQ(tried, 3);
}

// Nothing is taken away that leaves the failure, and the questions are counted.
TEST(Shrink, KeepsWhatCannotGo) {
  const auto model = NetworkDrawer(3).Draw();
  int questions = 0;
  const auto small = Shrink(
      model,
      [&](const onnx::ModelProto&) {
        ++questions;
        return false;
      },
      40);
  EXPECT_EQ(small.SerializeAsString(), model.SerializeAsString());
  EXPECT_LE(questions, 40);
  EXPECT_GT(questions, 10);
}

}  // namespace
}  // namespace fold::regress
