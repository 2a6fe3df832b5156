// foldctl compile: foldc's flags, on a server.
#include <unistd.h>

#include <cstdio>

#include "client/cmd/command.h"
#include "compiler/api/compile_flags.h"
#include "compiler/api/convert.h"
#include "compiler/api/error_table.h"
#include "compiler/api/report_file.h"
#include "compiler/api/target_file.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

constexpr size_t kMaxModelBytes = size_t{2147483647};
constexpr size_t kMaxTableBytes = size_t{64} << 20;

// Shows progress on a terminal, and diagnostics on any stream.
class Display {
 public:
  void Show(const v1::CompileEvent& event) {
    if (event.has_diagnostic()) {
      Clear();
      said_error_ |= event.diagnostic().severity() == v1::ERROR;
      // Notes are for the report.
      if (event.diagnostic().severity() != v1::NOTE) {
        std::fprintf(stderr, "%s\n",
                     FormatDiagnosticMessage(event.diagnostic()).c_str());
      }
    } else if (terminal_) {
      ShowProgress(event.progress());
    }
  }
  void Clear() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }
  bool said_error() const { return said_error_; }

 private:
  void ShowProgress(const v1::Progress& progress) {
    Clear();
    if (progress.pass_name().empty()) {
      std::fputs(
          progress.state() == v1::Progress::QUEUED ? "queued" : "compiling",
          stderr);
    } else {
      std::fprintf(stderr, "[%d/%d] %s", progress.pass_index() + 1,
                   progress.pass_total(), progress.pass_name().c_str());
    }
    std::fflush(stderr);
    shown_ = true;
  }
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
  bool said_error_ = false;
};

int InputError(const std::string& message) {
  std::fprintf(stderr, "foldctl: %s\n", message.c_str());
  return kExitInput;
}

// Fills the request from the flags; the exit code, 0 if that worked.
int MakeRequest(const CompileFlags& flags, v1::CompileRequest* request) {
  std::string error =
      ReadWholeFile(flags.model_path, kMaxModelBytes, request->mutable_model());
  if (!error.empty()) return InputError(error);
  if (request->model().empty()) {
    return InputError("error[model_unreadable]: '" + flags.model_path +
                      "' is empty and no ONNX model");
  }
  if (!flags.encodings_path.empty()) {
    error = ReadWholeFile(flags.encodings_path, kMaxTableBytes,
                          request->mutable_encodings());
    if (!error.empty()) return InputError(error);
    if (request->encodings().empty()) {
      return InputError("error[bad_encoding_table]: '" + flags.encodings_path +
                        "' is empty and no table");
    }
  }
  if (flags.target_path.empty()) {
    request->set_target_name(flags.target_name);
  } else {
    error = ReadTargetFile(flags.target_path, request->mutable_target());
    if (!error.empty()) return InputError(error);
  }
  *request->mutable_options() = flags.options;
  return kExitDone;
}

int WriteAnswer(const CompileFlags& flags, const CompileAnswer& answer) {
  std::fputs(answer.dump.c_str(), stdout);
  std::string error = WriteFileAtomically(flags.output_path, answer.artifact);
  if (error.empty() && !flags.report_path.empty()) {
    error = WriteReportFile(flags.report_path, answer.report);
  }
  if (error.empty()) return kExitDone;
  std::fprintf(stderr, "foldctl: %s\n", error.c_str());
  return kExitInternal;
}

}  // namespace

int CompileCommand(std::span<const std::string> arguments) {
  CompileFlags flags;
  ServerFlags server;
  bool fresh = false;
  bool help = false;
  std::string compiler_id;
  std::vector<Flag> table = CompileFlagTable(&flags);
  for (Flag& flag : ServerFlagTable(&server)) table.push_back(std::move(flag));
  table.push_back({"--fresh", "", "do not take the answer from the cache",
                   SetSwitch(&fresh)});
  table.push_back({"--compiler-id", "ID", "fail if the server has another",
                   SetText(&compiler_id)});
  table.push_back({"--help", "", "print this", SetSwitch(&help)});
  ParsedLine line = ParseLine(arguments, table);
  if (help) {
    std::printf("usage: foldctl compile MODEL --server HOST:PORT [flags]\n%s",
                FlagHelp(table).c_str());
    return kExitDone;
  }
  std::string error = line.error.empty()
                          ? FinishCompileFlags(line.positional, &flags)
                          : line.error;
  if (!error.empty()) return UsageError(error);

  v1::CompileRequest request;
  int code = MakeRequest(flags, &request);
  if (code != kExitDone) return code;
  request.set_skip_cache_lookup(fresh);
  request.set_compiler_id(compiler_id);
  std::unique_ptr<Client> client = OpenClient(server);
  if (client == nullptr) return kExitUsage;
  CompileAnswer answer;
  Display display;
  auto failed = client->Compile(
      request, [&](const auto& event) { display.Show(event); }, &answer);
  display.Clear();
  if (!failed) return WriteAnswer(flags, answer);
  // The compiler's own words were shown as they came.
  return display.said_error() ? failed->exit_code : CallError(*failed);
}

}  // namespace fold
