// Drawn networks: every integer that the artifact computes is the ideal one,
// and stays so when a pass that only makes the network cheaper is left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "compiler/passes/pipeline.h"
#include "tests/regress/compiled.h"
#include "tests/regress/network_drawer.h"

namespace fold::regress {
namespace {

// FOLD_SEED=N draws that network alone, FOLD_NETWORKS=N as many of them.
uint32_t FromEnvironment(const char* name, uint32_t otherwise) {
  const char* text = std::getenv(name);
  return text ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10))
              : otherwise;
}

std::vector<std::string> PipelineWithout(const std::string& pass) {
  std::vector<std::string> passes = StandardPipeline();
  passes.erase(std::remove(passes.begin(), passes.end(), pass), passes.end());
  return passes;
}

// An integer network has to be exact; an island may miss a tie by one step.
int Allowed(const CompileResult& result) {
  return result.report.artifact.integer_only ? 0 : 1;
}

class DrawnNetworks : public testing::Test {
 protected:
  // Returns false after a failure.
  bool Check(uint32_t seed) {
    SCOPED_TRACE("FOLD_SEED=" + std::to_string(seed));
    const onnx::ModelProto model = NetworkDrawer(seed).Draw();
    std::mt19937 engine(seed);
    const Ideals inputs = DrawInputs(model, &engine);
    Ideals ideals = inputs;
    const std::string fault = EvaluateIdeal(model, &ideals);
    EXPECT_EQ(fault, "");
    if (!fault.empty()) return false;
    const CompileResult result = CompileModel(model);
    EXPECT_EQ(result.exit_code, 0) << Describe(result);
    if (result.exit_code != 0) return false;
    ExpectSame(result, inputs, ideals, Allowed(result));
    integer_only_ += result.report.artifact.integer_only;
    if (!HasFailure()) CheckWithout(model, inputs, ideals, &engine);
    if (HasFailure()) ADD_FAILURE() << Nodes(model);
    return !HasFailure();
  }

  static std::string Nodes(const onnx::ModelProto& model) {
    std::string text;
    for (const auto& node : model.graph().node()) {
      text += node.name() + " " + node.output(0) + " =";
      for (const std::string& input : node.input()) text += " " + input;
      text += "\n";
    }
    return text;
  }

  // Without a pass the network may not get through (a stage is not reached);
  // if it does, it means the same.
  void CheckWithout(const onnx::ModelProto& model, const Ideals& inputs,
                    const Ideals& ideals, std::mt19937* engine) {
    const char* const optional[] = {"fuse_pad", "remove_requantize",
                                    "move_before_quantize", "fold_batch_norm",
                                    "fold_code_clip"};
    const std::string pass = optional[(*engine)() % std::size(optional)];
    SCOPED_TRACE("without " + pass);
    CompileOptions options;
    options.passes = PipelineWithout(pass);
    const CompileResult result = CompileModel(model, options);
    if (result.exit_code != 0) {
      EXPECT_EQ(result.report.diagnostics.back().code,
                DiagnosticCode::pass_order)
          << Describe(result);
      return;
    }
    ++without_a_pass_;
    ExpectSame(result, inputs, ideals, Allowed(result));
  }

  static Ideals DrawInputs(const onnx::ModelProto& model,
                           std::mt19937* engine) {
    return InputsOf(model, [&](onnx::TensorProto_DataType type, int64_t) {
      const int drawn = static_cast<int>((*engine)() % 1024);
      if (type == onnx::TensorProto::INT8) return drawn % 256 - 128.0;
      if (type == onnx::TensorProto::UINT8) return drawn % 256 + 0.0;
      return drawn / 128.0 - 4;
    });
  }

  int integer_only_ = 0, without_a_pass_ = 0;
};

TEST_F(DrawnNetworks, EveryIntegerIsTheIdealOne) {
  const uint32_t only = FromEnvironment("FOLD_SEED", 0);
  if (only != 0) {
    Check(only);
    return;
  }
  const uint32_t count = FromEnvironment("FOLD_NETWORKS", 300);
  uint32_t drawn = 0;
  while (drawn < count && Check(drawn + 1)) ++drawn;
  std::cout << "seeds 1 to " << drawn << ": " << integer_only_
            << " integer-only, " << without_a_pass_
            << " also without one of the passes\n";
  EXPECT_EQ(drawn, count);
  // The networks are made to be folded.
  EXPECT_GT(integer_only_ * 2, static_cast<int>(drawn));
}

}  // namespace
}  // namespace fold::regress
