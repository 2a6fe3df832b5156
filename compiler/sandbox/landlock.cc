#include "compiler/sandbox/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace fold {
namespace {

// What the headers of the build's kernel may lack.
constexpr uint64_t kTruncate = uint64_t{1} << 14;     // ABI 3
constexpr uint64_t kIoctlDevice = uint64_t{1} << 15;  // ABI 5
constexpr uint64_t kNetworkAll = 0b11;                // ABI 4: bind, connect
constexpr uint64_t kScopeAll = 0b11;  // ABI 6: abstract sockets, signals

struct RulesetAttributes {
  uint64_t files;
  uint64_t network;
  uint64_t scope;
};

// All rights of ABI 1.
constexpr uint64_t kFirstRights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

constexpr uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE;
constexpr uint64_t kRead = kReadFile | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kWriteFile = LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
constexpr uint64_t kWork = kRead | kWriteFile | LANDLOCK_ACCESS_FS_MAKE_REG |
                           LANDLOCK_ACCESS_FS_REMOVE_FILE;

uint64_t RightsOf(int abi) {
  uint64_t rights = kFirstRights;
  if (abi >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kIoctlDevice;
  return rights;
}

std::string Problem(const std::string& what) {
  return what + ": " + std::strerror(errno);
}

std::string Allow(int ruleset, const std::string& path, uint64_t rights) {
  int fd = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (fd < 0) return Problem(path);
  struct stat status = {};
  std::string error;
  if (fstat(fd, &status) != 0) {
    error = Problem(path);
  } else {
    // Rights of folders are an error on files.
    if (!S_ISDIR(status.st_mode)) rights &= kReadFile | kWriteFile;
    landlock_path_beneath_attr rule = {};
    rule.allowed_access = rights;
    rule.parent_fd = fd;
    if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH,
                &rule, 0) != 0) {
      error = Problem(path);
    }
  }
  close(fd);
  return error;
}

std::string Restrict(int ruleset, const LandlockRules& rules,
                     uint64_t handled) {
  std::string error;
  if (!rules.writable_folder.empty()) {
    error = Allow(ruleset, rules.writable_folder, kWork & handled);
  }
  for (const std::string& path : rules.readable) {
    if (error.empty()) error = Allow(ruleset, path, kRead);
  }
  if (error.empty() && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) {
    error = Problem("landlock_restrict_self");
  }
  return error;
}

}  // namespace

int LandlockAbi(std::string* why) {
  long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0,
                     LANDLOCK_CREATE_RULESET_VERSION);
  if (abi > 0) return static_cast<int>(abi);
  *why = errno == ENOSYS       ? "the kernel has no Landlock"
         : errno == EOPNOTSUPP ? "Landlock is switched off in the kernel"
                               : Problem("landlock_create_ruleset");
  return 0;
}

std::string RestrictWithLandlock(int abi, const LandlockRules& rules) {
  RulesetAttributes attributes = {RightsOf(abi), 0, 0};
  size_t size = sizeof(attributes.files);
  if (abi >= kLandlockNetworkAbi) {
    attributes.network = kNetworkAll;
    size += sizeof(attributes.network);
  }
  if (abi >= kLandlockScopeAbi) {
    attributes.scope = kScopeAll;
    size += sizeof(attributes.scope);
  }
  auto ruleset = static_cast<int>(
      syscall(SYS_landlock_create_ruleset, &attributes, size, 0));
  if (ruleset < 0) return Problem("landlock_create_ruleset");
  std::string error = Restrict(ruleset, rules, attributes.files);
  close(ruleset);
  return error;
}

}  // namespace fold
