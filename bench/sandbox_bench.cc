// What the sandbox costs a compile: from the fork to the program's main, and a
// whole cold compile, each with and without walls, side by side in one run.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>

#include "benchmark/benchmark.h"
#include "compiler/api/convert.h"
#include "compiler/api/report_file.h"
#include "compiler/api/target_file.h"
#include "compiler/compiler.h"
#include "compiler/sandbox/sandbox.h"

namespace fold {
namespace {

using Clock = std::chrono::steady_clock;

enum Walls { kBare, kLimitsOnly, kAll };

constexpr ResourceLimits kLimits = {.memory_bytes = int64_t{8} << 30,
                                    .cpu_seconds = 600,
                                    .file_bytes = int64_t{1} << 30,
                                    .open_files = 64};

const Sandbox& TheSandbox() {
  static const auto* sandbox = new Sandbox();
  return *sandbox;
}

void PutUp(Walls walls, const std::string& folder) {
  if (chdir(folder.c_str()) != 0) _exit(3);
  if (walls == kLimitsOnly && !SetLimits(kLimits).empty()) _exit(3);
  if (walls == kAll && !TheSandbox().Enclose({".", {}, kLimits}).empty()) {
    _exit(3);
  }
}

// Runs `work` in a child behind these walls. The seconds from before the fork
// to the start of `work`, and to the child's end; negative: it failed.
struct Times {
  double to_main = -1;
  double to_end = -1;
};
Times RunChild(Walls walls, const std::string& folder,
               const std::function<bool()>& work) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return {};
  Clock::time_point start = Clock::now();
  pid_t pid = fork();
  if (pid == 0) {
    PutUp(walls, folder);
    // One clock for all processes.
    Clock::time_point main = Clock::now();
    (void)!write(fds[1], &main, sizeof(main));
    _exit(work() ? 0 : 2);
  }
  close(fds[1]);
  Times times;
  Clock::time_point main;
  int status = 0;
  bool told = read(fds[0], &main, sizeof(main)) == sizeof(main);
  waitpid(pid, &status, 0);
  close(fds[0]);
  if (!told || status != 0) return times;
  times.to_main = std::chrono::duration<double>(main - start).count();
  times.to_end = std::chrono::duration<double>(Clock::now() - start).count();
  return times;
}

std::string Folder() {
  std::string folder = "sandbox_bench_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) std::abort();
  return folder;
}

struct Inputs {
  std::string model;
  TargetDescriptor target;
};

const Inputs& TheInputs() {
  static const auto* inputs = [] {
    WarmCompiler();
    auto* made = new Inputs();
    foldd::v1::TargetDescriptor target;
    if (!ReadWholeFile(FOLD_SAMPLE, size_t{1} << 28, &made->model).empty() ||
        !FindBuiltinTarget("x86-64", &target).empty()) {
      std::abort();
    }
    made->target = FromProto(target);
    return made;
  }();
  return *inputs;
}

bool CompileSample() {
  const Inputs& inputs = TheInputs();
  const auto* bytes = reinterpret_cast<const uint8_t*>(inputs.model.data());
  CompileResult result = Compile({bytes, inputs.model.size()}, inputs.target,
                                 {.shapes = {{"image", {3, 1, 12, 12}}}});
  return result.exit_code == 0 &&
         WriteFileAtomically(
             "artifact", {reinterpret_cast<const char*>(result.artifact.data()),
                          result.artifact.size()})
             .empty();
}

void ForkToMain(benchmark::State& state) {
  (void)TheInputs();
  (void)TheSandbox();
  std::string folder = Folder();
  for (auto _ : state) {
    Times times = RunChild(static_cast<Walls>(state.range(0)), folder,
                           [] { return true; });
    if (times.to_main < 0) return state.SkipWithError("no child");
    state.SetIterationTime(times.to_main);
  }
  rmdir(folder.c_str());
}

void ColdCompile(benchmark::State& state) {
  (void)TheInputs();
  (void)TheSandbox();
  std::string folder = Folder();
  for (auto _ : state) {
    Times times =
        RunChild(static_cast<Walls>(state.range(0)), folder, CompileSample);
    if (times.to_end < 0) return state.SkipWithError("the compile failed");
    state.SetIterationTime(times.to_end);
  }
  unlink((folder + "/artifact").c_str());
  rmdir(folder.c_str());
}

void EachWall(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("walls")->UseManualTime()->Unit(benchmark::kMicrosecond);
  for (Walls walls : {kBare, kLimitsOnly, kAll}) benchmark->Arg(walls);
}
BENCHMARK(ForkToMain)->Apply(EachWall);
BENCHMARK(ColdCompile)->Apply(EachWall);

}  // namespace
}  // namespace fold
