#include "server/compiler_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "compiler/api/fork_server.h"
#include "compiler/api/job_events.h"
#include "compiler/api/sandbox_proto.h"
#include "spdlog/spdlog.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kStartLimit{20'000};
constexpr milliseconds kRestartPause{200};
// After a start that was not accepted: the machine or the compiler must change.
constexpr milliseconds kRefusedPause{5'000};
constexpr size_t kMaxPacketBytes = 64 << 10;

v1::JobExit Failed(v1::ExitCause cause, const std::string& message) {
  v1::JobExit exit;
  exit.set_cause(cause);
  exit.set_message(message);
  return exit;
}

// What a sanitizer's runtime reads. The rest of the environment, in which
// operators keep secrets, is not in a compiler's memory at all.
constexpr const char* kPassedVariables[] = {"ASAN_OPTIONS", "LSAN_OPTIONS",
                                            "TSAN_OPTIONS", "UBSAN_OPTIONS"};

std::vector<std::string> CompilerEnvironment() {
  std::vector<std::string> variables;
  for (const char* name : kPassedVariables) {
    const char* value = std::getenv(name);
    if (value != nullptr) variables.push_back(std::string(name) + "=" + value);
  }
  return variables;
}

// In the child, between fork and exec: only what is safe there.
[[noreturn]] void ExecCompiler(const char* path, int socket,
                               char* const* environment) {
  setpgid(0, 0);
  if (dup2(socket, STDIN_FILENO) < 0) _exit(127);
  // Descriptor 0 is the socket; 1 and 2 stay, for what the compiler logs.
  close_range(STDERR_FILENO + 1, ~0U, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execle(path, path, "--fork-server", "0", nullptr, environment);
  _exit(127);
}

// Reads what is in a pipe, without waiting; false at its end.
bool DrainPipe(int fd, JobEventParser* parser,
               const std::function<void(const v1::JobEvent&)>& on_event) {
  char buffer[1 << 14];
  for (;;) {
    ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    parser->Append(std::string_view(buffer, static_cast<size_t>(got)));
    v1::JobEvent event;
    while (parser->Next(&event)) on_event(event);
  }
}

// Whether a process is over, though perhaps nobody has waited for it.
bool HasEnded(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return true;
  // The state is behind the name, which may have any characters in it.
  size_t at = text.rfind(')');
  return at == std::string::npos || at + 2 >= text.size() ||
         text[at + 2] == 'Z' || text[at + 2] == 'X';
}

}  // namespace

struct CompilerProcess::Job {
  Job() : exited(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Job() { close(exited); }
  // Called with the owner's mutex held.
  void End(v1::JobExit how) {
    if (exit) return;
    exit = std::move(how);
    uint64_t one = 1;
    (void)!write(exited, &one, sizeof(one));
  }
  // From now on the parent has something to tell of it.
  void Expect() {
    if (!exit && !owed_since) owed_since = Clock::now();
  }
  Clock::time_point OwedSince(Clock::time_point now) const {
    if (exit) return now;
    if (owed_since) return *owed_since;
    // A job that closes its pipe and goes on is none of the parent's debts.
    return closed_at && HasEnded(pid) ? *closed_at : now;
  }
  const int exited;  // readable once `exit` is there
  std::optional<v1::JobExit> exit;
  int pid = 0;  // once it has started
  std::optional<Clock::time_point> owed_since;
  std::optional<Clock::time_point> closed_at;  // its pipe
};

void JobHandle::Kill() {
  std::lock_guard lock(mutex_);
  killed_ = true;
  if (kill_) kill_();
}

CompilerProcess::CompilerProcess(std::string path,
                                 std::function<void()> on_start,
                                 SandboxLevel minimum)
    : path_(std::move(path)),
      on_start_(std::move(on_start)),
      minimum_(minimum) {}

absl::StatusOr<std::unique_ptr<CompilerProcess>> CompilerProcess::Start(
    const std::string& path, std::function<void()> on_start,
    SandboxLevel minimum) {
  if (access(path.c_str(), X_OK) != 0) {
    return absl::NotFoundError("no compiler at " + path + ": " +
                               std::strerror(errno));
  }
  std::unique_ptr<CompilerProcess> process(
      new CompilerProcess(path, std::move(on_start), minimum));
  process->thread_ =
      std::make_unique<LoopThread>([self = process.get()] { self->Loop(); });
  std::unique_lock lock(process->mutex_);
  if (process->WaitUp(lock)) {
    lock.unlock();
    return process;
  }
  std::string refusal = process->refusal_;
  lock.unlock();
  if (!refusal.empty()) return absl::FailedPreconditionError(refusal);
  return absl::UnavailableError(path + " --fork-server did not start");
}

CompilerProcess::~CompilerProcess() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    if (socket_ >= 0) shutdown(socket_, SHUT_RDWR);
    if (pid_ > 0) kill(pid_, SIGKILL);
    changed_.notify_all();
  }
  thread_.reset();
}

