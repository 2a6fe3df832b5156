// foldopt as its users see it: the program, its output and its exit codes.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

struct Result {
  int code;
  std::string out;
};

// Runs foldopt with `flags`; standard error goes with standard output.
Result Foldopt(const std::string& flags, const std::string& input) {
  const std::string file = testing::TempDir() + "foldopt_test.fir";
  std::ofstream(file) << input;
  const char* bin = std::getenv("FOLD_BIN");
  const std::string command = std::string(bin ? bin : ".") + "/foldopt " +
                              flags + " < " + file + " 2>&1";
  Result result{-1, ""};
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  while (const size_t n = fread(buffer, 1, sizeof buffer, pipe)) {
    result.out.append(buffer, n);
  }
  const int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

const char* kGraph =
    "fir 1 annotated\n"
    "graph @g(%x: f32[2]) -> (%y) {\n"
    "  %t = identity(%x) : f32[2] name \"i\" loc(\"i\")\n"
    "  %y = relu(%t) : f32[2] name \"r\" loc(\"r\")\n"
    "}\n";

TEST(Foldopt, PrintsWhatItReads) {
  const Result result = Foldopt("", kGraph);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, kGraph);
}

TEST(Foldopt, RunsPassesAndShowsSheets) {
  const Result result =
      Foldopt("--passes=remove_identities --sheets --verify=each -", kGraph);
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_EQ(result.out.find("identity("), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\n# migrate %t -> %x result by remove_identities"),
            std::string::npos)
      << result.out;
}

TEST(Foldopt, WritesAFile) {
  const std::string file = testing::TempDir() + "foldopt_test_out.fir";
  EXPECT_EQ(Foldopt("-o " + file, kGraph).code, 0);
  std::ifstream written(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(written), {}), kGraph);
}

TEST(Foldopt, FaultsOfTheGraphAreItsOwn) {
  const Result result = Foldopt("", "fir 1 annotated\ngraph @g(");
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.out, "-:2:10: expected '%'\ngraph @g(\n         ^\n");
}

TEST(Foldopt, UsageFaults) {
  EXPECT_EQ(Foldopt("--passes=nonsense", kGraph).code, 2);
  EXPECT_EQ(Foldopt("--nonsense", kGraph).code, 2);
  EXPECT_EQ(Foldopt("a b", kGraph).code, 2);
  EXPECT_EQ(Foldopt("no/such/file", kGraph).code, 2);
}

TEST(Foldopt, HelpListsTheTables) {
  const Result result = Foldopt("--help", "");
  EXPECT_EQ(result.code, 0);
  for (const char* word : {"fold_qdq", "remove_dead", "batch_normalization",
                           "com.microsoft.QGemm", "--sheets"}) {
    EXPECT_NE(result.out.find(word), std::string::npos) << word;
  }
}

}  // namespace
