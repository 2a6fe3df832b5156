// A job's limits, as the kernel's resource limits.
#ifndef FOLD_COMPILER_SANDBOX_LIMITS_H_
#define FOLD_COMPILER_SANDBOX_LIMITS_H_

#include <cstdint>
#include <string>

namespace fold {

// 0 leaves a limit as it is.
struct ResourceLimits {
  int64_t memory_bytes = 0;  // address space; not in a sanitizer's build
  int64_t cpu_seconds = 0;   // SIGXCPU then, SIGKILL a second later
  int64_t file_bytes = 0;    // of one file
  int64_t open_files = 0;
};

// Sets them for this process and, whatever they are: no child processes, no
// core files, no locked memory, no message queues. Never raises what is lower
// already. Returns what went wrong, or "".
std::string SetLimits(const ResourceLimits& limits);

}  // namespace fold

#endif  // FOLD_COMPILER_SANDBOX_LIMITS_H_
