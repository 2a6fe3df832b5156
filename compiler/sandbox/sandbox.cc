#include "compiler/sandbox/sandbox.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "compiler/sandbox/landlock.h"
#include "compiler/sandbox/privileges.h"
#include "compiler/sandbox/probe.h"
#include "compiler/sandbox/sanitized.h"

namespace fold {
namespace {

constexpr char kSanitizerNote[] = "widened for a sanitizer's build";

// What a sanitizer's runtime reads: its own maps, and the program's files when
// it names the functions of a fault.
std::vector<std::string> SanitizerFiles() {
  if (!kSanitized) return {};
  std::vector<std::string> files = {"/proc", "/usr"};
  char program[4096] = {};
  if (readlink("/proc/self/exe", program, sizeof(program) - 1) > 0) {
    files.emplace_back(program);
  }
  return files;
}

// "" if the last call was refused with `expected`.
std::string Refused(bool done, int expected, const char* what) {
  if (done) return std::string(what) + " is still possible";
  if (errno == expected) return "";
  return std::string(what) + ": " + std::strerror(errno);
}

std::string TryLimits() {
  constexpr int64_t kFiles = 16;
  std::string error = SetLimits({.open_files = kFiles});
  if (!error.empty()) return error;
  bool refused = false;
  for (int64_t i = 0; i <= kFiles && !refused; ++i) refused = dup(0) < 0;
  if (!refused || errno != EMFILE) return "descriptors are not limited";
  rlimit limit = {};
  if (getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur != 0 ||
      getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_cur != 0) {
    return "processes or core files are not limited";
  }
  return "";
}

std::string TryAddressSpace() {
  if (kSanitized) return "not in a sanitizer's build";
  constexpr int64_t kRoom = 1 << 20;
  std::string error = SetLimits({.memory_bytes = kRoom});
  if (!error.empty()) return error;
  void* memory = mmap(nullptr, 2 * kRoom, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return Refused(memory != MAP_FAILED, ENOMEM, "more memory");
}

std::string TryFilter(const SyscallFilter& filter) {
  std::string error = SetNoNewPrivileges();
  if (error.empty()) error = filter.Install();
  if (!error.empty()) return error;
  return Refused(socket(AF_INET, SOCK_STREAM, 0) >= 0, EPERM, "a socket");
}

std::string EnterLandlock(int abi) {
  std::string error = SetNoNewPrivileges();
  return error.empty() ? RestrictWithLandlock(abi, {}) : error;
}

std::string TryFiles(int abi) {
  std::string error = EnterLandlock(abi);
  if (!error.empty()) return error;
  return Refused(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0, EACCES,
                 "reading /");
}

std::string TryNetwork(int abi) {
  std::string error = EnterLandlock(abi);
  if (!error.empty()) return error;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return Refused(bind(fd, reinterpret_cast<const sockaddr*>(&address),
                      sizeof(address)) == 0,
                 EACCES, "a port");
}

std::string TryScope(int abi) {
  std::string error = EnterLandlock(abi);
  if (!error.empty()) return error;
  return Refused(kill(getppid(), 0) == 0, EPERM, "a signal to the parent");
}

}  // namespace

Sandbox::Sandbox() {
  auto probe = [this](Wall wall, const std::function<std::string()>& attempt) {
    std::string fault = TryInChild(attempt);
    report_[wall] = {fault.empty(), fault};
  };
  probe(Wall::kLimits, TryLimits);
  probe(Wall::kAddressSpace, TryAddressSpace);
  probe(Wall::kNoNewPrivileges, SetNoNewPrivileges);
  probe(Wall::kCapabilities, DropCapabilities);
  std::string fault = filter_.Build();
  probe(Wall::kSeccomp,
        [&] { return fault.empty() ? TryFilter(filter_) : fault; });
  report_[Wall::kStrictCalls] = {report_[Wall::kSeccomp].stands && !kSanitized,
                                 kSanitized ? kSanitizerNote : ""};
  ProbeLandlock();
}

void Sandbox::ProbeLandlock() {
  std::string why;
  landlock_abi_ = LandlockAbi(&why);
  struct Row {
    Wall wall;
    int abi;
    std::string (*attempt)(int abi);
  };
  static constexpr Row kRows[] = {
      {Wall::kLandlockFiles, 1, TryFiles},
      {Wall::kLandlockNetwork, kLandlockNetworkAbi, TryNetwork},
      {Wall::kLandlockScope, kLandlockScopeAbi, TryScope},
  };
  std::string version = "ABI " + std::to_string(landlock_abi_);
  for (const Row& row : kRows) {
    std::string fault = why;
    if (fault.empty() && landlock_abi_ < row.abi) {
      fault = "needs ABI " + std::to_string(row.abi) + ", the kernel has " +
              version;
    }
    if (fault.empty()) {
      fault = TryInChild([&] { return row.attempt(landlock_abi_); });
    }
    report_[row.wall] = {fault.empty(), fault.empty() ? version : fault};
  }
  if (kSanitized && report_[Wall::kLandlockFiles].stands) {
    report_[Wall::kLandlockFiles].detail += std::string(", ") + kSanitizerNote;
  }
}

std::string Sandbox::Enclose(const JobWalls& walls) const {
  auto stands = [this](Wall wall) { return report_[wall].stands; };
  std::string error;
  auto put_up = [&](Wall wall, const std::function<std::string()>& build) {
    if (!error.empty() || !stands(wall)) return;
    error = build();
    if (!error.empty()) {
      std::string name(WallTable()[static_cast<size_t>(wall)].name);
      error = "the wall '" + name + "' cannot be put up: " + error;
    }
  };
  put_up(Wall::kLimits, [&] { return SetLimits(walls.limits); });
  put_up(Wall::kCapabilities, DropCapabilities);
  put_up(Wall::kNoNewPrivileges, [] {
    std::string fault = SetNoNewPrivileges();
    return fault.empty() ? HideMemory() : fault;
  });
  put_up(Wall::kLandlockFiles, [&] {
    LandlockRules rules = {walls.folder, walls.readable};
    for (std::string& file : SanitizerFiles()) rules.readable.push_back(file);
    return RestrictWithLandlock(landlock_abi_, rules);
  });
  put_up(Wall::kSeccomp, [&] { return filter_.Install(); });
  return error;
}

}  // namespace fold
