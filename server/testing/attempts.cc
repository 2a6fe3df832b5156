#include "server/testing/attempts.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <map>

namespace fold {
namespace {

std::string Outcome(bool done) {
  return done ? "done" : strerrorname_np(errno);
}

std::string Open(const std::string& path, int flags) {
  int fd = open(path.c_str(), flags | O_CLOEXEC, 0600);
  std::string outcome = Outcome(fd >= 0);
  if (fd >= 0) close(fd);
  return outcome;
}

std::string Socket(int family, int type) {
  int fd = socket(family, type, 0);
  std::string outcome = Outcome(fd >= 0);
  if (fd >= 0) close(fd);
  return outcome;
}

std::string Connect(const std::string& port) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::atoi(port.c_str())));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return Outcome(connect(fd, reinterpret_cast<const sockaddr*>(&address),
                         sizeof(address)) == 0);
}

std::string Fork() {
  pid_t pid = fork();
  if (pid == 0) _exit(0);
  std::string outcome = Outcome(pid > 0);
  if (pid > 0) waitpid(pid, nullptr, 0);
  return outcome;
}

std::string ForkBomb() {
  // Many that wait, and the error that ends it.
  for (int i = 0; i < 10'000; ++i) {
    pid_t pid = fork();
    if (pid == 0) {
      pause();
      _exit(0);
    }
    if (pid < 0) return Outcome(false);
  }
  return "done";
}

std::string Exec(const std::string& path) {
  const char* argv[] = {path.c_str(), nullptr};
  execv(path.c_str(), const_cast<char**>(argv));
  return Outcome(false);
}

std::string Environment() {
  std::string seen;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    seen += std::string(seen.empty() ? "" : " ") + *one;
  }
  return seen.empty() ? "none" : seen;
}

std::string Descriptors() {
  std::string seen;
  for (int fd = 0; fd < 1024; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) continue;
    seen += (seen.empty() ? "" : " ") + std::to_string(fd);
  }
  return seen;
}

std::string OpenMany() {
  for (int i = 0; i < 5000; ++i) {
    if (dup(STDIN_FILENO) < 0) return Outcome(false);
  }
  return "done";
}

std::string ReadMemoryOfParent() {
  char byte = 0;
  iovec here = {&byte, 1}, there = {&byte, 1};
  return Outcome(process_vm_readv(getppid(), &here, 1, &there, 1, 0) == 1);
}

std::string Code() {
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return Outcome(memory != MAP_FAILED);
}

std::string Limits() {
  std::string seen;
  for (auto resource : {RLIMIT_CORE, RLIMIT_NPROC, RLIMIT_MEMLOCK}) {
    rlimit limit = {};
    getrlimit(resource, &limit);
    seen += (seen.empty() ? "" : " ") + std::to_string(limit.rlim_max);
  }
  return seen;
}

std::string RaiseLimit() {
  rlimit limit = {1 << 20, 1 << 20};
  return Outcome(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

std::string Call(long number) {
  return Outcome(syscall(number, 0, 0, 0, 0, 0, 0) >= 0);
}

using Table =
    std::map<std::string, std::function<std::string(const std::string&)>>;

void AddFiles(Table* table) {
  auto add = [&](const char* name, auto attempt) { (*table)[name] = attempt; };
  using Path = const std::string&;
  add("open", [](Path path) { return Open(path, O_RDONLY); });
  add("list", [](Path path) { return Open(path, O_RDONLY | O_DIRECTORY); });
  add("write", [](Path path) { return Open(path, O_WRONLY | O_CREAT); });
  add("cut", [](Path path) { return Open(path, O_RDONLY | O_TRUNC); });
  add("chmod",
      [](Path path) { return Outcome(chmod(path.c_str(), 0600) == 0); });
  add("mkdir",
      [](Path path) { return Outcome(mkdir(path.c_str(), 0700) == 0); });
  add("symlink",
      [](Path path) { return Outcome(symlink("/", path.c_str()) == 0); });
  add("link", [](Path path) {
    return Outcome(link(path.c_str(), "another-name") == 0);
  });
  add("remove", [](Path path) { return Outcome(unlink(path.c_str()) == 0); });
  add("move-in",
      [](Path path) { return Outcome(rename(path.c_str(), "taken") == 0); });
  add("fifo",
      [](Path path) { return Outcome(mkfifo(path.c_str(), 0600) == 0); });
}

void AddNetwork(Table* table) {
  auto add = [&](const char* name, auto attempt) { (*table)[name] = attempt; };
  using Text = const std::string&;
  add("connect", [](Text port) { return Connect(port); });
  add("udp", [](Text) { return Socket(AF_INET, SOCK_DGRAM); });
  add("tcp6", [](Text) { return Socket(AF_INET6, SOCK_STREAM); });
  add("unix-socket", [](Text) { return Socket(AF_UNIX, SOCK_STREAM); });
  add("netlink", [](Text) { return Socket(AF_NETLINK, SOCK_RAW); });
}

void AddProcesses(Table* table) {
  auto add = [&](const char* name, auto attempt) { (*table)[name] = attempt; };
  using Text = const std::string&;
  add("fork", [](Text) { return Fork(); });
  add("fork-bomb", [](Text) { return ForkBomb(); });
  add("exec", [](Text path) { return Exec(path); });
  add("ptrace", [](Text) {
    return Outcome(ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0);
  });
  add("read-memory", [](Text) { return ReadMemoryOfParent(); });
  add("kill-parent", [](Text) { return Outcome(kill(getppid(), 0) == 0); });
  add("kill-all", [](Text) { return Outcome(kill(-1, 0) == 0); });
  add("signal-by-file", [](Text) {
    return Outcome(fcntl(STDIN_FILENO, F_SETOWN, getppid()) == 0);
  });
  add("unshare", [](Text) { return Outcome(unshare(CLONE_NEWUSER) == 0); });
  add("mount", [](Text) {
    return Outcome(mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ==
                   0);
  });
  add("chroot", [](Text) { return Outcome(chroot(".") == 0); });
  add("setuid", [](Text) { return Outcome(setuid(1) == 0); });
  add("priority",
      [](Text) { return Outcome(setpriority(PRIO_PROCESS, 0, -20) == 0); });
  add("code", [](Text) { return Code(); });
  add("keyctl", [](Text) { return Call(SYS_keyctl); });
  add("bpf", [](Text) { return Call(SYS_bpf); });
  add("io_uring", [](Text) { return Call(SYS_io_uring_setup); });
  add("perf", [](Text) { return Call(SYS_perf_event_open); });
  add("userfaultfd", [](Text) { return Call(SYS_userfaultfd); });
}

void AddInheritance(Table* table) {
  auto add = [&](const char* name, auto attempt) { (*table)[name] = attempt; };
  using Text = const std::string&;
  add("environment", [](Text) { return Environment(); });
  add("descriptors", [](Text) { return Descriptors(); });
  add("open-many", [](Text) { return OpenMany(); });
  add("limits", [](Text) { return Limits(); });
  add("raise-limit", [](Text) { return RaiseLimit(); });
}

}  // namespace

std::string Attempt(const std::string& what, const std::string& argument) {
  Table table;
  AddFiles(&table);
  AddNetwork(&table);
  AddProcesses(&table);
  AddInheritance(&table);
  auto found = table.find(what);
  return found == table.end() ? "unknown" : found->second(argument);
}

}  // namespace fold
