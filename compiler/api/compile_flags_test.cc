#include "compiler/api/compile_flags.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace v1 = foldd::v1;

std::string Parse(std::vector<std::string> line, CompileFlags* flags) {
  return ParseCompileLine(line, flags);
}

TEST(CompileFlags, ReadsEveryFlag) {
  CompileFlags flags;
  ASSERT_EQ(Parse({"m.onnx",
                   "--target",
                   "x86-64",
                   "-o",
                   "m.fold",
                   "--encodings",
                   "e.json",
                   "--report=r.json",
                   "--shape",
                   "in:0=1,3,8,8",
                   "--shape=a=b=4",
                   "--io=quantized",
                   "--require",
                   "integer-only",
                   "--require=exact",
                   "--taps",
                   "--sheets",
                   "--dump-after=fold",
                   "--verify=each",
                   "--passes=a,b",
                   "--progress-fd",
                   "3",
                   "--job-traceparent=00-ab-cd-01"},
                  &flags),
            "");
  EXPECT_EQ(flags.model_path, "m.onnx");
  EXPECT_EQ(flags.target_name, "x86-64");
  EXPECT_EQ(flags.output_path, "m.fold");
  EXPECT_EQ(flags.encodings_path, "e.json");
  EXPECT_EQ(flags.report_path, "r.json");
  EXPECT_EQ(flags.progress_fd, 3);
  EXPECT_EQ(flags.traceparent, "00-ab-cd-01");
  const v1::CompileOptions& options = flags.options;
  ASSERT_EQ(options.shapes_size(), 2);
  EXPECT_EQ(options.shapes(0).name(), "in:0");
  EXPECT_THAT(options.shapes(0).dimensions(), ElementsAre(1, 3, 8, 8));
  EXPECT_EQ(options.shapes(1).name(), "a=b");
  EXPECT_EQ(options.io(), v1::IO_QUANTIZED);
  EXPECT_THAT(options.require(),
              ElementsAre(v1::INTEGER_ONLY, v1::EXACT_RESULT));
  EXPECT_TRUE(options.taps());
  EXPECT_TRUE(options.sheets());
  EXPECT_THAT(options.dump_after(), ElementsAre("fold"));
  EXPECT_EQ(options.verify(), v1::VERIFY_EACH);
  EXPECT_THAT(options.passes(), ElementsAre("a", "b"));
}

TEST(CompileFlags, SaysWhatIsWrong) {
  const std::pair<std::vector<std::string>, const char*> lines[] = {
      {{}, "no model"},
      {{"a", "b", "--target=t", "-o", "f"}, "'b'"},
      {{"a", "-o", "f"}, "--target"},
      {{"a", "--target=t", "--target-file=f", "-o", "f"}, "one of"},
      {{"a", "--target=t"}, "-o FILE"},
      {{"a", "--shape", "x"}, "NAME=1,3,8,8"},
      {{"a", "--shape", "x=1,,2"}, "dimension"},
      {{"a", "--shape", "x=1,"}, "dimension"},
      {{"a", "--shape", "x=-1"}, "dimension"},
      {{"a", "--shape", "x=99999999999999999999"}, "dimension"},
      {{"a", "--shape", "x=1", "--shape", "x=2"}, "twice"},
      {{"a", "--io", "int"}, "float, quantized"},
      {{"a", "--require", "speed"}, "integer-only"},
      {{"a", "--verify", "x"}, "off, end, each"},
      {{"a", "--passes", ","}, "empty"},
      {{"a", "--traget", "x"}, "did you mean '--target'"},
  };
  for (const auto& [line, word] : lines) {
    CompileFlags flags;
    EXPECT_THAT(Parse(line, &flags), HasSubstr(word));
  }
}

TEST(CompileFlags, AScalarHasNoDimensions) {
  CompileFlags flags;
  ASSERT_EQ(Parse({"a", "--target=t", "-o", "f", "--shape", "x="}, &flags), "");
  EXPECT_TRUE(flags.options.shapes(0).dimensions().empty());
}

TEST(CompileFlags, WordsComeBack) {
  EXPECT_EQ(RequirementWord(v1::EXACT_RESULT), "exact");
  EXPECT_EQ(BoundaryIoWord(v1::IO_FLOAT), "float");
  EXPECT_EQ(VerifyModeWord(v1::VERIFY_OFF), "off");
  EXPECT_EQ(VerifyModeWord(v1::VERIFY_MODE_UNSPECIFIED), "");
}

}  // namespace
}  // namespace fold
