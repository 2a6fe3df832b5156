#include "compiler/sandbox/privileges.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "compiler/sandbox/sanitized.h"

namespace fold {
namespace {

std::string Outcome(bool done, const char* what) {
  return done ? "" : std::string(what) + ": " + std::strerror(errno);
}

}  // namespace

std::string SetNoNewPrivileges() {
  return Outcome(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                     prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1,
                 "no_new_privs");
}

std::string DropCapabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capset, &header, data) != 0) {
    return Outcome(false, "capset");
  }
  // What stands in the kernel, not what was asked for.
  if (syscall(SYS_capget, &header, data) != 0) {
    return Outcome(false, "capget");
  }
  for (const __user_cap_data_struct& word : data) {
    if ((word.effective | word.permitted | word.inheritable) != 0) {
      return "capabilities are left";
    }
  }
  return "";
}

std::string HideMemory() {
  return Outcome(kSanitized || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0,
                 "dumpable");
}

void OfferToOutOfMemoryKiller() {
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  constexpr std::string_view kFirst = "1000";
  (void)!write(fd, kFirst.data(), kFirst.size());
  close(fd);
}

}  // namespace fold
