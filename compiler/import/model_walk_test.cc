// Imports every model of the shared test collection, which is not part of the
// repository: without it the tests skip, loudly.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "compiler/import/test_model.h"

namespace fold::importer {
namespace {

constexpr char kFolder[] = "../shared/models";

struct Row {
  std::string file;
  ImportOptions options;
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// "x=1,1,8,8" as an option.
void AddShape(const std::string& text, ImportOptions* options) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return;
  Shape shape;
  std::stringstream dims(text.substr(equals + 1));
  for (std::string dim; std::getline(dims, dim, ',');) {
    shape.push_back(std::stoll(dim));
  }
  options->shapes.emplace_back(text.substr(0, equals), shape);
}

std::vector<Row> ReadTable(const std::string& table) {
  std::vector<Row> rows;
  std::ifstream file(std::string(kFolder) + "/" + table);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::stringstream columns(line);
    Row row;
    std::string expected, shape;
    std::getline(columns, row.file, '\t');
    std::getline(columns, expected, '\t');
    std::getline(columns, shape, '\t');
    AddShape(shape, &row.options);
    rows.push_back(row);
  }
  return rows;
}

bool Present() {
  if (std::filesystem::is_directory(kFolder)) return true;
  std::fprintf(stderr, "SKIPPED: no %s, so no real network is imported\n",
               kFolder);
  return false;
}

Imported ImportRow(const Row& row) {
  return ImportBytes(ReadFile(std::string(kFolder) + "/" + row.file),
                     row.options);
}

TEST(ModelWalk, FirstListImports) {
  if (!Present()) GTEST_SKIP() << "no model collection";
  const std::vector<Row> rows = ReadTable("accept_first.tsv");
  EXPECT_GE(rows.size(), 20u);
  for (const Row& row : rows) {
    const Imported result = ImportRow(row);
    EXPECT_TRUE(result.good) << row.file << "\n" << result.Text();
    EXPECT_GT(result.graph.node_count(), 0u) << row.file;
  }
}

TEST(ModelWalk, OthersLackOnlyOperators) {
  if (!Present()) GTEST_SKIP() << "no model collection";
  for (const char* table : {"accept.tsv", "accept_dialects.tsv"}) {
    for (const Row& row : ReadTable(table)) {
      const Imported result = ImportRow(row);
      for (const Diagnostic& diagnostic : result.sink.all()) {
        EXPECT_EQ(diagnostic.code, DiagnosticCode::unsupported_operator)
            << row.file << ": " << FormatDiagnostic(diagnostic);
      }
    }
  }
}

TEST(ModelWalk, TimeOfMobileNet) {
  const std::string path =
      std::string(kFolder) + "/third-party/mobilenet_v2_224.onnx";
  if (!Present()) GTEST_SKIP() << "no model collection";
  WarmOnnx();
  const std::string bytes = ReadFile(path);
  const auto begin = std::chrono::steady_clock::now();
  const Imported result = ImportBytes(bytes);
  const std::chrono::duration<double, std::milli> time =
      std::chrono::steady_clock::now() - begin;
  EXPECT_TRUE(result.good) << result.Text();
  std::printf("mobilenet_v2_224: %zu nodes, %zu bytes in %.1f ms\n",
              result.graph.node_count(), bytes.size(), time.count());
}

// No prefix and no flipped byte of a real file makes the import do anything
// but succeed or say why not.
TEST(ModelWalk, DamagedFilesAreRefused) {
  if (!Present()) GTEST_SKIP() << "no model collection";
  const std::string bytes =
      ReadFile(std::string(kFolder) + "/tiny/hello_world_int8.qdq.onnx");
  ASSERT_FALSE(bytes.empty());
  for (size_t size = 0; size < bytes.size(); size += 7) {
    EXPECT_FALSE(ImportBytes(bytes.substr(0, size)).good) << size;
  }
  for (size_t at = 0; at < bytes.size(); at += 3) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x81);
    const Imported result = ImportBytes(damaged);
    EXPECT_EQ(result.good, result.sink.all().empty());
  }
}

}  // namespace
}  // namespace fold::importer
