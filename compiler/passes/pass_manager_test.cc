#include "compiler/passes/pass_manager.h"

#include "compiler/ops/test_graph.h"
#include "compiler/passes/pipeline.h"

namespace fold {
namespace {

// A fake-quantized product, as the importer gives it.
Graph Product() {
  return GraphOf(R"(fir 1 imported
graph @g(%x: f32[1,2]) -> %y {
  %s = const f32[] [0.5]
  %z = const u8[] [128]
  %q = quantize_linear(%x, %s, %z) : u8[1,2] name "q" loc("q")
  %d = dequantize_linear(%q, %s, %z) : f32[1,2] name "dq" loc("dq")
  %w = const i8[2,1] [1,2]
  %t = const f32[] [0.25]
  %v = dequantize_linear(%w, %t) : f32[2,1] name "dw" loc("dw")
  %p = matmul(%d, %v) : f32[1,1] name "product" loc("product")
  %y = quantize_linear(%p, %s, %z) : u8[1,1] name "out" loc("out")
})");
}

bool RunOn(Graph* graph, const std::vector<std::string>& passes,
           Diagnostics* sink, VerifyMode verify = VerifyMode::kEach) {
  PassContext context;
  context.verify = verify;
  return RunPasses(graph, passes, context, sink, nullptr, nullptr);
}

TEST(PassManager, UnknownPass) {
  Graph graph = Product();
  Diagnostics sink;
  EXPECT_FALSE(RunOn(&graph, {"annotate", "fold_everything"}, &sink));
  ASSERT_EQ(sink.all().size(), 1u);
  EXPECT_EQ(sink.all()[0].code, DiagnosticCode::unknown_pass);
  EXPECT_EQ(sink.all()[0].node, "fold_everything");
  EXPECT_EQ(sink.exit_code(), 2);
}

TEST(PassManager, OrderThatCannotWorkSaysWhatIsMissing) {
  Graph graph = Product();
  Diagnostics sink;
  EXPECT_FALSE(RunOn(&graph, {"fold_qdq"}, &sink));
  ASSERT_EQ(sink.all().size(), 1u);
  EXPECT_EQ(sink.all()[0].code, DiagnosticCode::pass_order);
  EXPECT_EQ(sink.all()[0].node, "fold_qdq");
  EXPECT_EQ(sink.all()[0].message,
            "requires stage simplified, graph is imported; node 'q': its "
            "quantization is not bound to a type");
  // It did not run.
  EXPECT_EQ(graph.stage, Stage::imported);
  EXPECT_EQ(graph.node_count(), 5u);
}

TEST(PassManager, FaultOfAPassEndsTheRun) {
  Graph graph = GraphOf(R"(fir 1 imported
graph @g(%x: f32[2]) -> %y {
  %s = const f32[] [0]
  %y = quantize_linear(%x, %s) : u8[2] name "q"
})");
  Diagnostics sink;
  std::vector<PassRecord> records;
  EXPECT_FALSE(RunPasses(&graph, {"annotate", "remove_dead"}, {}, &sink,
                         nullptr, nullptr, &records));
  EXPECT_EQ(sink.all().size(), 1u);
  EXPECT_TRUE(records.empty());
}

TEST(PassManager, RecordsWhatEachPassDid) {
  Graph graph = Product();
  Diagnostics sink;
  std::vector<MigrationSheet> sheets;
  std::vector<Refusal> refusals;
  std::vector<PassRecord> records;
  std::vector<std::string> seen;
  PassContext context;
  context.after = [&](const PassRecord& record, const Graph& after) {
    seen.push_back(record.name);
    EXPECT_EQ(record.nodes_after, static_cast<int>(after.node_count()));
  };
  ASSERT_TRUE(RunPasses(&graph, StandardPipeline(), context, &sink, &sheets,
                        &refusals, &records));
  EXPECT_EQ(graph.stage, Stage::fused);
  EXPECT_EQ(seen, StandardPipeline());
  ASSERT_EQ(records.size(), StandardPipeline().size());
  EXPECT_TRUE(refusals.empty());
  int rewrites = 0;
  for (const PassRecord& record : records) {
    rewrites += record.rewrites;
    if (record.name == "fold_qdq") {
      EXPECT_EQ(record.nodes_before, 5);
      EXPECT_EQ(record.nodes_after, 3);
      EXPECT_EQ(record.fake_quant_before, 4);
      EXPECT_EQ(record.fake_quant_after, 2);
      EXPECT_EQ(record.rewrites, 1);
      // The scale of the weights is in their type now.
      EXPECT_EQ(record.constant_bytes_before, 4 + 1 + 2 + 4);
      EXPECT_EQ(record.constant_bytes_after, 4 + 1 + 2);
    }
    EXPECT_GE(record.seconds, 0);
  }
  EXPECT_EQ(rewrites, static_cast<int>(sheets.size()));
  EXPECT_EQ(sheets.size(), 2u);
  EXPECT_EQ(graph.node_count(), 2u);
}

TEST(PassManager, RefusalsAreRecorded) {
  Graph graph = GraphOf(R"(fir 1 simplified
graph @g(%q: u8[1,2] q(s=0.5 z=128)) -> %y {
  %s = const f32[] [0.5]
  %z = const u8[] [128]
  %x = dequantize_linear(%q, %s, %z) : f32[1,2]
  %w = const f32[2,1] [1,2]
  %y = matmul(%x, %w) : f32[1,1] name "product"
})");
  Diagnostics sink;
  std::vector<Refusal> refusals;
  std::vector<PassRecord> records;
  ASSERT_TRUE(
      RunPasses(&graph, {"fold_qdq"}, {}, &sink, nullptr, &refusals, &records));
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0].rule, "fold_qdq");
  EXPECT_EQ(refusals[0].node, "product");
  EXPECT_EQ(refusals[0].reason, "the weights carry no quantization");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].kept.size(), 1u);
}

