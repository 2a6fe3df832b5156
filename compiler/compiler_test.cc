// The whole compiler: exit codes, requirements, budgets, the report, and bytes
// that do not change.
#include "compiler/compiler.h"

#include <algorithm>

#include "compiler/import/test_model.h"
#include "compiler/lower/test_lowering.h"
#include "compiler/passes/pipeline.h"

namespace fold {
namespace {

// A quantized product.
constexpr char kProduct[] = R"(g (float[2,4] x) => (float[2,3] y)
<float s = {0.5}, uint8 z = {128}, float sw = {0.25}, int8 zw = {0},
 int8[4,3] w = {1,2,3,4,5,6,7,8,9,10,11,12}> {
  [q] c = QuantizeLinear(x, s, z)
  [dq] d = DequantizeLinear(c, s, z)
  [dw] v = DequantizeLinear(w, sw, zw)
  [product] p = MatMul(d, v)
  [out] o = QuantizeLinear(p, s, z)
  [real] y = DequantizeLinear(o, s, z)
})";
constexpr char kSoftmax[] = R"(g (float[2,4] x) => (float[2,4] y) {
  [softmax] y = Softmax <axis = -1> (x)
})";

CompileResult CompileText(const std::string& graph,
                          const CompileOptions& options = {},
                          const TargetDescriptor& target = AnyTarget()) {
  const std::string bytes = importer::ParseGraph(graph).SerializeAsString();
  return Compile({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                 target, options);
}

// Failed, with this code and node in front, and nothing half done.
void ExpectError(const CompileResult& result, DiagnosticCode code,
                 const std::string& node) {
  EXPECT_TRUE(result.artifact.empty());
  EXPECT_EQ(result.exit_code, KindOf(code).exit_code);
  for (const Diagnostic& d : result.report.diagnostics) {
    if (d.severity() != Severity::kError) continue;
    EXPECT_STREQ(KindOf(d.code).name, KindOf(code).name) << d.message;
    EXPECT_EQ(d.node, node);
    return;
  }
  ADD_FAILURE() << "no error";
}

TEST(Compiler, Report) {
  const CompileResult result = CompileText(kProduct);
  ASSERT_EQ(result.exit_code, 0);
  const ArtifactSummary& artifact = result.report.artifact;
  EXPECT_EQ(artifact.size_bytes, static_cast<int64_t>(result.artifact.size()));
  EXPECT_TRUE(artifact.integer_only);
  EXPECT_EQ(artifact.exactness, Exactness::kProved);
  EXPECT_GE(artifact.arena_bytes, artifact.peak_lower_bound);
  EXPECT_GT(artifact.arena_bytes_before_folding, 0);
  EXPECT_GT(artifact.constant_bytes, 12);
  ASSERT_EQ(result.report.ops.size(), 1u);
  EXPECT_EQ(result.report.ops[0].kind, "fully_connected");
  EXPECT_EQ(result.report.ops[0].name, "product");
  EXPECT_EQ(result.report.ops[0].sources,
            (std::vector<std::string>{"dq", "dw", "out", "product"}));
  // The passes, between the steps that are none.
  std::vector<std::string> passes;
  EXPECT_GT(result.report.start_unix_microseconds, 1'700'000'000'000'000);
  double ended = 0;
  for (const PassSummary& pass : result.report.passes) {
    EXPECT_GE(pass.start_seconds, ended) << pass.name;
    ended = pass.start_seconds + pass.seconds;
    EXPECT_LE(ended, result.report.seconds) << pass.name;
  }
  for (const PassSummary& pass : result.report.passes) {
    passes.push_back(pass.name);
  }
  std::vector<std::string> expected = StandardPipeline();
  expected.insert(expected.begin(), "import");
  expected.insert(expected.end(), {"lower", "plan", "emit"});
  EXPECT_EQ(passes, expected);
  EXPECT_EQ(result.report.passes[1].fake_quant_before, 5);
}

TEST(Compiler, SameInputsSameBytes) {
  CompileOptions options;
  options.compiler_id = "id";
  const auto once = CompileText(kProduct, options).artifact;
  EXPECT_EQ(CompileText(kProduct, options).artifact, once);
  options.verify = CompileOptions::Verify::kEach;
  EXPECT_EQ(CompileText(kProduct, options).artifact, once);
  options.compiler_id = "another";
  EXPECT_NE(CompileText(kProduct, options).artifact, once);
}

TEST(Compiler, TapsRecordNamesAlone) {
  const CompileResult plain = CompileText(kProduct);
  CompileOptions options;
  options.taps = true;
  const CompileResult taps = CompileText(kProduct, options);
  EXPECT_GT(taps.artifact.size(), plain.artifact.size());
  EXPECT_EQ(taps.report.ops.size(), plain.report.ops.size());
  EXPECT_EQ(taps.report.artifact.constant_bytes,
            plain.report.artifact.constant_bytes);
}

// Every rewrite that a pass counts has its sheet, and sheets say nothing to
// the artifact.
TEST(Compiler, SheetsWhereAskedFor) {
  const CompileResult plain = CompileText(kProduct);
  CompileOptions options;
  options.sheets = true;
  const CompileResult sheets = CompileText(kProduct, options);
  EXPECT_EQ(sheets.artifact, plain.artifact);
  EXPECT_TRUE(plain.report.imported.nodes.empty());
  EXPECT_EQ(sheets.report.imported.nodes.size(), 6u);
  EXPECT_LT(sheets.report.lowered.nodes.size(), 6u);
  int64_t rewrites = 0;
  for (const PassSummary& pass : sheets.report.passes) {
    EXPECT_EQ(static_cast<int64_t>(pass.sheets.size()), pass.rewrites)
        << pass.name;
    rewrites += pass.rewrites;
    for (const SheetSummary& sheet : pass.sheets) {
      EXPECT_FALSE(sheet.removed.empty());
      EXPECT_FALSE(sheet.items.empty());
    }
  }
  EXPECT_GT(rewrites, 1);
  for (const PassSummary& pass : plain.report.passes) {
    EXPECT_TRUE(pass.sheets.empty());
  }
}

// Why an order cannot work: the pass, the stage that it needs, the stage
// reached, the node and what is amiss with it.
TEST(Compiler, ARefusedOrderSaysWhy) {
  CompileOptions options;
  options.passes = {"annotate", "fold_qdq", "fuse_activation"};
  const CompileResult result = CompileText(
      R"(g (float[2] x) => (float[2] y) {
  [same] i = Identity(x)
  [relu] y = Relu(i)
})",
      options);
  ExpectError(result, DiagnosticCode::pass_order, "fold_qdq");
  EXPECT_EQ(result.report.diagnostics.back().message,
            "requires stage simplified, graph is annotated; node 'same': it "
            "gives what it gets");
}

