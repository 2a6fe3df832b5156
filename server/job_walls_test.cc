// Every wall around a job, proved by a job that tries: one table of attempts,
// each a test. Most are tried without walls as well, where they succeed, so
// that a refusal is the wall's and not the machine's.
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>

#include "compiler/sandbox/sanitized.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/compiler_process.h"

namespace fold {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace fs = std::filesystem;
namespace v1 = foldd::v1;

constexpr char kKilled[] = "signal 31";  // SIGSYS

struct AttemptRow {
  const char* name;
  // OUTSIDE, PORT: a file outside the job's folder, a port that listens.
  const char* attempt;
  const char* walled;  // what comes of it in a job
  const char* bare;    // and without walls; "": not tried there
  Wall wall = Wall::kSeccomp;
};

constexpr Wall kFiles = Wall::kLandlockFiles;
constexpr Wall kPowers = Wall::kCapabilities;
constexpr Wall kBounds = Wall::kLimits;

const AttemptRow kAttempts[] = {
    // Files outside.
    {"ReadPasswords", "open /etc/passwd", "EACCES", "done", kFiles},
    {"ReadOutside", "open OUTSIDE", "EACCES", "done", kFiles},
    {"ReadTheServersEnvironment", "open /proc/1/environ", "EACCES", "", kFiles},
    {"ReadMemoryFile", "open /proc/self/mem", "EACCES", "done", kFiles},
    {"ListRoot", "list /", "EACCES", "done", kFiles},
    {"ListFolderOfJobs", "list ..", "EACCES", "done", kFiles},
    {"WriteOutside", "write OUTSIDE", "EACCES", "done", kFiles},
    {"MakeOutside", "write OUTSIDE.new", "EACCES", "done", kFiles},
    {"RemoveOutside", "remove OUTSIDE", "EACCES", "done", kFiles},
    {"MoveInFromOutside", "move-in OUTSIDE", "EACCES", "done", kFiles},
    {"CutOutside", "cut OUTSIDE", "EPERM", "done"},
    {"OpenDevice", "open /dev/zero", "EACCES", "done", kFiles},
    // Its own folder.
    {"ReadInput", "open model.onnx", "done", "done"},
    {"MakeOutput", "write output", "done", "done"},
    {"WriteInput", "write model.onnx", "EACCES", "done", kPowers},
    {"UnlockInput", "chmod model.onnx", "EPERM", "done"},
    {"MakeFolder", "mkdir folder", "EPERM", "done"},
    {"MakeSymbolicLink", "symlink way-out", "EPERM", "done"},
    {"LinkToOutside", "link OUTSIDE", "EPERM", ""},
    {"MakeFifo", "fifo pipe", kKilled, "done"},
    // Network.
    {"Connect", "connect PORT", "EPERM", "done"},
    {"UseUdp", "udp", "EPERM", "done"},
    {"UseTcp6", "tcp6", "EPERM", ""},
    {"UseUnixSocket", "unix-socket", "EPERM", "done"},
    {"UseNetlink", "netlink", "EPERM", "done"},
    // Processes.
    {"Fork", "fork", "EPERM", "done"},
    {"ForkBomb", "fork-bomb", "EPERM", ""},
    {"Execute", "exec /bin/true", kKilled, ""},
    {"Trace", "ptrace", kKilled, ""},
    {"ReadMemoryOfParent", "read-memory", kKilled, ""},
    {"KillParent", "kill-parent", "EPERM", "done"},
    {"KillAll", "kill-all", "EPERM", "done"},
    {"SignalByFile", "signal-by-file", "EPERM", "done"},
    {"BecomeAnother", "setuid", "EPERM", ""},
    {"RaisePriority", "priority", "EPERM", ""},
    // The kernel's other worlds.
    {"Unshare", "unshare", kKilled, ""},
    {"Mount", "mount", kKilled, ""},
    {"ChangeRoot", "chroot", kKilled, ""},
    {"UseKeys", "keyctl", kKilled, ""},
    {"UseBpf", "bpf", kKilled, ""},
    {"UseIoUring", "io_uring", kKilled, ""},
    {"UsePerf", "perf", kKilled, ""},
    {"UseUserfaultfd", "userfaultfd", kKilled, ""},
    {"RunMadeCode", "code", "EPERM", "done", Wall::kStrictCalls},
    // What it inherits, and how much it may take.
    {"SeeEnvironment", "environment", "none", "SECRET=1", kBounds},
    {"SeeDescriptors", "descriptors", "0 1 2 3", "", kBounds},
    {"OpenManyFiles", "open-many", "EMFILE", "", kBounds},
    {"CoresProcessesLocks", "limits", "0 0 0", "", kBounds},
    {"RaiseLimit", "raise-limit", "EPERM", ""},
};

std::string Replace(std::string text, const std::string& what,
                    const std::string& by) {
  size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

std::string ReadLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// A folder for one job, a file outside of it, a port that listens.
class JobWalls : public testing::Test {
 protected:
  void SetUp() override {
    base_ = testing::TempDir() + "job_walls_XXXXXX";
    ASSERT_NE(mkdtemp(base_.data()), nullptr);
    folder_ = base_ + "/job";
    fs::create_directory(folder_);
    std::ofstream(base_ + "/outside") << "text";
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    ASSERT_EQ(bind(listener_, any, size), 0);
    ASSERT_EQ(listen(listener_, 4), 0);
    getsockname(listener_, any, &size);
    port_ = std::to_string(ntohs(address.sin_port));
    setenv("SECRET", "1", 1);
  }
  void TearDown() override {
    unsetenv("SECRET");
    close(listener_);
  }

  std::unique_ptr<CompilerProcess> Start(
      const std::string& path = FAKE_COMPILER,
      SandboxLevel minimum = SandboxLevel::kNone) {
    auto started = CompilerProcess::Start(
        path, [] {}, minimum);
    EXPECT_TRUE(started.ok()) << started.status();
    return started.ok() ? std::move(*started) : nullptr;
  }

  void WriteScript(const std::string& script) {
    std::ofstream(folder_ + "/model.onnx") << Replace(
        Replace(script, "OUTSIDE", base_ + "/outside"), "PORT", port_);
  }

  JobRequest Request(const std::string& script) {
    WriteScript(script);
    JobRequest request;
    request.arguments = {
        "foldc", "model.onnx", "--target", "x86-64",        "-o",
        "a",     "--report",   "r.binpb",  "--progress-fd", "3"};
    request.folder = folder_;
    request.limits.set_memory_bytes(int64_t{1} << 30);
    request.limits.set_cpu_seconds(30);
    request.limits.set_wall_milliseconds(30'000);
    request.limits.set_file_bytes(1 << 20);
    request.limits.set_open_files(64);
    return request;
  }

  // What a job with this script printed, or how it ended.
  std::string Run(CompilerProcess* process, const JobRequest& request) {
    JobHandle handle;
    exit_ = process->Run(request, &handle, [](const v1::JobEvent&) {});
    if (exit_.signal() != 0) return "signal " + std::to_string(exit_.signal());
    if (exit_.cause() != v1::EXITED || exit_.exit_code() != 0) {
      return v1::ExitCause_Name(exit_.cause()) + " " +
             ReadLine(folder_ + "/stderr");
    }
    return ReadLine(folder_ + "/stdout");
  }

  // The same without walls: the program as anybody runs it.
  std::string RunBare(const std::string& script) {
    WriteScript(script);
    pid_t pid = fork();
    if (pid == 0) {
      int out = open((folder_ + "/bare-out").c_str(), O_CREAT | O_WRONLY, 0600);
      if (chdir(folder_.c_str()) != 0 || dup2(out, STDOUT_FILENO) < 0) _exit(9);
      close_range(3, ~0U, 0);
      char secret[] = "SECRET=1";
      char* environment[] = {secret, nullptr};
      execle(FAKE_COMPILER, "foldc", "model.onnx", "--target", "x86-64", "-o",
             "a", "--report", "r", nullptr, environment);
      _exit(9);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                               : ReadLine(folder_ + "/bare-out");
  }

  std::string base_, folder_, port_;
  int listener_ = -1;
  v1::JobExit exit_;
};

class Attempts : public JobWalls,
                 public testing::WithParamInterface<AttemptRow> {};

TEST_P(Attempts, IsRefused) {
  const AttemptRow& row = GetParam();
  auto process = Start();
  ASSERT_NE(process, nullptr);
  if (!process->sandbox()[row.wall].stands) {
    GTEST_SKIP() << "no such wall here: " << process->sandbox().Summary();
  }
  if (kSanitized && row.wall == kFiles &&
      std::string(row.attempt).find("/proc") != std::string::npos) {
    GTEST_SKIP() << "a sanitizer's runtime reads /proc";
  }
  if (kSanitized && std::string(row.attempt) == "setuid") {
    GTEST_SKIP() << "a sanitizer's runtime ends on a refusal";
  }
  std::string script = "attempt " + std::string(row.attempt);
  EXPECT_EQ(Run(process.get(), Request(script)), row.walled);
  // The jobs after it are none the worse.
  fs::remove_all(folder_);
  fs::create_directory(folder_);
  EXPECT_EQ(Run(process.get(), Request("print  well")), "  well");
}

class AttemptsBare : public Attempts {};

TEST_P(AttemptsBare, Succeeds) {
  const AttemptRow& row = GetParam();
  EXPECT_EQ(RunBare("attempt " + std::string(row.attempt)), row.bare);
}

std::vector<AttemptRow> TriedBare() {
  std::vector<AttemptRow> rows;
  for (const AttemptRow& row : kAttempts) {
    if (*row.bare != '\0') rows.push_back(row);
  }
  return rows;
}

std::string NameOf(const testing::TestParamInfo<AttemptRow>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Each, Attempts, testing::ValuesIn(kAttempts), NameOf);
INSTANTIATE_TEST_SUITE_P(Each, AttemptsBare, testing::ValuesIn(TriedBare()),
                         NameOf);

TEST_F(JobWalls, LimitsEndAJob) {
  auto process = Start();
  Run(process.get(), Request("fill"));
  EXPECT_EQ(exit_.cause(), v1::FILE_LIMIT);
  if (!kSanitized) {
    Run(process.get(), Request("allocate"));
    EXPECT_EQ(exit_.cause(), v1::MEMORY_LIMIT);
  }
  JobRequest request = Request("spin");
  request.limits.set_cpu_seconds(1);
  Run(process.get(), request);
  EXPECT_EQ(exit_.cause(), v1::CPU_LIMIT);
  request.limits.set_wall_milliseconds(200);
  Run(process.get(), request);
  EXPECT_EQ(exit_.cause(), v1::WALL_LIMIT);
}

TEST_F(JobWalls, AFileOutsideIsReadableIfTheServerSaysSo) {
  auto process = Start();
  if (!process->sandbox()[kFiles].stands) GTEST_SKIP() << "no Landlock here";
  JobRequest request = Request("attempt open OUTSIDE");
  request.readable = {base_ + "/outside"};
  EXPECT_EQ(Run(process.get(), request), "done");
  request = Request("attempt write OUTSIDE");
  request.readable = {base_ + "/outside"};
  EXPECT_EQ(Run(process.get(), request), "EACCES");
}

TEST_F(JobWalls, AJobWhoseWallCannotBePutUpDoesNotRun) {
  auto process = Start();
  if (!process->sandbox()[kFiles].stands) GTEST_SKIP() << "no Landlock here";
  JobRequest request = Request("print  ran");
  request.readable = {base_ + "/not-there"};
  std::string said = Run(process.get(), request);
  EXPECT_EQ(exit_.cause(), v1::START_FAILED);
  EXPECT_THAT(said, HasSubstr("'landlock_files' cannot be put up"));
  EXPECT_EQ(ReadLine(folder_ + "/stdout"), "");
}

TEST_F(JobWalls, JobsGoFirstWhenMemoryRunsOut) {
  auto process = Start();
  JobRequest request = Request("sleep 60000");
  JobHandle handle;
  std::thread job([&] {
    (void)process->Run(request, &handle, [](const v1::JobEvent&) {});
  });
  std::string path = "/proc/" + std::to_string(process->pid()) + "/task/" +
                     std::to_string(process->pid()) + "/children";
  std::string score;
  for (int i = 0; i < 500 && score != "1000"; ++i) {
    std::string pid = ReadLine(path);
    while (!pid.empty() && pid.back() == ' ') pid.pop_back();
    if (!pid.empty()) score = ReadLine("/proc/" + pid + "/oom_score_adj");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  handle.Kill();
  job.join();
  EXPECT_EQ(score, "1000");
}

// A compiler on a machine that refuses these system calls.
class FewerWalls : public JobWalls {
 protected:
  std::string Compiler(const std::string& without) {
    std::string path = base_ + "/compiler";
    std::ofstream(path) << "#!/bin/sh\nexec " FEWER_WALLS " " + without +
                               " " FAKE_COMPILER " \"$@\"\n";
    chmod(path.c_str(), 0700);
    return path;
  }
  // Why it is not started under this minimum; "" if it is.
  std::string Refusal(const std::string& without, SandboxLevel minimum) {
    auto started = CompilerProcess::Start(
        Compiler(without), [] {}, minimum);
    if (started.ok()) return "";
    EXPECT_TRUE(absl::IsFailedPrecondition(started.status()));
    return std::string(started.status().message());
  }
};

TEST_F(FewerWalls, TheMinimumFailsClosed) {
  if (kSanitized) {
    GTEST_SKIP() << "a sanitizer's runtime needs the calls that are missing";
  }
  std::string text = Refusal("landlock_create_ruleset", SandboxLevel::kFull);
  EXPECT_THAT(text, HasSubstr("landlock_files"));
  EXPECT_EQ(Refusal("landlock_create_ruleset", SandboxLevel::kSeccomp), "");
  text = Refusal("seccomp", SandboxLevel::kSeccomp);
  EXPECT_THAT(text, HasSubstr("'seccomp'"));
  EXPECT_THAT(text, HasSubstr("sandbox_minimum to 'limits'"));
  EXPECT_EQ(Refusal("seccomp", SandboxLevel::kLimits), "");
  text = Refusal("prlimit64,setrlimit", SandboxLevel::kLimits);
  EXPECT_THAT(text, HasSubstr("'limits'"));
  EXPECT_EQ(Refusal("prlimit64,setrlimit", SandboxLevel::kNone), "");
}

TEST_F(FewerWalls, ALaterStartBelowTheMinimumTakesNoWork) {
  std::string path = Compiler("landlock_create_ruleset");
  auto process = Start(path, SandboxLevel::kSeccomp);
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(process->refusal(), "");
  // As if the machine allowed less from now on.
  ASSERT_EQ(Compiler("seccomp"), path);
  kill(process->pid(), SIGKILL);
  for (int i = 0; i < 500 && process->refusal().empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_THAT(process->refusal(), HasSubstr("'seccomp'"));
  EXPECT_EQ(process->pid(), 0);
  EXPECT_THAT(Run(process.get(), Request("print  ran")),
              StartsWith("PARENT_LOST"));
}

TEST_F(FewerWalls, TheOtherWallsAreStillPutUp) {
  auto process = Start(Compiler("landlock_create_ruleset"));
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(process->sandbox().level(), SandboxLevel::kSeccomp);
  EXPECT_EQ(Run(process.get(), Request("attempt open OUTSIDE")), "done");
  EXPECT_EQ(Run(process.get(), Request("attempt udp")), "EPERM");
}

TEST_F(FewerWalls, WithoutSeccompLandlockStillStands) {
  auto process = Start(Compiler("seccomp"));
  ASSERT_NE(process, nullptr);
  if (!process->sandbox()[kFiles].stands) GTEST_SKIP() << "no Landlock here";
  EXPECT_EQ(Run(process.get(), Request("attempt open OUTSIDE")), "EACCES");
  EXPECT_EQ(Run(process.get(), Request("attempt kill-parent")),
            process->sandbox()[Wall::kLandlockScope].stands ? "EPERM" : "done");
  if (process->sandbox()[Wall::kLandlockNetwork].stands) {
    EXPECT_EQ(Run(process.get(), Request("attempt connect PORT")), "EACCES");
  }
}

}  // namespace
}  // namespace fold
