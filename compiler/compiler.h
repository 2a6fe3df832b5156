// The face of the compiler: a model and a target in, an artifact and a report
// out. No I/O, no protobuf in the interface, no global state; the same inputs
// give the same artifact on every machine.
#ifndef FOLD_COMPILER_COMPILER_H_
#define FOLD_COMPILER_COMPILER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/report.h"
#include "compiler/target/target.h"

namespace fold {

struct CompileOptions {
  // --shape NAME=1,3,8,8: binds the open dimensions of an input.
  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes;
  // --encodings: the bytes of a table of quantization parameters.
  std::optional<std::string> encodings;
  // The bytes of a file that the model names as external data, by its plain
  // name; nullopt: there is none. They must live until the compile returns.
  std::function<std::optional<std::span<const uint8_t>>(std::string_view)>
      external_files;
  // Form of inputs and outputs; kUnspecified: the target's default.
  BoundaryIo io = BoundaryIo::kUnspecified;
  bool require_integer_only = false;
  bool require_exact = false;
  // Records the ONNX names of surviving quantized values in the artifact.
  bool taps = false;
  // Reports the migration sheet of every rewrite.
  bool sheets = false;
  // Passes to run instead of the standard pipeline; empty: the standard one.
  std::vector<std::string> passes;
  enum class Verify { kOff, kEnd, kEach } verify = Verify::kEnd;
  // Names of passes after which the graph's text goes to `dump`.
  std::vector<std::string> dump_after;
  std::function<void(std::string_view pass, const std::string& text)> dump;
  // Called as each step starts: its name, its number from 0 and their count.
  std::function<void(std::string_view name, int index, int total)> progress;
  std::string compiler_id;
};

struct CompileResult {
  // Empty if there was an error; then exit_code is not 0.
  std::vector<uint8_t> artifact;
  CompileReport report;
  int exit_code = 0;  // design.md section 1
};

CompileResult Compile(std::span<const uint8_t> model,
                      const TargetDescriptor& target,
                      const CompileOptions& options);

// Builds what every compile needs, for a process that will fork.
void WarmCompiler();

}  // namespace fold

#endif  // FOLD_COMPILER_COMPILER_H_
