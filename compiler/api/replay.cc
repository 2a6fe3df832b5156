#include "compiler/api/replay.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "compiler/api/compile_flags.h"
#include "compiler/api/error_table.h"
#include "compiler/api/flags.h"
#include "compiler/api/job_child.h"
#include "compiler/api/reproducer.h"
#include "compiler/api/sandbox_proto.h"
#include "compiler/sandbox/sandbox.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
namespace v1 = foldd::v1;

std::string HowItEnded(int signal, int exit_code) {
  return signal != 0 ? "signal " + std::to_string(signal) + " (" +
                           strsignal(signal) + ")"
                     : "exit code " + std::to_string(exit_code);
}

// "" if the command line names nothing outside of its folder: the bundle may
// come from anybody.
std::string CheckArguments(const v1::Reproducer& about) {
  if (about.arguments().empty()) return "the bundle has no command line";
  std::vector<std::string> words(about.arguments().begin() + 1,
                                 about.arguments().end());
  CompileFlags flags;
  std::string fault = ParseCompileLine(words, &flags);
  if (!fault.empty()) return "the bundle's command line: " + fault;
  for (const std::string* path :
       {&flags.model_path, &flags.target_path, &flags.output_path,
        &flags.encodings_path, &flags.report_path}) {
    if (!path->empty() && !IsSafePath(*path)) {
      return "the bundle's command line leaves its folder: '" + *path + "'";
    }
  }
  return flags.progress_fd < 0 ? "" : "the bundle's command line has a pipe";
}

class Replay {
 public:
  Replay(std::string program, const ProgramMain& run)
      : program_(std::move(program)), run_(run) {}
  ~Replay() {
    std::error_code ignored;
    if (!keep_ && !folder_.empty()) fs::remove_all(folder_, ignored);
  }

  // "" or what is wrong.
  std::string Unpack(const std::string& bundle, const std::string& keep);
  void Compare(const std::string& compiler_id) const;
  int RunBare() const;
  // The signal that ended it, or 0 and its exit code.
  int RunEnclosed(int* exit_code) const;

 private:
  std::vector<std::string> Words() const {
    return {about_.arguments().begin(), about_.arguments().end()};
  }
  [[noreturn]] void RunChild(const Sandbox& sandbox) const;

  const std::string program_;
  const ProgramMain& run_;
  bool keep_ = false;
  std::string folder_;
  v1::Reproducer about_;
};

std::string Replay::Unpack(const std::string& bundle, const std::string& keep) {
  keep_ = !keep.empty();
  if (keep_) {
    if (mkdir(keep.c_str(), 0700) != 0) {
      return keep + ": " + std::strerror(errno);
    }
    folder_ = keep;
  } else {
    std::error_code error;
    std::string pattern = fs::temp_directory_path(error) / "replay_XXXXXX";
    if (error || mkdtemp(pattern.data()) == nullptr) {
      return "no temporary folder: " + std::string(std::strerror(errno));
    }
    folder_ = pattern;
  }
  std::string fault = UnpackReproducer(bundle, folder_, &about_);
  return fault.empty() ? CheckArguments(about_) : fault;
}

void Replay::Compare(const std::string& compiler_id) const {
  if (about_.compiler_id() != compiler_id) {
    std::fprintf(stderr, "%s: the bundle is of compiler %s, this is %s\n",
                 program_.c_str(), about_.compiler_id().c_str(),
                 compiler_id.c_str());
  }
  for (const std::string& path : about_.left_out()) {
    std::fprintf(stderr, "%s: the bundle lacks the input '%s'\n",
                 program_.c_str(), path.c_str());
  }
}

int Replay::RunBare() const {
  if (chdir(folder_.c_str()) != 0) return kExitInternal;
  return RunProgram(Words(), run_);
}

void Replay::RunChild(const Sandbox& sandbox) const {
  if (chdir(folder_.c_str()) != 0) _exit(kExitInternal);
  clearenv();
  umask(0077);
  // What the parent of jobs does for them; nobody catches it.
  alarm(static_cast<unsigned>((about_.limits().wall_milliseconds() + 999) /
                              1000));
  std::string fault = sandbox.Enclose({".", {}, FromProto(about_.limits())});
  if (!fault.empty()) {
    std::fprintf(stderr, "%s: %s\n", program_.c_str(), fault.c_str());
    _exit(kExitInternal);
  }
  int code = RunProgram(Words(), run_);
  std::fflush(nullptr);
  _exit(code);
}

int Replay::RunEnclosed(int* exit_code) const {
  Sandbox sandbox;
  SandboxLevel then = FromProto(about_.walls()).level();
  if (sandbox.report().level() != then) {
    std::fprintf(
        stderr, "%s: its sandbox was '%s', here it is '%s'\n", program_.c_str(),
        std::string(SandboxLevelName(then)).c_str(),
        std::string(SandboxLevelName(sandbox.report().level())).c_str());
  }
  std::fflush(nullptr);
  pid_t pid = fork();
  if (pid == 0) RunChild(sandbox);
  int status = 0;
  if (pid < 0) {
    *exit_code = kExitTryAgain;
    return 0;
  }
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  bool same = signal == about_.exit().signal() &&
              *exit_code == about_.exit().exit_code();
  std::fprintf(stderr, "%s: replayed: %s, %s\n", program_.c_str(),
               HowItEnded(signal, *exit_code).c_str(),
               same
                   ? "as in the bundle"
                   : ("in the bundle: " + HowItEnded(about_.exit().signal(),
                                                     about_.exit().exit_code()))
                         .c_str());
  return signal;
}

// Ends this process as the compile ended.
[[noreturn]] void EndBy(int sig) {
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(sig, SIG_DFL);
  sigset_t all;
  sigemptyset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  raise(sig);
  _exit(kExitInternal);
}

}  // namespace

int ReplayMain(std::span<const std::string> arguments,
               const std::string& program, const std::string& compiler_id,
               const ProgramMain& run) {
  std::string keep;
  bool bare = false;
  const std::vector<Flag> table = {
      {"--keep", "FOLDER", "unpack into this new folder and leave it there",
       SetText(&keep)},
      {"--bare", "", "no walls and no process of its own, for a debugger",
       SetSwitch(&bare)},
  };
  ParsedLine line = ParseLine(arguments, table);
  if (line.error.empty() && line.positional.size() != 1) {
    line.error = "give one bundle";
  }
  if (!line.error.empty()) {
    std::fprintf(stderr, "%s replay: %s\n%s", program.c_str(),
                 line.error.c_str(), FlagHelp(table).c_str());
    return kExitUsage;
  }
  int sig = 0, exit_code = 0;
  {
    Replay replay(program, run);
    std::string fault = replay.Unpack(line.positional[0], keep);
    if (!fault.empty()) {
      std::fprintf(stderr, "%s replay: %s\n", program.c_str(), fault.c_str());
      return kExitInput;
    }
    replay.Compare(compiler_id);
    if (bare) return replay.RunBare();
    sig = replay.RunEnclosed(&exit_code);
  }
  if (sig != 0) EndBy(sig);
  return exit_code;
}

}  // namespace fold
