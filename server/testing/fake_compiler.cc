// A compiler for tests of the server: takes foldc's flags, reads its model as
// a script, one command a line, and otherwise leaves what foldc would leave.
//   sleep MS | spin | signal N | allocate | diagnostic CODE NODE |
//   exit CODE | progress N | print TEXT | no-report | no-artifact |
//   wrong-artifact | size BYTES | attempt WHAT [ARGUMENT] | fill
// `attempt` prints what came of it (server/testing/attempts.h); `fill` writes
// a file without end.
// `fake_compiler replay BUNDLE` is `foldc replay`.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "compiler/api/action.h"
#include "compiler/api/compile_flags.h"
#include "compiler/api/error_table.h"
#include "compiler/api/fork_server.h"
#include "compiler/api/job_events.h"
#include "compiler/api/replay.h"
#include "compiler/api/report_file.h"
#include "compiler/api/target_file.h"
#include "server/testing/attempts.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

struct Script {
  int exit_code = 0;
  bool report = true;
  bool artifact = true;
  bool wrong = false;
  size_t size = 0;
  std::vector<v1::Diagnostic> diagnostics;
};

void Allocate() {
  std::vector<std::unique_ptr<std::vector<char>>> all;
  for (;;) all.push_back(std::make_unique<std::vector<char>>(1 << 24, 'x'));
}

void Spin() {
  volatile int64_t turns = 0;
  for (;;) {
    int64_t next = turns + 1;
    turns = next;
  }
}

void Fill() {
  std::ofstream file("filled", std::ios::binary);
  const std::string block(1 << 16, 'x');
  while (file.write(block.data(), 1 << 16)) {
  }
}

void Step(std::istringstream& line, JobEventWriter& events, Script* script) {
  std::string word;
  line >> word;
  int64_t number = 0;
  if (word == "sleep" && line >> number) {
    std::this_thread::sleep_for(std::chrono::milliseconds(number));
  } else if (word == "spin") {
    Spin();
  } else if (word == "allocate") {
    Allocate();
  } else if (word == "signal" && line >> number) {
    raise(static_cast<int>(number));
  } else if (word == "exit" && line >> number) {
    script->exit_code = static_cast<int>(number);
  } else if (word == "size" && line >> number) {
    script->size = static_cast<size_t>(number);
  } else if (word == "progress" && line >> number) {
    for (int i = 0; i < number; ++i) {
      events.Progress("pass_" + std::to_string(i), i, static_cast<int>(number));
    }
  } else if (word == "diagnostic") {
    v1::Diagnostic diagnostic;
    line >> *diagnostic.mutable_code() >> *diagnostic.mutable_node();
    bool error = FindError(ReasonOfDiagnostic(diagnostic.code())) != nullptr;
    diagnostic.set_severity(error ? v1::ERROR : v1::NOTE);
    diagnostic.set_message("said by the script");
    events.Diagnostic(diagnostic);
    script->diagnostics.push_back(diagnostic);
  } else if (word == "print") {
    std::string text;
    std::getline(line, text);
    std::printf("%s\n", text.c_str());
  } else if (word == "attempt") {
    std::string what, argument;
    line >> what >> argument;
    std::printf("%s\n", Attempt(what, argument).c_str());
  } else if (word == "fill") {
    Fill();
  } else if (word == "no-report") {
    script->report = false;
  } else if (word == "no-artifact") {
    script->artifact = false;
  } else if (word == "wrong-artifact") {
    script->wrong = true;
  }
}

Script Play(const std::string& model, JobEventWriter& events) {
  Script script;
  std::istringstream lines(model);
  std::string text;
  while (std::getline(lines, text)) {
    std::istringstream line(text);
    Step(line, events, &script);
  }
  return script;
}

int Main(int argc, char** argv) {
  CompileFlags flags;
  std::vector<std::string> words(argv + 1, argv + argc);
  std::string error = ParseCompileLine(words, &flags);
  v1::TargetDescriptor target;
  if (error.empty()) {
    error = flags.target_path.empty()
                ? FindBuiltinTarget(flags.target_name, &target)
                : ReadTargetFile(flags.target_path, &target);
  }
  std::string model;
  if (error.empty()) error = ReadWholeFile(flags.model_path, 1 << 28, &model);
  if (!error.empty()) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return kExitUsage;
  }
  JobEventWriter events(static_cast<int>(flags.progress_fd), flags.traceparent);
  auto start = std::chrono::system_clock::now();
  Script script = Play(model, events);
  // The bytes are a function of model, target and options, as foldc's are.
  std::string artifact = "artifact of " + DigestOf(model).hash() + " for " +
                         target.name() + " " +
                         DigestOf(SerializeDeterministic(flags.options)).hash();
  if (script.size > artifact.size()) artifact.resize(script.size, 'z');
  v1::CompileReport report;
  report.mutable_artifact()->set_digest(DigestOf(artifact).hash());
  report.mutable_artifact()->set_size_bytes(
      static_cast<int64_t>(artifact.size()));
  report.mutable_artifact()->set_exactness(v1::PROVED);
  report.mutable_artifact()->set_integer_only(true);
  for (const auto& one : script.diagnostics) *report.add_diagnostics() = one;
  report.add_passes()->set_name("fold");
  v1::PassTime* time = report.mutable_run()->add_passes();
  time->set_name("fold");
  time->set_start_microseconds(10);
  time->set_wall_microseconds(100);
  report.mutable_run()->set_start_unix_microseconds(
      std::chrono::duration_cast<std::chrono::microseconds>(
          start.time_since_epoch())
          .count());
  if (script.wrong) artifact[0] ^= 1;
  if (script.report) error = WriteReportFile(flags.report_path, report);
  if (error.empty() && script.artifact && script.exit_code == 0) {
    error = WriteFileAtomically(flags.output_path, artifact);
  }
  if (!error.empty()) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return IsDiskFull(error) ? kExitTryAgain : kExitInternal;
  }
  return script.exit_code;
}

}  // namespace
}  // namespace fold

int main(int argc, char** argv) {
  constexpr char kId[] = "fake-compiler-1";
  if (argc == 3 && std::string(argv[1]) == "--fork-server") {
    return fold::RunForkServer(std::stoi(argv[2]), kId, fold::Main);
  }
  if (argc >= 2 && std::string(argv[1]) == "replay") {
    std::vector<std::string> words(argv + 2, argv + argc);
    return fold::ReplayMain(words, "fake_compiler", kId, fold::Main);
  }
  return fold::Main(argc, argv);
}
