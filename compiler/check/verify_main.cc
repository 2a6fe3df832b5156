#include "compiler/check/verify_main.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/check/artifact_check.h"

namespace fold::check {
namespace {

constexpr int kDone = 0;
constexpr int kUsage = 2;
constexpr int kBadFile = 3;
constexpr int kDifference = 8;

bool ReadFile(const std::string& path, std::vector<uint8_t>* bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  bytes->assign(std::istreambuf_iterator<char>(file),
                std::istreambuf_iterator<char>());
  return !file.bad();
}

// NAME=1,3,8,8; the name may contain '='.
bool ReadShape(const std::string& text,
               std::map<std::string, std::vector<int64_t>>* shapes) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return false;
  std::vector<int64_t> sizes;
  const char* at = text.c_str() + equals + 1;
  while (*at != '\0') {
    char* end = nullptr;
    const long long size = std::strtoll(at, &end, 10);
    if (end == at || size <= 0 || (*end != ',' && *end != '\0')) return false;
    sizes.push_back(size);
    at = *end == ',' ? end + 1 : end;
  }
  (*shapes)[text.substr(0, equals)] = std::move(sizes);
  return true;
}

int Usage() {
  std::fputs(
      "usage: verify ARTIFACT MODEL.onnx [--shape NAME=1,3,8,8]... "
      "[--quiet]\n",
      stderr);
  return kUsage;
}

void Print(const CheckReport& report, bool quiet) {
  std::string text = report.Text();
  if (quiet) {
    std::string_view rest = text;
    std::string kept;
    while (!rest.empty()) {
      const size_t end = rest.find('\n') + 1;
      const std::string_view line = rest.substr(0, end);
      if (line.substr(0, 8) != "verified") kept += line;
      rest.remove_prefix(end);
    }
    text = std::move(kept);
  }
  std::fputs(text.c_str(), stdout);
}

}  // namespace

int VerifyMain(int argc, char** argv) {
  std::vector<std::string> files;
  std::map<std::string, std::vector<int64_t>> shapes;
  bool quiet = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quiet") {
      quiet = true;
    } else if (argument == "--shape" && i + 1 < argc) {
      if (!ReadShape(argv[++i], &shapes)) return Usage();
    } else if (argument.rfind("--shape=", 0) == 0) {
      if (!ReadShape(argument.substr(8), &shapes)) return Usage();
    } else if (argument.rfind("--", 0) == 0) {
      return Usage();
    } else {
      files.push_back(argument);
    }
  }
  if (files.size() != 2) return Usage();
  std::vector<uint8_t> contents[2];
  for (int i = 0; i < 2; ++i) {
    if (ReadFile(files[i], &contents[i])) continue;
    std::fprintf(stderr, "cannot read %s\n", files[i].c_str());
    return kBadFile;
  }
  CheckReport report;
  std::string why;
  if (!CheckArtifact(contents[0], contents[1], shapes, &report, &why)) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return kBadFile;
  }
  Print(report, quiet);
  return report.passed() ? kDone : kDifference;
}

}  // namespace fold::check