TEST(Compiler, GarbageIsTheModelsFault) {
  const std::vector<uint8_t> garbage = {0xff, 0x00, 0x13, 0x37};
  const CompileResult result = Compile(garbage, AnyTarget(), {});
  ExpectError(result, DiagnosticCode::model_unreadable,
              result.report.diagnostics.at(0).node);
  EXPECT_NE(Compile({}, AnyTarget(), {}).exit_code, 0);
}

TEST(Compiler, FaultsOfAPassNameTheNode) {
  ExpectError(CompileText("g (float[2] x) => (uint8[2] y) <float s = {0}> {"
                          " [q] y = QuantizeLinear(x, s) }"),
              DiagnosticCode::bad_scale, "q");
}

TEST(Compiler, RequireIntegerOnly) {
  CompileOptions options;
  options.require_integer_only = true;
  EXPECT_EQ(CompileText(kProduct, options).exit_code, 0);
  ExpectError(CompileText(kSoftmax, options), DiagnosticCode::not_integer_only,
              "softmax");
  EXPECT_EQ(CompileText(kSoftmax).exit_code, 0);
}

TEST(Compiler, RequireExact) {
  CompileOptions options;
  options.require_exact = true;
  EXPECT_EQ(CompileText(kProduct, options).exit_code, 0);
  ExpectError(CompileText(kSoftmax, options), DiagnosticCode::not_exact,
              "softmax");
}

