#include "server/testing/chaos.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

namespace fold {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

void Sleep(int limit) { std::this_thread::sleep_for(milliseconds(limit)); }

}  // namespace

bool MountSmallDisk(const std::string& folder, int64_t bytes) {
  std::string size = "size=" + std::to_string(bytes);
  return (unshare(CLONE_NEWNS) == 0 ||
          unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", folder.c_str(), "tmpfs", 0, size.c_str()) == 0;
}

Chaos::Cancellable::Cancellable(Chaos* chaos, grpc::ClientContext* context)
    : chaos_(chaos), context_(context) {
  std::lock_guard lock(chaos_->mutex_);
  chaos_->calls_.insert(this);
}

Chaos::Cancellable::~Cancellable() {
  std::lock_guard lock(chaos_->mutex_);
  chaos_->calls_.erase(this);
}

Chaos::Chaos(ServerOptions options, uint32_t seed, bool own_disk)
    : options_(std::move(options)), own_disk_(own_disk), random_(seed) {}

int Chaos::Random(int limit) {
  return static_cast<int>(random_() % static_cast<uint32_t>(limit));
}

std::shared_ptr<ServerProcess> Chaos::server() const {
  std::lock_guard lock(mutex_);
  return server_;
}

bool Chaos::Start() {
  auto started = std::make_shared<ServerProcess>(options_);
  if (!started->started()) return false;
  std::lock_guard lock(mutex_);
  server_ = std::move(started);
  ++epoch_;
  return true;
}

void Chaos::Step() {
  Sleep(30 + Random(200));
  int what = Random(100);
  if (what < 22) {
    KillJob(SIGKILL);
  } else if (what < 38) {
    KillJob(SIGSEGV);
  } else if (what < 48) {
    KillParent();
  } else if (what < 53) {
    StopParent();
  } else if (what < 68) {
    CancelCalls();
  } else if (what < 75) {
    Restart(SIGKILL);
  } else if (what < 79) {
    Restart(SIGTERM);
  } else if (what < 82) {
    StopServer();
  } else if (what < 92) {
    DamageBlob();
  } else {
    FillForAWhile();
  }
}

void Chaos::KillJob(int signal) {
  std::vector<pid_t> jobs = server()->Jobs();
  if (jobs.empty()) return;
  kill(jobs[static_cast<size_t>(Random(static_cast<int>(jobs.size())))],
       signal);
  ++counts_[signal == SIGKILL ? "jobs killed" : "jobs crashed"];
}

void Chaos::KillParent() {
  pid_t parent = server()->CompilerParent();
  if (parent <= 0) return;
  kill(parent, SIGKILL);
  ++counts_["parents killed"];
}

void Chaos::StopParent() {
  pid_t parent = server()->CompilerParent();
  if (parent <= 0) return;
  kill(parent, SIGSTOP);
  Sleep(500 + Random(1000));
  // Unless it was replaced meanwhile.
  if (server()->CompilerParent() == parent) kill(parent, SIGCONT);
  ++counts_["parents stopped"];
}

void Chaos::StopServer() {
  server()->Signal(SIGSTOP);
  Sleep(1000);
  server()->Signal(SIGCONT);
  ++counts_["servers stopped"];
}

void Chaos::Restart(int signal) {
  ++epoch_;
  server()->Signal(signal);
  int code = server()->Wait();
  if (signal == SIGTERM && code != 0) {
    faults_.push_back("SIGTERM: exit code " + std::to_string(code));
  }
  ++counts_[signal == SIGKILL ? "servers killed" : "servers terminated"];
  Sleep(Random(200));
  if (Start()) return;
  // With a full disk it may refuse; not without.
  ++counts_["starts refused"];
  FreeDisk();
  if (!Start()) faults_.push_back("does not start again");
}

void Chaos::CancelCalls() {
  std::lock_guard lock(mutex_);
  for (Cancellable* call : calls_) {
    if (Random(2) == 0) continue;
    call->cancelled_ = true;
    call->context_->TryCancel();
    ++counts_["calls cancelled"];
  }
}

void Chaos::FillDisk() {
  filled_ = true;
  const std::string block(1 << 16, 'f');
  std::string path = options_.data + "/filler";
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return;
  // To the last byte, while others write, too.
  for (size_t size = block.size(); size > 0;) {
    if (write(fd, block.data(), size) <= 0) size /= 2;
  }
  close(fd);
  ++counts_["disks filled"];
}

void Chaos::FillForAWhile() {
  if (!own_disk_) return;
  FillDisk();
  if (Random(3) == 0) Restart(Random(2) == 0 ? SIGKILL : SIGTERM);
  Sleep(200 + Random(800));
  FreeDisk();
}

void Chaos::FreeDisk() {
  std::error_code error;
  fs::remove(options_.data + "/filler", error);
}

void Chaos::DamageBlob() {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator all(
      options_.data + "/cache/instances/_/blobs", error);
  for (; !error && all != fs::recursive_directory_iterator();
       all.increment(error)) {
    std::error_code gone;
    if (all->is_regular_file(gone)) files.push_back(all->path());
  }
  if (files.empty()) return;
  damaged_ = true;
  const std::string& path =
      files[static_cast<size_t>(Random(static_cast<int>(files.size())))];
  int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  off_t size = lseek(fd, 0, SEEK_END);
  char byte = 0;
  off_t at = size > 0 ? Random(static_cast<int>(size)) : 0;
  if (pread(fd, &byte, 1, at) == 1) {
    byte = static_cast<char>(byte ^ 0x10);
    if (pwrite(fd, &byte, 1, at) == 1) ++counts_["blobs damaged"];
  }
  close(fd);
}

bool Chaos::Calm() {
  FreeDisk();
  server()->Signal(SIGCONT);
  return server()->started() && server()->pid() > 0;
}

}  // namespace fold