// A pass that runs at a stage that it cannot keep is caught, and named.
// A pass that runs late and gives others work again takes the stage back.
TEST(PassManager, ALatePassTakesTheStageBack) {
  Graph graph = GraphOf(R"(fir 1 fused
graph @g(%x: f32[1,2]) -> %y {
  %s = const f32[] [0.5]
  %z = const u8[] [128]
  %q = quantize_linear(%x, %s, %z) : u8[1,2] q(s=0.5 z=128)
  %d = dequantize_linear(%q, %s, %z) : f32[1,2]
  %w = const i8[2,1] q(s=0.25 z=0) [1,2]
  %t = const f32[] [0.25]
  %v = dequantize_linear(%w, %t) : f32[2,1]
  %p = matmul(%d, %v) : f32[1,1]
  %y = quantize_linear(%p, %s, %z) : u8[1,1] q(s=0.5 z=128) name "out"
})");
  Diagnostics sink;
  EXPECT_TRUE(RunOn(&graph, {"fold_qdq"}, &sink));
  EXPECT_EQ(graph.stage, Stage::folded);
  EXPECT_TRUE(RunOn(&graph, {"fuse_requantize"}, &sink));
  EXPECT_EQ(graph.stage, Stage::fused);
}

// A stage that does not hold behind a pass that did not change it.
TEST(PassManager, BrokenPromiseOfAStage) {
  Graph graph = GraphOf(R"(fir 1 fused
graph @g(%x: f32[1,2]) -> %y {
  %y = relu(%x) : f32[1,2]
  %lost = relu(%x) : f32[1,2] name "lost"
})");
  const Graph before = graph;
  Diagnostics sink;
  EXPECT_FALSE(RunOn(&graph, {"fuse_pad"}, &sink));
  ASSERT_EQ(sink.all().size(), 1u);
  EXPECT_EQ(sink.all()[0].code, DiagnosticCode::stage_violated);
  EXPECT_EQ(sink.all()[0].node, "fuse_pad");
  EXPECT_NE(sink.all()[0].message.find("'lost'"), std::string::npos);
  EXPECT_EQ(sink.exit_code(), 5);
  Graph unchecked = before;
  Diagnostics quiet;
  EXPECT_TRUE(RunOn(&unchecked, {"fuse_pad"}, &quiet, VerifyMode::kOff));
}

// What is broken before a pass is found behind it.
TEST(PassManager, BrokenGraph) {
  Graph graph = GraphOf(R"(fir 1 fused
graph @g(%x: f32[2]) -> %y {
  %y = relu(%x) : f32[2] name "relu"
})");
  graph.mutable_value(graph.FindValue("y")).type.shape = {3};
  for (VerifyMode verify : {VerifyMode::kEnd, VerifyMode::kEach}) {
    Diagnostics sink;
    EXPECT_FALSE(RunOn(&graph, {"remove_dead"}, &sink, verify));
    ASSERT_EQ(sink.all().size(), 1u);
    EXPECT_EQ(sink.all()[0].code, DiagnosticCode::graph_broken);
    EXPECT_NE(sink.all()[0].message.find("'relu'"), std::string::npos);
  }
  Diagnostics sink;
  EXPECT_TRUE(RunOn(&graph, {"remove_dead"}, &sink, VerifyMode::kOff));
}

TEST(PassManager, ConstantBytesCountWhatIsRead) {
  Graph graph = GraphOf(R"(fir 1 annotated
graph @g(%x: f32[2]) -> (%y, %c) {
  %c = const f32[2] [1,2]
  %y = mul(%x, %c) : f32[2]
})");
  graph.AddConstant("unread", MakeRealTensor(ElementType::f64, {9},
                                             std::vector<double>(9, 1)));
  EXPECT_EQ(ConstantBytes(graph), 8);
}

}  // namespace
}  // namespace fold