TEST(Compiler, Budgets) {
  TargetDescriptor target = AnyTarget();
  target.budgets.ram_bytes = 1 << 20;
  target.budgets.flash_bytes = 1 << 20;
  EXPECT_EQ(CompileText(kProduct, {}, target).exit_code, 0);
  target.budgets.flash_bytes = 100;
  ExpectError(CompileText(kProduct, {}, target), DiagnosticCode::over_budget,
              "");
  target = AnyTarget();
  target.memories = {{"flash", 1 << 20, 64, {MemoryUse::kConstants}},
                     {"ram", 8, 64, {MemoryUse::kArena}}};
  ExpectError(CompileText(kProduct, {}, target), DiagnosticCode::over_budget,
              "ram");
  target.memories[1].size_bytes = 1 << 20;
  const CompileResult result = CompileText(kProduct, {}, target);
  ASSERT_EQ(result.report.memory.size(), 2u);
  EXPECT_EQ(result.report.memory[0].constant_bytes,
            result.report.artifact.constant_bytes);
  EXPECT_EQ(result.report.memory[1].arena_bytes,
            result.report.artifact.arena_bytes);
}

TEST(Compiler, PassesOfOnesOwn) {
  CompileOptions options;
  options.passes = {"annotate", "nonsense"};
  ExpectError(CompileText(kProduct, options), DiagnosticCode::unknown_pass,
              "nonsense");
  options.passes = {"fold_qdq"};
  ExpectError(CompileText(kProduct, options), DiagnosticCode::pass_order,
              "fold_qdq");
  // An order that ends too early.
  options.passes = {"annotate", "fold_constants"};
  ExpectError(CompileText(kProduct, options), DiagnosticCode::pass_order,
              "lower");
  options.passes = StandardPipeline();
  EXPECT_EQ(CompileText(kProduct, options).artifact,
            CompileText(kProduct).artifact);
}

TEST(Compiler, ProgressCountsEveryStep) {
  CompileOptions options;
  std::vector<std::string> names;
  int total = 0;
  options.progress = [&](std::string_view name, int index, int count) {
    EXPECT_EQ(index, static_cast<int>(names.size()));
    names.emplace_back(name);
    total = count;
  };
  ASSERT_EQ(CompileText(kProduct, options).exit_code, 0);
  EXPECT_EQ(total, static_cast<int>(names.size()));
  EXPECT_EQ(names.front(), "import");
  EXPECT_EQ(names[1], "annotate");
  EXPECT_EQ(names.back(), "emit");
}

TEST(Compiler, DumpsAfterTheNamedPasses) {
  CompileOptions options;
  options.dump_after = {"import", "fold_qdq"};
  std::vector<std::string> passes, texts;
  options.dump = [&](std::string_view pass, const std::string& text) {
    passes.emplace_back(pass);
    texts.push_back(text);
  };
  ASSERT_EQ(CompileText(kProduct, options).exit_code, 0);
  EXPECT_EQ(passes, options.dump_after);
  EXPECT_EQ(texts[0].rfind("fir 1 imported\n", 0), 0u);
  EXPECT_EQ(texts[1].rfind("fir 1 folded\n", 0), 0u);
  EXPECT_NE(texts[1].find("matmul(%c, %w)"), std::string::npos) << texts[1];
}

TEST(Compiler, BoundaryFromTheTargetOrTheCaller) {
  TargetDescriptor target = AnyTarget();
  target.default_io = BoundaryIo::kQuantized;
  const auto quantized = CompileText(kProduct, {}, target).artifact;
  CompileOptions options;
  options.io = BoundaryIo::kFloat;
  const auto converted = CompileText(kProduct, options, target).artifact;
  EXPECT_NE(quantized, converted);
  options.io = BoundaryIo::kQuantized;
  EXPECT_EQ(CompileText(kProduct, options).artifact, quantized);
}

}  // namespace
}  // namespace fold
