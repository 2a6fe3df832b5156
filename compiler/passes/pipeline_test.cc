#include "compiler/passes/pipeline.h"

#include <algorithm>
#include <set>

#include "compiler/ops/test_graph.h"
#include "compiler/passes/pass_manager.h"

namespace fold {
namespace {

TEST(Pipeline, EveryPassIsInIt) {
  const auto pipeline = StandardPipeline();
  const std::set<std::string> used(pipeline.begin(), pipeline.end());
  for (const Pass& pass : Passes()) {
    EXPECT_EQ(used.count(std::string(pass.name)), 1u) << pass.name;
    EXPECT_EQ(FindPass(pass.name), &pass);
    EXPECT_FALSE(pass.summary.empty());
    EXPECT_LE(pass.requires_stage, pass.ensures_stage) << pass.name;
  }
  EXPECT_EQ(used.size(), Passes().size());
  EXPECT_EQ(FindPass("nonsense"), nullptr);
}

TEST(Pipeline, EveryPassHasAGoodAndABadBlock) {
  for (const Pass& pass : Passes()) {
    const std::string path =
        "compiler/passes/" + std::string(pass.name) + ".fir";
    std::FILE* file = std::fopen(path.c_str(), "rb");
    ASSERT_NE(file, nullptr) << path;
    std::string text(1 << 20, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    EXPECT_NE(text.find("# RUN: " + std::string(pass.name)), std::string::npos)
        << path;
    EXPECT_NE(text.find("\n# --- bad_"), std::string::npos) << path;
    EXPECT_NE(text.find("# CHECK: sheet " + std::string(pass.name)) ==
                  std::string::npos,
              pass.name != "annotate")
        << path;
  }
}

// A network with something for most passes to do.
constexpr char kNetwork[] = R"(fir 1 imported
graph @g(%x: f32[1,1,6]) -> %y {
  %lo = const f32[] [-1]
  %hi = const f32[] [1]
  %k = clip(%x, %lo, %hi) : f32[1,1,6] name "clip" loc("clip")
  %s = const f32[] [0.5]
  %z = const u8[] [128]
  %q = quantize_linear(%k, %s, %z) : u8[1,1,6] name "q" loc("q")
  %d = dequantize_linear(%q, %s, %z) : f32[1,1,6] name "dq" loc("dq")
  %w = const f32[2,1,3] [1,2,3,4,5,6]
  %t = const f32[] [0.25]
  %c = const i8[] [0]
  %wq = quantize_linear(%w, %t, %c) : i8[2,1,3] name "wq" loc("wq")
  %wd = dequantize_linear(%wq, %t, %c) : f32[2,1,3] name "wd" loc("wd")
  %p = conv(%d, %wd) : f32[1,2,4] name "conv" loc("conv")
  %g = const f32[2] [1,-2]
  %b = batch_normalization(%p, %g, %g, %g, %hi2) : f32[1,2,4] name "bn" loc("bn")
  %r = relu(%b) : f32[1,2,4] name "relu" loc("relu")
  %i = identity(%r) : f32[1,2,4] name "same" loc("same")
  %y = quantize_linear(%i, %s, %z) : u8[1,2,4] name "out" loc("out")
  %lost = relu(%i) : f32[1,2,4] name "lost" loc("lost")
})";

Graph Network() {
  std::string text = kNetwork;
  text.replace(text.find("%hi2"), 4, "%v");
  const std::string v = "  %v = const f32[2] [1,3]\n";
  text.insert(text.find("  %b = "), v);
  return GraphOf(text);
}

TEST(Pipeline, ReachesFusedWithEveryStageChecked) {
  Graph graph = Network();
  Diagnostics sink;
  PassContext context;
  context.verify = VerifyMode::kEach;
  std::vector<Stage> stages;
  context.after = [&](const PassRecord&, const Graph& after) {
    stages.push_back(after.stage);
  };
  ASSERT_TRUE(
      RunPasses(&graph, StandardPipeline(), context, &sink, nullptr, nullptr))
      << FormatDiagnostic(sink.all()[0]);
  EXPECT_EQ(graph.stage, Stage::fused);
  EXPECT_TRUE(std::is_sorted(stages.begin(), stages.end()));
  // A clamp at the input, one convolution.
  EXPECT_EQ(graph.node_count(), 2u) << Print(graph, Ops());
}

// The graph is folded only once it has been folded: an early pass must not be
// taken for it.
TEST(Pipeline, StagesAreNotReachedAheadOfTheirPasses) {
  Graph graph = Network();
  Diagnostics sink;
  PassContext context;
  bool folded = false, fused = false;
  context.after = [&](const PassRecord& record, const Graph& after) {
    folded |= record.name == "move_before_quantize";
    fused |= record.name == "fuse_activation";
    EXPECT_TRUE(folded || after.stage < Stage::folded) << record.name;
    EXPECT_TRUE(fused || after.stage < Stage::fused) << record.name;
  };
  ASSERT_TRUE(
      RunPasses(&graph, StandardPipeline(), context, &sink, nullptr, nullptr));
}

// Orders that the stages allow give the same network; the others are refused
// and change nothing that they should not.
TEST(Pipeline, PermutedOrders) {
  const auto standard = StandardPipeline();
  Graph reference = Network();
  Diagnostics sink;
  ASSERT_TRUE(RunPasses(&reference, standard, {}, &sink, nullptr, nullptr));
  int refused = 0, reached = 0;
  for (size_t i = 0; i + 1 < standard.size(); ++i) {
    for (size_t j = i + 1; j < standard.size(); ++j) {
      auto passes = standard;
      std::swap(passes[i], passes[j]);
      SCOPED_TRACE(standard[i] + " and " + standard[j]);
      Graph graph = Network();
      Diagnostics found;
      PassContext context;
      context.verify = VerifyMode::kEach;
      const bool good =
          RunPasses(&graph, passes, context, &found, nullptr, nullptr);
      if (!good) {
        ++refused;
        ASSERT_EQ(found.all().size(), 1u);
        EXPECT_EQ(found.all()[0].code, DiagnosticCode::pass_order)
            << FormatDiagnostic(found.all()[0]);
        continue;
      }
      if (graph.stage < Stage::fused) continue;
      ++reached;
      EXPECT_LE(graph.node_count(), reference.node_count() + 2);
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(reached, 0);
}

}  // namespace
}  // namespace fold
