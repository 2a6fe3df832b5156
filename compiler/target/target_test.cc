#include "compiler/target/target.h"

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::IsEmpty;

TargetDescriptor Good() {
  TargetDescriptor target;
  target.name = "board-1";
  target.architecture = "x86-64";
  target.memories = {{"sram", 4096, 16, {MemoryUse::kArena}},
                     {"flash", 65536, 4, {MemoryUse::kConstants}}};
  target.element_types = {"i8", "i32"};
  target.ops = {{.kind = "conv",
                 .input_types = {"i8"},
                 .max_kernel = 7,
                 .constant_operands = {1}},
                {.kind = "max_pool"}};
  target.layout = TargetLayout::kChannelsLast;
  target.reduction_multiple = 4;
  target.requant = {RequantArithmetic::kExact, {RequantForm::kMul64}, 32};
  target.default_io = BoundaryIo::kFloat;
  target.output_format = OutputFormat::kFold;
  target.budgets.ram_bytes = 4096;
  return target;
}

TEST(CheckTarget, AcceptsAGoodDescriptor) {
  EXPECT_THAT(CheckTarget(Good()), IsEmpty());
}

// Each row breaks one thing and names the field that must be reported.
struct Break {
  const char* field;
  std::function<void(TargetDescriptor&)> edit;
};

TEST(CheckTarget, ReportsEachFaultUnderItsField) {
  const Break breaks[] = {
      {"name", [](auto& t) { t.name = ""; }},
      {"name", [](auto& t) { t.name = "Board"; }},
      {"name", [](auto& t) { t.name = "../x"; }},
      {"architecture", [](auto& t) { t.architecture = ""; }},
      {"isa_features[1]",
       [](auto& t) {
         t.isa_features = {"a", "a"};
       }},
      {"compatible[0]", [](auto& t) { t.compatible = {""}; }},
      {"memories", [](auto& t) { t.memories.clear(); }},
      {"memories", [](auto& t) { t.memories.pop_back(); }},
      {"memories[0].name", [](auto& t) { t.memories[0].name = ""; }},
      {"memories[1].name", [](auto& t) { t.memories[1].name = "sram"; }},
      {"memories[1].size_bytes", [](auto& t) { t.memories[1].size_bytes = 0; }},
      {"memories[0].alignment_bytes",
       [](auto& t) { t.memories[0].alignment_bytes = 12; }},
      {"memories[0].alignment_bytes",
       [](auto& t) { t.memories[0].alignment_bytes = 0; }},
      {"memories[0].uses[1]",
       [](auto& t) {
         t.memories[0].uses = {MemoryUse::kArena, MemoryUse::kArena};
       }},
      {"element_types",
       [](auto& t) {
         t.element_types.clear();
         t.ops[0].input_types.clear();
       }},
      {"element_types[2]", [](auto& t) { t.element_types.push_back("int8"); }},
      {"ops", [](auto& t) { t.ops.clear(); }},
      {"ops[0].kind", [](auto& t) { t.ops[0].kind = "convolve"; }},
      {"ops[1].kind", [](auto& t) { t.ops[1].kind = "conv"; }},
      {"ops[0].input_types[0]",
       [](auto& t) { t.ops[0].input_types = {"u16"}; }},
      {"ops[0].max_kernel", [](auto& t) { t.ops[0].max_kernel = 0; }},
      {"ops[0].max_stride", [](auto& t) { t.ops[0].max_stride = -1; }},
      {"ops[0].max_dilation", [](auto& t) { t.ops[0].max_dilation = 0; }},
      {"ops[0].constant_operands[0]",
       [](auto& t) { t.ops[0].constant_operands = {99}; }},
      {"layout", [](auto& t) { t.layout = TargetLayout::kUnspecified; }},
      {"reduction_multiple", [](auto& t) { t.reduction_multiple = 0; }},
      {"requantization.arithmetic",
       [](auto& t) { t.requant.arithmetic = RequantArithmetic::kUnspecified; }},
      {"requantization.forms", [](auto& t) { t.requant.forms.clear(); }},
      {"requantization.forms[0]",
       [](auto& t) { t.requant.forms = {static_cast<RequantForm>(77)}; }},
      {"requantization.accumulator_bits",
       [](auto& t) { t.requant.accumulator_bits = 24; }},
      {"float_islands", [](auto& t) { t.float_islands = true; }},
      {"ops[1].kind", [](auto& t) { t.ops[1].kind = "f64_conv"; }},
      {"default_io", [](auto& t) { t.default_io = BoundaryIo::kUnspecified; }},
      {"delegates[0].payload_format",
       [](auto& t) {
         t.delegates = {{"gpu", "", {{.kind = "conv"}}}};
       }},
      {"delegates[0].ops",
       [](auto& t) {
         t.delegates = {{"gpu", "onnx", {}}};
       }},
      {"output_format",
       [](auto& t) { t.output_format = OutputFormat::kUnspecified; }},
      {"external_tools[0].version",
       [](auto& t) {
         t.external_tools = {{"vela", ""}};
       }},
      {"budgets.ram_bytes", [](auto& t) { t.budgets.ram_bytes = 4097; }},
      {"budgets.ram_bytes", [](auto& t) { t.budgets.ram_bytes = 0; }},
      {"budgets.flash_bytes", [](auto& t) { t.budgets.flash_bytes = 1 << 20; }},
  };
  for (const Break& one : breaks) {
    TargetDescriptor target = Good();
    one.edit(target);
    std::vector<TargetProblem> problems = CheckTarget(target);
    ASSERT_EQ(problems.size(), 1u) << one.field;
    EXPECT_EQ(problems[0].field, one.field);
    EXPECT_FALSE(problems[0].message.empty());
  }
}

TEST(CheckTarget, ReportsAllFaultsAtOnce) {
  std::vector<TargetProblem> problems = CheckTarget(TargetDescriptor{});
  std::vector<std::string> fields;
  fields.reserve(problems.size());
  for (const TargetProblem& problem : problems) fields.push_back(problem.field);
  EXPECT_THAT(fields,
              testing::ElementsAre(
                  "name", "architecture", "memories", "element_types", "ops",
                  "layout", "reduction_multiple", "requantization.arithmetic",
                  "requantization.forms", "requantization.accumulator_bits",
                  "default_io", "output_format"));
}

TEST(CheckTarget, HugeMemoriesDoNotOverflow) {
  TargetDescriptor target = Good();
  target.memories[0].size_bytes = INT64_MAX;
  target.memories.push_back({"more", INT64_MAX, 16, {MemoryUse::kArena}});
  target.budgets.ram_bytes = INT64_MAX;
  EXPECT_THAT(CheckTarget(target), IsEmpty());
}

TEST(FindTargetOp, FindsTheRow) {
  TargetDescriptor target = Good();
  ASSERT_NE(FindTargetOp(target, "conv"), nullptr);
  EXPECT_EQ(FindTargetOp(target, "conv")->max_kernel, 7);
  EXPECT_EQ(FindTargetOp(target, "concat"), nullptr);
  EXPECT_TRUE(HasRequantForm(target, RequantForm::kMul64));
  EXPECT_FALSE(HasRequantForm(target, RequantForm::kMul128));
}

TEST(TargetOpKinds, AreTheKernelOpcodesInLowerCase) {
  EXPECT_THAT(TargetOpKinds(), testing::Contains("depthwise_conv"));
  EXPECT_THAT(TargetOpKinds(), testing::Not(testing::Contains("CONV")));
}

}  // namespace
}  // namespace fold
