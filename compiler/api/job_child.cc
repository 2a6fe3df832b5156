#include "compiler/api/job_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "compiler/sandbox/privileges.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

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

// What is in the folder now is there to be read: not even root, once without
// its powers, writes it after this, and no job changes a mode. Links are left
// to Landlock, which looks at what they lead to.
void LockInputs() {
  namespace fs = std::filesystem;
  std::error_code error;
  for (fs::recursive_directory_iterator at(".", error), end;
       !error && at != end; at.increment(error)) {
    std::string name = at->path().lexically_normal();
    if (name == kJobStdoutFile || name == kJobStderrFile) continue;
    struct stat status = {};
    if (lstat(name.c_str(), &status) != 0 && errno != ENOENT) {
      Fail(name.c_str());
    }
    if (!S_ISREG(status.st_mode)) continue;
    constexpr mode_t kReadable = S_IRUSR;
    if ((status.st_mode & 07777) != kReadable &&
        chmod(name.c_str(), kReadable) != 0 &&
        access(name.c_str(), W_OK) == 0) {
      Fail(name.c_str());
    }
  }
  if (error) Fail(".");
}

void ResetSignals() {
  for (int sig : {SIGXCPU, SIGXFSZ, SIGCHLD}) signal(sig, SIG_DFL);
  sigset_t all;
  sigemptyset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace

ResourceLimits FromProto(const v1::JobLimits& limits) {
  return {limits.memory_bytes(), limits.cpu_seconds(), limits.file_bytes(),
          limits.open_files()};
}

int RunProgram(std::vector<std::string> words, const ProgramMain& run) {
  std::set_new_handler(OutOfMemory);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
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

void RunJobChild(const v1::StartJob& start, int progress_fd, pid_t parent,
                 const Sandbox& sandbox, const ProgramMain& run) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kJobStartFailedExit);
  OfferToOutOfMemoryKiller();
  if (chdir(start.directory().c_str()) != 0) Fail("chdir");
  PlaceDescriptors(progress_fd);
  clearenv();
  umask(0077);
  ResetSignals();
  LockInputs();
  std::string fault =
      sandbox.Enclose({".",
                       {start.readable().begin(), start.readable().end()},
                       FromProto(start.limits())});
  if (!fault.empty()) {
    std::fprintf(stderr, "%s\n", fault.c_str());
    _exit(kJobStartFailedExit);
  }
  int code =
      RunProgram({start.arguments().begin(), start.arguments().end()}, run);
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace fold
