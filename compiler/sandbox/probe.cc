#include "compiler/sandbox/probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace fold {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLimit{10};
constexpr size_t kMaxBytes = 4096;
// Says that the attempt came to its end: an answer may be empty.
constexpr char kEndMark = '\n';

std::string ReadAnswer(int fd, Clock::time_point end) {
  std::string answer;
  while (answer.size() < kMaxBytes) {
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    pollfd ready = {fd, POLLIN, 0};
    int turn =
        poll(&ready, 1, static_cast<int>(std::max<int64_t>(0, left.count())));
    if (turn < 0 && errno == EINTR) continue;
    if (turn <= 0) break;
    char buffer[512];
    ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    answer.append(buffer, static_cast<size_t>(got));
  }
  return answer;
}

[[noreturn]] void RunChild(int fd,
                           const std::function<std::string()>& attempt) {
  std::string answer = attempt() + kEndMark;
  (void)!write(fd, answer.data(), answer.size());
  _exit(0);
}

}  // namespace

std::string TryInChild(const std::function<std::string()>& attempt) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return std::strerror(errno);
  pid_t pid = fork();
  if (pid == 0) {
    close(fds[0]);
    RunChild(fds[1], attempt);
  }
  int error = errno;
  close(fds[1]);
  std::string answer;
  int status = 0;
  if (pid > 0) {
    answer = ReadAnswer(fds[0], Clock::now() + kLimit);
    kill(pid, SIGKILL);  // it is over, or has taken too long
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  close(fds[0]);
  if (pid < 0) return std::string("fork: ") + std::strerror(error);
  if (answer.ends_with(kEndMark)) {
    answer.pop_back();
    return answer;
  }
  return WIFSIGNALED(status)
             ? std::string("ended by ") + strsignal(WTERMSIG(status))
             : "no answer";
}

}  // namespace fold
