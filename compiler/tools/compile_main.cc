#include "compiler/tools/compile_main.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "compiler/api/action.h"
#include "compiler/api/compile_flags.h"
#include "compiler/api/convert.h"
#include "compiler/api/convert_report.h"
#include "compiler/api/error_table.h"
#include "compiler/api/explain.h"
#include "compiler/api/fork_server.h"
#include "compiler/api/job_events.h"
#include "compiler/api/replay.h"
#include "compiler/api/report_file.h"
#include "compiler/api/target_file.h"
#include "compiler/check/verify_main.h"
#include "compiler/compiler.h"
#include "compiler/tools/compiler_id.h"
#include "compiler/tools/model_folder.h"

namespace fold {
namespace {

constexpr size_t kMostModelBytes = 0x7fffffff;
constexpr size_t kMostTableBytes = size_t{64} << 20;

int Fail(int exit_code, const std::string& message) {
  std::fprintf(stderr, "foldc: %s\n", message.c_str());
  return exit_code;
}

// What could not be written. The server knows a full disk by the exit code: the
// message may have gone to the same disk.
int FailWriting(const std::string& fault) {
  return Fail(IsDiskFull(fault) ? kExitTryAgain : kExitInternal, fault);
}

void PrintHelp() {
  CompileFlags flags;
  std::printf(
      "usage: foldc MODEL.onnx --target NAME -o FILE [flags]\n"
      "       foldc verify ARTIFACT MODEL.onnx [--shape NAME=1,3,8,8]... "
      "[--quiet]\n"
      "       foldc explain NODE|TENSOR|OP... --report FILE\n"
      "       foldc replay BUNDLE [--keep FOLDER] [--bare]\n"
      "\n"
      "Compiles a quantized ONNX model for a target into an artifact; verify\n"
      "holds an artifact against its model, sharing no code with the\n"
      "compiler; explain tells what became of a node or tensor, from a report\n"
      "of a compile with --sheets; replay runs the compile of a reproducer\n"
      "bundle again and ends as it does.\n\n%s\n"
      "exit codes: 0 done, 2 usage, 3 the model, table or descriptor is at\n"
      "fault, 4 a requirement or budget is not met, 5 internal error, 6 the\n"
      "disk is full, 8 verify found a difference.\n",
      FlagHelp(CompileFlagTable(&flags)).c_str());
}

// One run of the compiler from a parsed line.
class Run {
 public:
  explicit Run(CompileFlags flags)
      : flags_(std::move(flags)),
        events_(static_cast<int>(flags_.progress_fd), flags_.traceparent),
        folder_(flags_.model_path) {}

  int Go() {
    std::string fault =
        ReadWholeFile(flags_.model_path, kMostModelBytes, &model_);
    if (!fault.empty()) return Fail(kExitInput, fault);
    fault = flags_.target_path.empty()
                ? FindBuiltinTarget(flags_.target_name, &target_)
                : ReadTargetFile(flags_.target_path, &target_);
    if (!fault.empty()) return Fail(kExitInput, fault);
    const int bad_target = CheckTargetFields();
    if (bad_target) return bad_target;
    if (!flags_.encodings_path.empty()) {
      fault = ReadWholeFile(flags_.encodings_path, kMostTableBytes, &table_);
      if (!fault.empty()) return Fail(kExitInput, fault);
    }
    const CompileResult result = CompileModel();
    return Write(result);
  }

 private:
  int CheckTargetFields() {
    const auto problems = CheckTargetMessage(target_);
    for (const TargetProblem& problem : problems) {
      const Diagnostic diagnostic = {DiagnosticCode::bad_target,
                                     problem.message, problem.field};
      std::fprintf(stderr, "%s\n", FormatDiagnostic(diagnostic).c_str());
      events_.Diagnostic(ToProto(diagnostic));
    }
    return problems.empty() ? 0 : kExitInput;
  }

