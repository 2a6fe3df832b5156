// The flags of a compile: foldc's, and foldctl compile's with its own added.
#ifndef FOLD_COMPILER_API_COMPILE_FLAGS_H_
#define FOLD_COMPILER_API_COMPILE_FLAGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "compiler/api/flags.h"
#include "proto/foldd/v1/compiler_service.pb.h"

namespace fold {

struct CompileFlags {
  std::string model_path;      // the positional argument
  std::string target_name;     // --target, or
  std::string target_path;     // --target-file
  std::string output_path;     // -o
  std::string encodings_path;  // --encodings; empty: none
  std::string report_path;     // --report; empty: none
  int64_t progress_fd = -1;    // --progress-fd; -1: none
  std::string traceparent;     // --job-traceparent, in its events; empty: none
  foldd::v1::CompileOptions options;
};

// The rows that fill `flags`, which must outlive them.
std::vector<Flag> CompileFlagTable(CompileFlags* flags);

// Parses foldc's line (without the program's name), and checks that what must
// be there is. Returns what is wrong with it, or "".
std::string ParseCompileLine(std::span<const std::string> arguments,
                             CompileFlags* flags);

// The check alone, for a caller with more flags: exactly one model, exactly
// one of --target and --target-file, an output.
std::string FinishCompileFlags(const std::vector<std::string>& positional,
                               CompileFlags* flags);

// Words of the flags: "integer-only", "quantized", "each", …
std::string_view RequirementWord(foldd::v1::Requirement requirement);
std::string_view BoundaryIoWord(foldd::v1::BoundaryIo io);
std::string_view VerifyModeWord(foldd::v1::VerifyMode mode);

}  // namespace fold

#endif  // FOLD_COMPILER_API_COMPILE_FLAGS_H_
