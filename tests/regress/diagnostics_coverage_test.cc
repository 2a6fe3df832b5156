// Every diagnostic that users can meet is raised by a test: a C++ test that
// names its code, a golden block that expects it, or a script that looks for
// it. A row of diagnostic_kinds.def that no test can raise stands below with
// its reason; the list may only shrink.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "compiler/base/diagnostic.h"

namespace fold {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::string> kExempt = {
    {"unknown_target", "an error of the flags so far, not a diagnostic"},
    {"rewrite_refused", "refusals stand in the report's kept[] so far"},
    {"internal", "only an artifact that its own reader refuses raises it"},
};
constexpr size_t kMostExempt = 4;

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The part of a file that raises diagnostics: of a golden file its
// expectations, of other files everything.
std::string Evidence(const fs::path& path) {
  std::string text = ReadAll(path);
  if (path.extension() != ".fir") return text;
  std::string lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("# ERROR:", 0) == 0) lines += line + "\n";
  }
  return lines;
}

bool IsTest(const fs::path& path) {
  const std::string name = path.filename().string();
  const bool in_tests = path.string().rfind("tests/", 0) == 0;
  if (name == "diagnostics_coverage_test.cc") return false;
  // These make diagnostics by hand to look at what becomes of them.
  for (const char* room : {"compiler/base/", "compiler/api/"}) {
    if (path.string().rfind(room, 0) == 0) return false;
  }
  if (path.extension() == ".fir") return true;
  if (path.extension() == ".py" || path.extension() == ".sh") return in_tests;
  return path.extension() == ".cc" &&
         name.find("_test.cc") != std::string::npos;
}

std::string AllEvidence() {
  std::string evidence;
  for (const char* root : {"compiler", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (IsTest(entry.path())) evidence += Evidence(entry.path());
    }
  }
  return evidence;
}

bool IsRaised(const std::string& evidence, const std::string& code) {
  for (const std::string& form :
       {"DiagnosticCode::" + code + ",", "DiagnosticCode::" + code + ")",
        "DiagnosticCode::" + code + ";", "DiagnosticCode::" + code + " ",
        "[" + code + "]", "\"" + code + "\""}) {
    if (evidence.find(form) != std::string::npos) return true;
  }
  return false;
}

TEST(DiagnosticsCoverage, EveryDiagnosticIsRaisedByATest) {
  // BadTargetNamesTheField raises the one of foldc.
  const std::string evidence = AllEvidence() + "[bad_target]";
  for (const DiagnosticKind& kind : DiagnosticKinds()) {
    const bool exempt = kExempt.count(kind.name) > 0;
    EXPECT_NE(IsRaised(evidence, kind.name), exempt)
        << kind.name
        << (exempt ? " is raised now: take it off the list"
                   : " is raised by no test");
  }
}

// foldc's own: a descriptor at fault, field by field.
TEST(DiagnosticsCoverage, BadTargetNamesTheField) {
  const char* bin = std::getenv("FOLD_BIN");
  ASSERT_NE(bin, nullptr);
  const fs::path folder = testing::TempDir();
  const fs::path target = folder / "fold_bad_target.textproto";
  std::ofstream(target) << "name: \"bad target\"\n";
  const std::string command = std::string(bin) +
                              "/foldc tests/models/sample/sample.onnx -o " +
                              (folder / "fold_bad_target.fold").string() +
                              " --target-file " + target.string() + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string text;
  char part[256];
  while (std::fgets(part, sizeof(part), pipe)) text += part;
  const int status = pclose(pipe);
  EXPECT_EQ(WEXITSTATUS(status), 3) << text;
  EXPECT_NE(text.find("error[bad_target]: 'name'"), std::string::npos) << text;
  EXPECT_NE(text.find("error[bad_target]: 'ops'"), std::string::npos) << text;
}

TEST(DiagnosticsCoverage, ExemptionsAreOfDiagnostics) {
  for (const auto& [code, reason] : kExempt) {
    bool known = false;
    for (const DiagnosticKind& kind : DiagnosticKinds()) {
      known |= code == kind.name;
    }
    EXPECT_TRUE(known) << code;
    EXPECT_FALSE(reason.empty());
  }
  EXPECT_LE(kExempt.size(), kMostExempt) << "the list may only shrink";
}

TEST(DiagnosticsCoverage, WhatIsNoEvidence) {
  EXPECT_FALSE(IsRaised("// bad_scale is described here", "bad_scale"));
  EXPECT_FALSE(IsRaised("DiagnosticCode::bad_scale_of_a_kind,", "bad_scale"));
  EXPECT_TRUE(IsRaised("DiagnosticCode::bad_scale, \"q\"", "bad_scale"));
  EXPECT_TRUE(IsRaised("# ERROR: error[bad_scale]: 'q'", "bad_scale"));
}

}  // namespace
}  // namespace fold
