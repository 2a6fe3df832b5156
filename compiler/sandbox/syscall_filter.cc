#include "compiler/sandbox/syscall_filter.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "compiler/sandbox/sanitized.h"

namespace fold {
namespace {

static_assert(sizeof(sock_filter) == sizeof(uint64_t));

using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

// A comparison of an argument (from 0) with a number, under a mask if there is
// one.
scmp_arg_cmp Is(unsigned argument, uint64_t value) {
  return {argument, SCMP_CMP_EQ, value, 0};
}
scmp_arg_cmp IsNot(unsigned argument, uint64_t value) {
  return {argument, SCMP_CMP_NE, value, 0};
}
scmp_arg_cmp Has(unsigned argument, uint64_t mask, uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

// Adds rules and remembers the first that failed.
class Rules {
 public:
  explicit Rules(scmp_filter_ctx filter) : filter_(filter) {}

  template <typename... Conditions>
  void Add(const char* name, uint32_t action, int call,
           Conditions... conditions) {
    int error = seccomp_rule_add(filter_, action, call,
                                 static_cast<unsigned>(sizeof...(conditions)),
                                 conditions...);
    if (error != 0 && fault_.empty()) {
      fault_ = std::string(name) + ": " + std::strerror(-error);
    }
  }
  void Set(scmp_filter_attr attribute, uint32_t value) {
    int error = seccomp_attr_set(filter_, attribute, value);
    if (error != 0 && fault_.empty()) fault_ = std::strerror(-error);
  }
  const std::string& fault() const { return fault_; }

 private:
  scmp_filter_ctx filter_;
  std::string fault_;
};

void AddTable(Rules* rules) {
#define FOLD_CALL_ALLOWED(name) \
  rules->Add(#name, SCMP_ACT_ALLOW, SCMP_SYS(name));
#define FOLD_CALL_SANITIZER(name) \
  if (kSanitized) rules->Add(#name, SCMP_ACT_ALLOW, SCMP_SYS(name));
#define FOLD_CALL_FATAL(name) \
  rules->Add(#name, SCMP_ACT_KILL_PROCESS, SCMP_SYS(name));
#include "compiler/sandbox/syscalls.def"
#undef FOLD_CALL_ALLOWED
#undef FOLD_CALL_SANITIZER
#undef FOLD_CALL_FATAL
}

// O_TRUNC with an open for reading cuts files that Landlock, before its third
// version, only guards against writing.
void AddOpen(Rules* rules) {
  constexpr uint64_t kModeAndCut = O_ACCMODE | O_TRUNC;
  auto allow = [&](uint64_t mask, uint64_t value) {
    rules->Add("openat", SCMP_ACT_ALLOW, SCMP_SYS(openat), Has(2, mask, value));
  };
  allow(O_TRUNC, 0);
  allow(kModeAndCut, O_TRUNC | O_WRONLY);
  allow(kModeAndCut, O_TRUNC | O_RDWR);
}

// No code but the program's own.
void AddMemory(Rules* rules) {
  if (kSanitized) {
    rules->Add("mmap", SCMP_ACT_ALLOW, SCMP_SYS(mmap));
    rules->Add("mprotect", SCMP_ACT_ALLOW, SCMP_SYS(mprotect));
    return;
  }
  auto no_code = Has(2, PROT_EXEC, 0);
  rules->Add("mmap", SCMP_ACT_ALLOW, SCMP_SYS(mmap), no_code);
  rules->Add("mprotect", SCMP_ACT_ALLOW, SCMP_SYS(mprotect), no_code);
}

// Not the commands by which a descriptor sends signals to other processes.
void AddDescriptors(Rules* rules) {
  for (int command : {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL}) {
    rules->Add("fcntl", SCMP_ACT_ALLOW, SCMP_SYS(fcntl),
               Is(1, static_cast<uint64_t>(command)));
  }
}

void AddProcess(Rules* rules) {
  // Its own limits may be read.
  rules->Add("prlimit64", SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), Is(0, 0),
             Is(2, 0));
  // To which process is for the second filter.
  rules->Add("tgkill", SCMP_ACT_ALLOW, SCMP_SYS(tgkill));
  // A C library takes this as "ask clone", which then says no.
  rules->Add("clone3", SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));
  if (kSanitized) {
    rules->Add("clone", SCMP_ACT_ALLOW, SCMP_SYS(clone),
               Has(0, CLONE_THREAD, CLONE_THREAD));
  }
}

std::string Export(scmp_filter_ctx filter, std::vector<uint64_t>* program) {
  int fd = memfd_create("filter", MFD_CLOEXEC);
  if (fd < 0) return std::string("memfd_create: ") + std::strerror(errno);
  int error = -seccomp_export_bpf(filter, fd);
  off_t size = error == 0 ? lseek(fd, 0, SEEK_END) : 0;
  program->resize(static_cast<size_t>(size) / sizeof(uint64_t));
  if (error == 0 && pread(fd, program->data(), static_cast<size_t>(size), 0) !=
                        static_cast<ssize_t>(size)) {
    error = EIO;
  }
  close(fd);
  return error == 0 ? "" : std::string("seccomp: ") + std::strerror(error);
}

// Signals go to this process alone: its number is not known before the fork.
std::string InstallOwnSignals() {
  Filter filter(seccomp_init(SCMP_ACT_ALLOW), seccomp_release);
  if (filter == nullptr) return "seccomp: out of memory";
  Rules rules(filter.get());
  rules.Set(SCMP_FLTATR_CTL_NNP, 0);
  rules.Add("tgkill", SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tgkill),
            IsNot(0, static_cast<uint64_t>(getpid())));
  if (!rules.fault().empty()) return "seccomp: " + rules.fault();
  int error = seccomp_load(filter.get());
  return error == 0 ? "" : std::string("seccomp: ") + std::strerror(-error);
}

}  // namespace

std::string SyscallFilter::Build() {
  Filter filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release);
  if (filter == nullptr) return "seccomp: out of memory";
  Rules rules(filter.get());
  rules.Set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  rules.Set(SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a search tree, not a list
  AddTable(&rules);
  AddOpen(&rules);
  AddMemory(&rules);
  AddDescriptors(&rules);
  AddProcess(&rules);
  if (!rules.fault().empty()) return "seccomp: " + rules.fault();
  return Export(filter.get(), &program_);
}

std::string SyscallFilter::Install() const {
  if (program_.empty()) return "seccomp: no filter was built";
  std::string error = InstallOwnSignals();
  if (!error.empty()) return error;
  std::vector<sock_filter> instructions(program_.size());
  std::memcpy(instructions.data(), program_.data(),
              program_.size() * sizeof(uint64_t));
  sock_fprog program = {static_cast<unsigned short>(instructions.size()),
                        instructions.data()};
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
    return std::string("seccomp: ") + std::strerror(errno);
  }
  return "";
}

}  // namespace fold