std::string CompilerProcess::compiler_id() const {
  std::lock_guard lock(mutex_);
  return compiler_id_;
}

SandboxReport CompilerProcess::sandbox() const {
  std::lock_guard lock(mutex_);
  return sandbox_;
}

std::string CompilerProcess::refusal() const {
  std::lock_guard lock(mutex_);
  return refusal_;
}

int CompilerProcess::pid() const {
  std::lock_guard lock(mutex_);
  return socket_ >= 0 ? pid_ : 0;
}

milliseconds CompilerProcess::owes() const {
  auto now = Clock::now();
  auto since = now;
  std::lock_guard lock(mutex_);
  for (const auto& [id, job] : jobs_) {
    since = std::min(since, job->OwedSince(now));
  }
  return std::chrono::duration_cast<milliseconds>(now - since);
}

void CompilerProcess::Replace() {
  std::lock_guard lock(mutex_);
  if (pid_ > 0) kill(pid_, SIGKILL);
}

void CompilerProcess::SendKill(int64_t id) {
  auto job = jobs_.find(id);
  if (socket_ < 0 || job == jobs_.end()) return;
  v1::ToForkServer kill;
  kill.set_job(id);
  kill.mutable_kill();
  job->second->Expect();
  (void)Send(kill, -1);
}

bool CompilerProcess::WaitUp(std::unique_lock<std::mutex>& lock) {
  changed_.wait_for(lock, kStartLimit, [this] {
    return stopping_ || socket_ >= 0 || !refusal_.empty();
  });
  return !stopping_ && socket_ >= 0;
}

void CompilerProcess::Loop() {
  for (;;) {
    int socket = Spawn();
    if (socket >= 0) {
      on_start_();
      ReadUntilLost(socket);
    }
    int pid = 0;
    {
      std::lock_guard lock(mutex_);
      pid = pid_;
      socket_ = -1;
    }
    if (pid > 0) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    if (socket >= 0) close(socket);
    LoseJobs();
    std::unique_lock lock(mutex_);
    pid_ = 0;
    if (stopping_) return;
    spdlog::warn("the compiler's process {} ended; starting it again", pid);
    changed_.wait_for(lock, refusal_.empty() ? kRestartPause : kRefusedPause,
                      [this] { return stopping_; });
    if (stopping_) return;
  }
}

