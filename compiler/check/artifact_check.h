// The independent checker: does an artifact compute what an ONNX file means?
// It reads the artifact's bytes and the ONNX file, derives the ideal integers
// from the file in exact rationals, and compares every constant, every
// threshold of every requantization, the wiring element by element, and the
// use of the arena. It believes no claim of the compiler (exactness, provenance
// beyond names, quantization hints), and shares no code with it.
#ifndef COMPILER_CHECK_ARTIFACT_CHECK_H_
#define COMPILER_CHECK_ARTIFACT_CHECK_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace fold::check {

enum class Verdict {
  kVerified,
  kFloat,      // a float island's op: evaluated in double, nothing proved
  kUnchecked,  // `detail` says what was not understood
  kWrong,      // `detail` says where, and what it should be
};

struct CheckLine {
  std::string what;  // "op 3 CONV name", "output y", "tap v", "arena"
  Verdict verdict = Verdict::kVerified;
  std::string detail;  // for kVerified: what was compared
};

struct CheckReport {
  std::vector<CheckLine> lines;

  int Count(Verdict verdict) const;
  // Nothing wrong and nothing unchecked.
  bool passed() const;
  // One line an entry and a summary line.
  std::string Text() const;
};

// False with a reason in `why` if either file cannot be used at all; the
// report is then empty. `shapes` binds inputs with symbolic dimensions.
bool CheckArtifact(std::span<const uint8_t> artifact,
                   std::span<const uint8_t> onnx_model,
                   const std::map<std::string, std::vector<int64_t>>& shapes,
                   CheckReport* report, std::string* why);

}  // namespace fold::check

#endif  // COMPILER_CHECK_ARTIFACT_CHECK_H_
