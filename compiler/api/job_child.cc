#include "compiler/api/job_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

namespace fold {
namespace {

namespace v1 = foldd::v1;

// Shadow memory of a sanitizer needs terabytes of address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitAddressSpace = false;
#else
constexpr bool kLimitAddressSpace = true;
#endif

[[noreturn]] void Fail(const char* what) {
  std::perror(what);
  _exit(kJobStartFailedExit);
}

// Only what cannot allocate: memory has just run out.
void OutOfMemory() {
  static constexpr char kMessage[] = "out of memory\n";
  (void)!write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  _exit(kJobOutOfMemoryExit);
}

// Opens `path` as descriptor `to`.
void Place(const char* path, int flags, int to) {
  int fd = open(path, flags, 0600);
  if (fd < 0 || dup2(fd, to) < 0) Fail(path);
  if (fd != to) close(fd);
}

void PlaceDescriptors(int progress_fd) {
  // Out of the way of the numbers that are about to be taken.
  int progress = -1;
  if (progress_fd >= 0) {
    progress = fcntl(progress_fd, F_DUPFD, kJobProgressFd + 1);
    if (progress < 0) Fail("progress");
  }
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW;
  Place(kJobStderrFile, kWrite, STDERR_FILENO);
  Place(kJobStdoutFile, kWrite, STDOUT_FILENO);
  Place("/dev/null", O_RDONLY, STDIN_FILENO);
  if (progress >= 0) {
    if (dup2(progress, kJobProgressFd) < 0) Fail("progress");
  } else {
    close(kJobProgressFd);
  }
  close_range(kJobProgressFd + 1, ~0U, 0);
}

void Limit(decltype(RLIMIT_AS) resource, int64_t soft, int64_t hard) {
  if (soft <= 0) return;
  rlimit limit = {static_cast<rlim_t>(soft), static_cast<rlim_t>(hard)};
  rlimit now = {};
  getrlimit(resource, &now);
  if (now.rlim_max != RLIM_INFINITY && limit.rlim_max > now.rlim_max) {
    limit.rlim_max = now.rlim_max;
    if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
  }
  if (setrlimit(resource, &limit) != 0) Fail("setrlimit");
}

void SetLimits(const v1::JobLimits& limits) {
  if (kLimitAddressSpace) {
    Limit(RLIMIT_AS, limits.memory_bytes(), limits.memory_bytes());
  }
  // SIGXCPU at the soft limit, SIGKILL a second later.
  Limit(RLIMIT_CPU, limits.cpu_seconds(), limits.cpu_seconds() + 1);
  Limit(RLIMIT_FSIZE, limits.file_bytes(), limits.file_bytes());
  Limit(RLIMIT_NOFILE, limits.open_files(), limits.open_files());
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

void ResetSignals() {
  for (int sig : {SIGXCPU, SIGXFSZ, SIGCHLD}) signal(sig, SIG_DFL);
  sigset_t all;
  sigemptyset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
}

int RunProgram(const v1::StartJob& start, const ProgramMain& run) {
  std::vector<std::string> words(start.arguments().begin(),
                                 start.arguments().end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  try {
    return run(static_cast<int>(words.size()), argv.data());
  } catch (const std::bad_alloc&) {
    OutOfMemory();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 5;
}

}  // namespace

void RunJobChild(const v1::StartJob& start, int progress_fd, pid_t parent,
                 const ProgramMain& run) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kJobStartFailedExit);
  if (chdir(start.directory().c_str()) != 0) Fail("chdir");
  PlaceDescriptors(progress_fd);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  clearenv();
  umask(0077);
  ResetSignals();
  SetLimits(start.limits());
  std::set_new_handler(OutOfMemory);
  int code = RunProgram(start, run);
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace fold
