// Runs every .fir under compiler/ and tests/, a test for each block. With
// --update, rewrites what does not hold (for hands, never for CI).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/pass_manager.h"
#include "tests/golden/golden_file.h"

namespace fold::golden {
namespace {

namespace fs = std::filesystem;

// A target with the ops of the block's TARGET line.
TargetDescriptor TargetOf(const std::vector<std::string>& rows) {
  TargetDescriptor target;
  target.name = "golden";
  for (const std::string& row : rows) {
    TargetOp op;
    const size_t mark = row.find('!');
    op.kind = row.substr(0, mark);
    if (mark != std::string::npos) {
      op.constant_operands = {std::stoi(row.substr(mark + 1))};
    }
    target.ops.push_back(op);
  }
  return target;
}

Outcome RunBlock(const Block& block) {
  Outcome outcome;
  Graph graph;
  ParseError error;
  if (!Parse(block.graph, Ops(), &graph, &error)) {
    outcome.errors = {error.message};
    outcome.place = std::to_string(error.line) + ":" +
                    std::to_string(error.column) + "\n" + error.caret + "\n";
    return outcome;
  }
  Diagnostics diagnostics;
  std::vector<MigrationSheet> sheets;
  std::vector<Refusal> refusals;
  PassContext context;
  context.verify = VerifyMode::kEach;
  const TargetDescriptor target = TargetOf(block.target);
  if (!block.target.empty()) context.target = &target;
  if (!RunPasses(&graph, block.passes, context, &diagnostics, &sheets,
                 &refusals) &&
      !diagnostics.has_error()) {
    outcome.errors.push_back("the passes failed without a diagnostic");
  }
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity() != Severity::kError) continue;
    outcome.errors.push_back(FormatDiagnostic(diagnostic));
  }
  for (const Refusal& refusal : refusals) {
    outcome.refusals.push_back(refusal.rule + ": " + refusal.reason);
  }
  outcome.text = Print(graph, Ops()) + PrintSheets(graph, sheets);
  return outcome;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<fs::path> GoldenFiles() {
  std::vector<fs::path> files;
  for (const char* root : {"compiler", "tests"}) {
    if (!fs::is_directory(root)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.path().extension() == ".fir") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

class BlockTest : public testing::Test {
 public:
  BlockTest(fs::path path, Block block)
      : path_(std::move(path)), block_(std::move(block)) {}
  void TestBody() override {
    const Outcome outcome = RunBlock(block_);
    const std::string fault = Judge(block_, outcome);
    if (fault.empty()) return;
    std::string found = outcome.place + outcome.text;
    for (const auto& line : outcome.errors) found += "ERROR: " + line + "\n";
    for (const auto& line : outcome.refusals) {
      found += "REFUSED: " + line + "\n";
    }
    ADD_FAILURE_AT(path_.c_str(), block_.first_line) << fault << "\n" << found;
  }

 private:
  fs::path path_;
  Block block_;
};

class FileTest : public testing::Test {
 public:
  FileTest(fs::path path, std::string fault)
      : path_(std::move(path)), fault_(std::move(fault)) {}
  void TestBody() override { FAIL() << path_.string() << ": " << fault_; }

 private:
  fs::path path_;
  std::string fault_;
};

std::string SuiteName(const fs::path& path) {
  std::string name = path.parent_path() / path.stem();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

void Register(const fs::path& path) {
  std::vector<Block> blocks;
  const std::string fault = ReadBlocks(ReadFile(path), &blocks);
  const std::string suite = SuiteName(path);
  if (!fault.empty()) {
    testing::RegisterTest(
        suite.c_str(), "is_a_golden_file", nullptr, nullptr, path.c_str(), 1,
        [=]() -> testing::Test* { return new FileTest(path, fault); });
    return;
  }
  for (const Block& block : blocks) {
    testing::RegisterTest(
        suite.c_str(), block.name.c_str(), nullptr, nullptr, path.c_str(),
        block.first_line,
        [=]() -> testing::Test* { return new BlockTest(path, block); });
  }
}

int Update(const std::vector<fs::path>& files) {
  int faults = 0;
  for (const fs::path& path : files) {
    const std::string text = ReadFile(path);
    std::vector<Block> blocks;
    const std::string fault = ReadBlocks(text, &blocks);
    if (!fault.empty()) {
      std::cerr << path.string() << ": " << fault << "\n";
      ++faults;
      continue;
    }
    std::vector<Outcome> outcomes;
    outcomes.reserve(blocks.size());
    for (const Block& block : blocks) outcomes.push_back(RunBlock(block));
    const std::string updated = Updated(text, blocks, outcomes);
    if (updated != text) {
      std::ofstream(path, std::ios::binary) << updated;
      std::cout << "rewritten: " << path.string() << "\n";
    }
    // A block that is bad in name alone stays wrong: only its author can tell.
    ReadBlocks(updated, &blocks);
    for (size_t i = 0; i < blocks.size(); ++i) {
      const std::string still = Judge(blocks[i], outcomes[i]);
      if (still.empty()) continue;
      std::cerr << path.string() << ": " << blocks[i].name << ": " << still
                << "\n";
      ++faults;
    }
  }
  return faults ? 1 : 0;
}

}  // namespace
}  // namespace fold::golden

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const auto files = fold::golden::GoldenFiles();
  if (argc == 2 && std::strcmp(argv[1], "--update") == 0) {
    if (std::getenv("CI")) {
      std::cerr << "--update is for hands, not for CI\n";
      return 2;
    }
    return fold::golden::Update(files);
  }
  for (const auto& path : files) fold::golden::Register(path);
  return RUN_ALL_TESTS();
}