int CompilerProcess::Spawn() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
    return -1;
  }
  // A parent that does not read holds nobody up for longer.
  timeval limit = {1, 0};
  setsockopt(fds[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  std::vector<std::string> variables = CompilerEnvironment();
  std::vector<char*> environment;
  environment.reserve(variables.size() + 1);
  for (std::string& one : variables) environment.push_back(one.data());
  environment.push_back(nullptr);
  std::unique_lock lock(mutex_);
  pid_t pid = stopping_ ? -1 : fork();
  if (pid == 0) ExecCompiler(path_.c_str(), fds[1], environment.data());
  pid_ = pid > 0 ? pid : 0;
  lock.unlock();
  close(fds[1]);
  if (pid > 0) return fds[0];
  close(fds[0]);
  return -1;
}

void CompilerProcess::ReadUntilLost(int socket) {
  std::vector<char> buffer(kMaxPacketBytes);
  for (;;) {
    ssize_t got = recv(socket, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    v1::FromForkServer message;
    if (!message.ParseFromArray(buffer.data(), static_cast<int>(got))) return;
    if (message.has_hello()) {
      if (!Accept(message.hello(), socket)) return;
      continue;
    }
    Handle(message);
  }
}

bool CompilerProcess::Accept(const v1::ForkServerHello& hello, int socket) {
  SandboxReport sandbox = FromProto(hello.walls());
  std::lock_guard lock(mutex_);
  refusal_ = sandbox.Missing(minimum_);
  if (!compiler_id_.empty() && compiler_id_ != hello.compiler_id()) {
    // Actions in flight carry the old id: refuse to mix two compilers.
    refusal_ = "the compiler changed while foldd runs: restart foldd";
  }
  sandbox_ = sandbox;
  changed_.notify_all();
  if (!refusal_.empty()) {
    spdlog::error("{}", refusal_);
    return false;
  }
  compiler_id_ = hello.compiler_id();
  if (stopping_) return false;
  spdlog::info("sandbox of compile jobs: {}: {}",
               SandboxLevelName(sandbox.level()), sandbox.Summary());
  socket_ = socket;
  return true;
}

void CompilerProcess::Handle(const v1::FromForkServer& message) {
  if (message.has_started()) {
    spdlog::debug("job {} is process {}", message.job(),
                  message.started().pid());
  }
  std::lock_guard lock(mutex_);
  auto job = jobs_.find(message.job());
  if (job == jobs_.end()) return;
  if (message.has_started()) {
    job->second->pid = message.started().pid();
    job->second->owed_since.reset();
  }
  if (message.has_exit()) job->second->End(message.exit());
}

void CompilerProcess::LoseJobs() {
  std::lock_guard lock(mutex_);
  for (auto& [id, job] : jobs_) {
    job->End(Failed(v1::PARENT_LOST, "the compiler's process died"));
  }
}

bool CompilerProcess::Send(const v1::ToForkServer& message, int fd) {
  std::string bytes = message.SerializeAsString();
  iovec data = {bytes.data(), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (fd >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
  }
  // With the mutex held, so that the socket is not closed meanwhile.
  for (;;) {
    if (sendmsg(socket_, &header, MSG_NOSIGNAL) >= 0) return true;
    if (errno != EINTR) return false;
  }
}

v1::JobExit CompilerProcess::Run(
    const JobRequest& request, JobHandle* handle,
    const std::function<void(const v1::JobEvent&)>& on_event) {
  v1::ToForkServer message;
  v1::StartJob* start = message.mutable_start();
  start->mutable_arguments()->Assign(request.arguments.begin(),
                                     request.arguments.end());
  start->set_directory(request.folder);
  *start->mutable_limits() = request.limits;
  start->mutable_readable()->Assign(request.readable.begin(),
                                    request.readable.end());

  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) != 0) {
    return Failed(v1::START_FAILED, std::strerror(errno));
  }
  // The job's end blocks: it waits for a slow reader.
  fcntl(pipe_fds[1], F_SETFL, 0);
  auto job = std::make_shared<Job>();
  int64_t id = 0;
  {
    std::unique_lock lock(mutex_);
    if (!WaitUp(lock)) {
      job->End(Failed(v1::PARENT_LOST, "the compiler's process is down"));
    } else {
      id = next_job_++;
      message.set_job(id);
      jobs_[id] = job;
      job->Expect();
      if (!Send(message, pipe_fds[1])) {
        // It died a moment ago, or reads nothing.
        job->End(Failed(v1::PARENT_LOST, std::strerror(errno)));
      }
    }
  }
  close(pipe_fds[1]);
  {
    std::lock_guard lock(handle->mutex_);
    handle->kill_ = [this, id] {
      std::lock_guard inner(mutex_);
      SendKill(id);
    };
    if (handle->killed_) handle->kill_();
  }
  JobEventParser parser;
  bool open = true;
  for (bool ended = false; !ended;) {
    pollfd fds[] = {{job->exited, POLLIN, 0},
                    {open ? pipe_fds[0] : -1, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0) continue;
    ended = fds[0].revents != 0;
    if (open && (ended || fds[1].revents != 0)) {
      open = DrainPipe(pipe_fds[0], &parser, on_event);
      std::lock_guard lock(mutex_);
      if (!open) job->closed_at = Clock::now();
    }
  }
  close(pipe_fds[0]);
  {
    std::lock_guard lock(handle->mutex_);
    handle->kill_ = nullptr;
  }
  std::lock_guard lock(mutex_);
  jobs_.erase(id);
  return *job->exit;
}

}  // namespace fold
