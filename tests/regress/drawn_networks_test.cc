// Drawn networks: every integer that the artifact computes is the ideal one,
// and stays so when a pass that only makes the network cheaper is left out. A
// network that fails is made small and printed as a golden block.
//   FOLD_SEED=N      the first seed (1)
//   FOLD_NETWORKS=N  how many are drawn (2000)
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>

#include "compiler/passes/pipeline.h"
#include "tests/regress/compiled.h"
#include "tests/regress/network_drawer.h"
#include "tests/regress/shrink.h"

namespace fold::regress {
namespace {

uint32_t FromEnvironment(const char* name, uint32_t otherwise) {
  const char* text = std::getenv(name);
  return text ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10))
              : otherwise;
}

// An integer network has to be exact; an island may miss a tie by one step.
int Allowed(const CompileResult& result) {
  return result.report.artifact.integer_only ? 0 : 1;
}

Ideals DrawInputs(const onnx::ModelProto& model, uint32_t seed) {
  std::mt19937 engine(seed);
  return InputsOf(model, [&](onnx::TensorProto_DataType type, int64_t) {
    const int drawn = static_cast<int>(engine() % 1024);
    if (type == onnx::TensorProto::INT8) return drawn % 256 - 128.0;
    if (type == onnx::TensorProto::UINT8) return drawn % 256 + 0.0;
    if (type == onnx::TensorProto::BOOL) return drawn % 2 + 0.0;
    return drawn / 128.0 - 4;
  });
}

// What one network came to.
struct Verdict {
  std::string kind;     // of its failure, "" if none: what Shrink holds on to
  std::string details;  // in words
  std::string island;   // the first operator that stays in float, "" if none
  bool another_order = false;
};

// Passes that only make the network cheaper.
constexpr const char* kOptional[] = {"",
                                     "fuse_pad",
                                     "remove_requantize",
                                     "move_before_quantize",
                                     "fold_batch_norm",
                                     "fold_code_clip"};

std::string Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// Names of drawn nodes end in a number.
std::string WithoutNumbers(std::string text) {
  const auto is_number = [](char letter) {
    return letter == '_' || (letter >= '0' && letter <= '9');
  };
  text.erase(std::remove_if(text.begin(), text.end(), is_number), text.end());
  return text;
}

// The code and the operator of the first error.
std::string Refusal(const CompileResult& result,
                    const onnx::ModelProto& model) {
  for (const Diagnostic& d : result.report.diagnostics) {
    if (d.severity() != Severity::kError) continue;
    std::string kind = std::string("refused ") + KindOf(d.code).name;
    for (const auto& node : model.graph().node()) {
      if (node.name() == d.node) kind += " " + node.op_type();
    }
    return kind;
  }
  return "refused without an error";
}

// The network, compiled with all passes but `without`, against the ideal.
Verdict Judge(const onnx::ModelProto& model, uint32_t seed,
              const std::string& without) {
  Verdict verdict;
  CompileOptions options;
  if (!without.empty()) {
    options.passes = StandardPipeline();
    options.passes.erase(
        std::remove(options.passes.begin(), options.passes.end(), without),
        options.passes.end());
  }
  const CompileResult result = CompileModel(model, options);
  if (result.exit_code != 0) {
    // Without a pass the network may not reach a stage; that is said.
    const Diagnostic& last = result.report.diagnostics.back();
    if (!without.empty() && last.code == DiagnosticCode::pass_order) return {};
    return {Refusal(result, model), Describe(result)};
  }
  Ideals inputs = DrawInputs(model, seed);
  Ideals ideals = inputs;
  const std::string fault = EvaluateIdeal(model, &ideals);
  if (!fault.empty()) return {"not evaluated", fault};
  const auto wrong = Differences(result, inputs, ideals, Allowed(result));
  if (!wrong.empty()) return {"wrong", Lines(wrong) + Describe(result)};
  verdict.island = WithoutNumbers(FirstIsland(result));
  verdict.another_order = !without.empty();
  return verdict;
}

void Report(const onnx::ModelProto& model, uint32_t seed,
            const std::string& without, const Verdict& verdict) {
  const auto small = Shrink(model, [&](const onnx::ModelProto& candidate) {
    return Judge(candidate, seed, without).kind == verdict.kind;
  });
  ADD_FAILURE() << "FOLD_SEED=" << seed << " FOLD_NETWORKS=1"
                << (without.empty() ? "" : ", without ") << without << "\n"
                << verdict.kind << "\n"
                << verdict.details << "\nshrunk:\n"
                << Judge(small, seed, without).details
                << GoldenBlock(small, "drawn_" + std::to_string(seed));
}

TEST(DrawnNetworks, EveryIntegerIsTheIdealOne) {
  const uint32_t first = FromEnvironment("FOLD_SEED", 1);
  const uint32_t count = FromEnvironment("FOLD_NETWORKS", 2000);
  constexpr int kMostFailures = 3;
  int failures = 0, integer_only = 0, another_order = 0, shared = 0;
  std::map<std::string, int> islands;
  uint32_t seed = first;
  for (; seed < first + count && failures < kMostFailures; ++seed) {
    NetworkDrawer drawer(seed);
    const onnx::ModelProto model = drawer.Draw();
    shared += drawer.shared();
    // All passes, and all but one for every other network.
    const char* const left_out = kOptional[seed % std::size(kOptional)];
    for (const std::string without : {"", left_out}) {
      const Verdict verdict = Judge(model, seed, without);
      if (!verdict.kind.empty()) {
        Report(model, seed, without, verdict);
        ++failures;
        break;
      }
      if (without.empty() && verdict.island.empty()) ++integer_only;
      if (without.empty() && !verdict.island.empty()) ++islands[verdict.island];
      another_order += verdict.another_order;
      if (*left_out == '\0') break;
    }
  }
  std::cout << "seeds " << first << " to " << seed - 1 << ": " << integer_only
            << " integer-only, " << another_order
            << " also without one of the passes, " << shared
            << " constants read again\n";
  for (const auto& [island, times] : islands) {
    std::cout << "  float island " << times << ": " << island << "\n";
  }
  // The networks are made to be folded, and to share.
  EXPECT_GE((integer_only + failures) * 2, static_cast<int>(seed - first));
  if (count >= 100) {
    EXPECT_GT(shared * 4, static_cast<int>(count));
  }
}

}  // namespace
}  // namespace fold::regress
