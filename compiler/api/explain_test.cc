#include "compiler/api/explain.h"

#include "compiler/api/error_table.h"
#include "compiler/api/report_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace v1 = foldd::v1;

v1::SheetNode Node(const std::string& name, const std::string& kind,
                   std::vector<std::string> sources,
                   std::vector<std::string> operands, std::string result) {
  v1::SheetNode node;
  node.set_name(name);
  node.set_kind(kind);
  node.mutable_sources()->Assign(sources.begin(), sources.end());
  node.mutable_operands()->Assign(operands.begin(), operands.end());
  node.add_results(std::move(result));
  return node;
}

void AddItem(v1::Sheet* sheet, v1::SheetItem::Kind kind, std::string from,
             std::string to, std::string detail) {
  v1::SheetItem* item = sheet->add_items();
  item->set_kind(kind);
  item->set_from(std::move(from));
  item->set_to(std::move(to));
  item->set_detail(std::move(detail));
}

// conv, relu -> conv; a dead sigmoid; an input conversion q.
v1::CompileReport Report() {
  v1::CompileReport report;
  const auto q = Node("q", "quantize_linear", {"q"}, {"x", "s"}, "xq");
  const auto conv = Node("conv", "conv", {"conv"}, {"xq", "w"}, "c");
  const auto relu = Node("relu", "relu", {"relu"}, {"c"}, "y");
  const auto lost = Node("lost", "sigmoid", {"lost"}, {"c"}, "l");
  const auto fused =
      Node("conv", "conv", {"conv", "relu"}, {"xq", "w.1"}, "y.1");
  v1::GraphRecord* imported = report.mutable_imported();
  for (const auto& node : {q, conv, relu, lost}) *imported->add_nodes() = node;
  imported->add_inputs("x");
  imported->add_outputs("y");
  v1::GraphRecord* lowered = report.mutable_lowered();
  *lowered->add_nodes() = q;
  *lowered->add_nodes() = fused;
  lowered->add_inputs("x");
  lowered->add_outputs("y.1");
  v1::PassRecord* dead = report.add_passes();
  dead->set_name("remove_dead");
  v1::Sheet* sheet = dead->add_sheets();
  *sheet->add_removed() = lost;
  AddItem(sheet, v1::SheetItem::UNRECOVERABLE, "l", "", "name");
  v1::PassRecord* fuse = report.add_passes();
  fuse->set_name("fuse_activation");
  v1::Kept* kept = fuse->add_kept();
  kept->set_node("q");
  kept->set_reason("it is at the boundary");
  sheet = fuse->add_sheets();
  *sheet->add_removed() = conv;
  *sheet->add_removed() = relu;
  *sheet->add_added() = fused;
  AddItem(sheet, v1::SheetItem::RESULT, "y", "y.1", "");
  AddItem(sheet, v1::SheetItem::CONSTANT, "w", "w.1",
          "transformed permuted [1,0]");
  AddItem(sheet, v1::SheetItem::UNRECOVERABLE, "c", "", "name");
  v1::OpRecord* op = report.add_ops();
  op->set_name("conv_op");
  op->set_kind("conv");
  op->add_sources("conv");
  op->add_sources("relu");
  op->set_exactness(v1::PROVED);
  return report;
}

std::string Told(const std::string& name) {
  std::string text;
  EXPECT_EQ(Explain(Report(), name, &text), "") << name;
  return text;
}

TEST(Explain, ANodeGoesForwardToItsOp) {
  const std::string text = Told("relu");
  EXPECT_THAT(text, HasSubstr("node 'relu': relu(c) -> y\n"));
  EXPECT_THAT(text, HasSubstr("fuse_activation: conv 'conv', relu 'relu' -> "
                              "conv 'conv'\n"));
  EXPECT_THAT(text, HasSubstr("'y' is now -> 'y.1'\n"));
  EXPECT_THAT(text, HasSubstr("in the artifact: op 'conv_op', conv, PROVED, "
                              "from conv, relu\n"));
  EXPECT_THAT(text, Not(HasSubstr("remove_dead")));
}

TEST(Explain, ANodeThatIsGoneSaysWhy) {
  const std::string text = Told("lost");
  EXPECT_THAT(text, HasSubstr("remove_dead: sigmoid 'lost' removed\n"));
  EXPECT_THAT(text, HasSubstr("gone: no output depends on it\n"));
}

TEST(Explain, ANodeAtTheBoundary) {
  const std::string text = Told("q");
  EXPECT_THAT(text, HasSubstr("fuse_activation left it: it is at the "
                              "boundary\n"));
  EXPECT_THAT(text, HasSubstr("in the artifact's signature: quantize_linear "
                              "'q'\n"));
}

TEST(Explain, ATensorGoesForward) {
  const std::string constant = Told("w");
  EXPECT_THAT(constant, HasSubstr("tensor 'w': read by conv 'conv'\n"));
  EXPECT_THAT(constant,
              HasSubstr("'w', a constant: transformed permuted [1,0] -> "
                        "'w.1'\n"));
  EXPECT_THAT(constant, HasSubstr("in the end: 'w.1', read by conv 'conv'\n"));
  EXPECT_THAT(Told("y"), HasSubstr("in the end: 'y.1', an output, made by conv "
                                   "'conv'\n"));
  EXPECT_THAT(Told("c"), HasSubstr("'c': its name is lost\n"));
  EXPECT_THAT(Told("c"), HasSubstr("gone: nothing reads or makes it"));
  EXPECT_THAT(Told("x"), HasSubstr("in the end: 'x', an input"));
}

TEST(Explain, AnOpGoesBack) {
  const std::string text = Told("conv_op");
  EXPECT_THAT(text, HasSubstr("ONNX node 'conv': conv(xq, w) -> c\n"));
  EXPECT_THAT(text, HasSubstr("ONNX node 'relu': relu(c) -> y\n"));
  EXPECT_THAT(text, HasSubstr("fuse_activation: "));
  EXPECT_THAT(text, Not(HasSubstr("'q'")));
}

TEST(Explain, UnknownNamesHaveNearOnes) {
  std::string text;
  EXPECT_EQ(Explain(Report(), "conw", &text),
            "no node, tensor or op 'conw'; did you mean 'conv'?");
  EXPECT_EQ(Explain(Report(), "", &text),
            "no node, tensor or op ''; did you mean 'c'?");
  EXPECT_EQ(text, "");
}

TEST(Explain, AReportWithoutSheetsSaysHowToGetThem) {
  std::string text;
  EXPECT_THAT(Explain(v1::CompileReport(), "conv", &text),
              HasSubstr("compile with --sheets"));
}

TEST(Explain, TheCommandsExitCodes) {
  const std::string path = testing::TempDir() + "explained.json";
  ASSERT_EQ(WriteReportFile(path, Report()), "");
  const auto run = [](std::vector<std::string> arguments) {
    return ExplainMain(arguments, "test");
  };
  EXPECT_EQ(run({"conv", "--report", path}), kExitDone);
  EXPECT_EQ(run({"--report", path, "conv", "y"}), kExitDone);
  EXPECT_EQ(run({"nonsense", "--report", path}), kExitInput);
  EXPECT_EQ(run({"conv", "--report", path + ".none"}), kExitInput);
  EXPECT_EQ(run({"conv"}), kExitUsage);
  EXPECT_EQ(run({"--report", path}), kExitUsage);
}

}  // namespace
}  // namespace fold