  CompileResult CompileModel() {
    CompileOptions options = FromProto(flags_.options);
    options.compiler_id = kCompilerId;
    if (!flags_.encodings_path.empty()) options.encodings = table_;
    options.progress = [&](std::string_view name, int index, int total) {
      events_.Progress(name, index, total);
    };
    options.dump = [](std::string_view pass, const std::string& text) {
      std::printf("// after %.*s\n%s", static_cast<int>(pass.size()),
                  pass.data(), text.c_str());
    };
    options.external_files = [&](std::string_view name) {
      return folder_.Open(name);
    };
    const auto* bytes = reinterpret_cast<const uint8_t*>(model_.data());
    return Compile({bytes, model_.size()}, FromProto(target_), options);
  }

  std::string ActionDigest() const {
    ActionInputs inputs;
    inputs.model = DigestOf(model_);
    inputs.target = target_;
    if (!flags_.encodings_path.empty()) inputs.encodings = DigestOf(table_);
    inputs.external_files = folder_.Digests();
    inputs.options = flags_.options;
    inputs.compiler_id = kCompilerId;
    return BuildAction(inputs).digest.hash();
  }

  int Write(const CompileResult& result) {
    for (const Diagnostic& diagnostic : result.report.diagnostics) {
      if (diagnostic.severity() != Severity::kNote) {
        std::fprintf(stderr, "%s\n", FormatDiagnostic(diagnostic).c_str());
      }
      events_.Diagnostic(ToProto(diagnostic));
    }
    const std::string bytes(result.artifact.begin(), result.artifact.end());
    if (!flags_.report_path.empty()) {
      foldd::v1::CompileReport report = ToProto(result.report);
      if (!bytes.empty()) {
        report.mutable_artifact()->set_digest(DigestOf(bytes).hash());
      }
      report.set_action_digest(ActionDigest());
      DescribeRun(report.mutable_run());
      const std::string fault = WriteReportFile(flags_.report_path, report);
      if (!fault.empty()) return FailWriting(fault);
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      return FailWriting(std::string("cannot write to standard output: ") +
                         std::strerror(errno));
    }
    if (result.exit_code != 0) return result.exit_code;
    const std::string fault = WriteFileAtomically(flags_.output_path, bytes);
    return fault.empty() ? 0 : FailWriting(fault);
  }

  static void DescribeRun(foldd::v1::RunRecord* run) {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    constexpr int64_t kKilobyte = 1024;
    run->set_peak_memory_bytes(usage.ru_maxrss * kKilobyte);
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    run->set_host(host);
  }

  CompileFlags flags_;
  JobEventWriter events_;
  ModelFolder folder_;
  std::string model_, table_;
  foldd::v1::TargetDescriptor target_;
};

int ForkServer(const char* descriptor) {
  WarmCompiler();
  return RunForkServer(std::atoi(descriptor), kCompilerId, FoldcMain);
}

}  // namespace

int FoldcMain(int argc, char** argv) {
  const std::vector<std::string> line(argv + 1, argv + argc);
  if (line.empty() || line[0] == "--help" || line[0] == "-h") {
    PrintHelp();
    return line.empty() ? kExitUsage : 0;
  }
  if (line[0] == "--version") {
    std::printf("%s\n", kCompilerId);
    return 0;
  }
  if (line[0] == "--fork-server" && line.size() == 2) {
    return ForkServer(line[1].c_str());
  }
  if (line[0] == "explain") {
    return ExplainMain(std::span(line).subspan(1), "foldc");
  }
  if (line[0] == "replay") {
    return ReplayMain(std::span(line).subspan(1), "foldc", kCompilerId,
                      FoldcMain);
  }
  if (line[0] == "verify") return check::VerifyMain(argc - 1, argv + 1);
  CompileFlags flags;
  const std::string fault = ParseCompileLine(line, &flags);
  if (!fault.empty()) return Fail(kExitUsage, fault + " (see foldc --help)");
  return Run(std::move(flags)).Go();
}

}  // namespace fold
