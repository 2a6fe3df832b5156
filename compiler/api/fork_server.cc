#include "compiler/api/fork_server.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <vector>

#include "compiler/api/job_child.h"
#include "compiler/api/sandbox_proto.h"
#include "compiler/sandbox/sandbox.h"
#include "proto/foldd/v1/job.pb.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
using Clock = std::chrono::steady_clock;

constexpr size_t kMaxPacketBytes = 256 << 10;

struct RunningJob {
  int64_t id = 0;
  Clock::time_point deadline;
  // Why the parent killed it, if it did.
  v1::ExitCause cause = v1::EXIT_CAUSE_UNSPECIFIED;
};

class ForkServer {
 public:
  ForkServer(int socket_fd, const ProgramMain& run)
      : socket_(socket_fd), run_(run) {}
  int Serve(const std::string& compiler_id);

 private:
  // Receives one packet; false when the other end is gone.
  bool Receive();
  void Handle(const v1::ToForkServer& message, int progress_fd);
  void Start(int64_t id, const v1::StartJob& start, int progress_fd);
  void Kill(pid_t pid, v1::ExitCause cause);
  void KillOverdue();
  void Reap();
  void Report(int64_t id, int status, const rusage& usage, v1::ExitCause cause);
  void Send(const v1::FromForkServer& message);
  int MillisecondsToDeadline() const;

  int socket_;
  int signals_ = -1;
  const ProgramMain& run_;
  const Sandbox sandbox_;
  std::map<pid_t, RunningJob> jobs_;
};

int ForkServer::Serve(const std::string& compiler_id) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  signals_ = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) return 5;
  // Whoever stops foldd stops its whole group; the jobs are drained by foldd.
  for (int sig : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(sig, SIG_IGN);

  v1::FromForkServer hello;
  hello.mutable_hello()->set_compiler_id(compiler_id);
  *hello.mutable_hello()->mutable_walls() = ToProto(sandbox_.report());
  Send(hello);
  for (;;) {
    pollfd fds[] = {{socket_, POLLIN, 0}, {signals_, POLLIN, 0}};
    int ready = poll(fds, 2, MillisecondsToDeadline());
    if (ready < 0 && errno != EINTR) return 5;
    if (fds[1].revents != 0) {
      signalfd_siginfo info;
      while (read(signals_, &info, sizeof(info)) > 0) {
      }
      Reap();
    }
    KillOverdue();
    if (fds[0].revents != 0 && !Receive()) break;
  }
  for (const auto& [pid, job] : jobs_) kill(-pid, SIGKILL);
  while (!jobs_.empty() && waitpid(-1, nullptr, 0) > 0) {
  }
  close(socket_);
  return 0;
}

bool ForkServer::Receive() {
  static std::vector<char> buffer(kMaxPacketBytes);
  iovec data = {buffer.data(), buffer.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr header = {};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t got = recvmsg(socket_, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  int progress_fd = -1;
  cmsghdr* message = CMSG_FIRSTHDR(&header);
  if (message != nullptr && message->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&progress_fd, CMSG_DATA(message), sizeof(progress_fd));
  }
  v1::ToForkServer request;
  if ((header.msg_flags & MSG_TRUNC) == 0 &&
      request.ParseFromArray(buffer.data(), static_cast<int>(got))) {
    Handle(request, progress_fd);
  }
  if (progress_fd >= 0) close(progress_fd);
  return true;
}

void ForkServer::Handle(const v1::ToForkServer& message, int progress_fd) {
  if (message.has_start()) {
    Start(message.job(), message.start(), progress_fd);
    return;
  }
  for (const auto& [pid, job] : jobs_) {
    if (job.id == message.job()) return Kill(pid, v1::KILLED);
  }
}

void ForkServer::Start(int64_t id, const v1::StartJob& start, int progress_fd) {
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid == 0) RunJobChild(start, progress_fd, parent, sandbox_, run_);
  v1::FromForkServer message;
  message.set_job(id);
  if (pid < 0) {
    message.mutable_exit()->set_cause(v1::START_FAILED);
    message.mutable_exit()->set_message(std::strerror(errno));
  } else {
    setpgid(pid, pid);  // the child does it, too: whoever comes first
    auto wall = std::chrono::milliseconds(start.limits().wall_milliseconds());
    jobs_[pid] = {id, Clock::now() + wall, v1::EXIT_CAUSE_UNSPECIFIED};
    message.mutable_started()->set_pid(pid);
  }
  Send(message);
}

void ForkServer::Kill(pid_t pid, v1::ExitCause cause) {
  RunningJob& job = jobs_[pid];
  if (job.cause != v1::EXIT_CAUSE_UNSPECIFIED) return;
  job.cause = cause;
  kill(-pid, SIGKILL);
}

void ForkServer::KillOverdue() {
  auto now = Clock::now();
  for (const auto& [pid, job] : jobs_) {
    if (job.deadline <= now) Kill(pid, v1::WALL_LIMIT);
  }
}

int ForkServer::MillisecondsToDeadline() const {
  auto nearest = Clock::time_point::max();
  for (const auto& [pid, job] : jobs_) {
    if (job.cause == v1::EXIT_CAUSE_UNSPECIFIED) {
      nearest = std::min(nearest, job.deadline);
    }
  }
  if (nearest == Clock::time_point::max()) return -1;
  auto left =
      std::chrono::ceil<std::chrono::milliseconds>(nearest - Clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60'000));
}

void ForkServer::Reap() {
  for (;;) {
    int status = 0;
    rusage usage = {};
    pid_t pid = wait4(-1, &status, WNOHANG, &usage);
    if (pid <= 0) return;
    auto job = jobs_.find(pid);
    if (job == jobs_.end()) continue;
    Report(job->second.id, status, usage, job->second.cause);
    jobs_.erase(job);
  }
}

int64_t Microseconds(const timeval& time) {
  return int64_t{time.tv_sec} * 1'000'000 + time.tv_usec;
}

void ForkServer::Report(int64_t id, int status, const rusage& usage,
                        v1::ExitCause cause) {
  v1::FromForkServer message;
  message.set_job(id);
  v1::JobExit* exit = message.mutable_exit();
  exit->set_cpu_microseconds(Microseconds(usage.ru_utime) +
                             Microseconds(usage.ru_stime));
  exit->set_peak_memory_bytes(int64_t{usage.ru_maxrss} * 1024);
  if (WIFEXITED(status)) {
    int code = WEXITSTATUS(status);
    exit->set_cause(code == kJobOutOfMemoryExit   ? v1::MEMORY_LIMIT
                    : code == kJobStartFailedExit ? v1::START_FAILED
                                                  : v1::EXITED);
    if (exit->cause() == v1::EXITED) exit->set_exit_code(code);
  } else {
    int sig = WTERMSIG(status);
    exit->set_signal(sig);
    if (cause == v1::EXIT_CAUSE_UNSPECIFIED) {
      cause = sig == SIGXCPU   ? v1::CPU_LIMIT
              : sig == SIGXFSZ ? v1::FILE_LIMIT
                               : v1::SIGNALED;
    }
    exit->set_cause(cause);
  }
  Send(message);
}

void ForkServer::Send(const v1::FromForkServer& message) {
  std::string bytes = message.SerializeAsString();
  while (send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0 &&
         errno == EINTR) {
  }
}

}  // namespace

int RunForkServer(int socket_fd, const std::string& compiler_id,
                  const ProgramMain& run) {
  return ForkServer(socket_fd, run).Serve(compiler_id);
}

}  // namespace fold
