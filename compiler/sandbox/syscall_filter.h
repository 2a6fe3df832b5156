// The system calls that a job may make (syscalls.def), as a seccomp filter.
// Built once, in the parent of all jobs; installed in each.
//
// What is not on the list fails with EPERM and the compile goes on: a library
// that tries something newer falls back, or says in words what it lacks. What
// only an attack does ends the process with SIGSYS: that is a crash of the
// compile, and counted as one. So do calls of another architecture's numbers.
#ifndef FOLD_COMPILER_SANDBOX_SYSCALL_FILTER_H_
#define FOLD_COMPILER_SANDBOX_SYSCALL_FILTER_H_

#include <cstdint>
#include <string>
#include <vector>

namespace fold {

class SyscallFilter {
 public:
  // Builds the filter. Returns what went wrong, or "".
  std::string Build();
  // Puts it around this process for good; needs Build and no_new_privs.
  // Signals reach this process alone afterwards. Returns what went wrong,
  // or "".
  std::string Install() const;

 private:
  // The kernel's sock_filter instructions.
  std::vector<uint64_t> program_;
};

}  // namespace fold

#endif  // FOLD_COMPILER_SANDBOX_SYSCALL_FILTER_H_
