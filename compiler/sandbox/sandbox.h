// The sandbox of compile jobs. The parent of all jobs makes one: it builds
// what they share and finds out which walls stand on this machine, by putting
// each up in a child and trying it. Each job then encloses itself.
#ifndef FOLD_COMPILER_SANDBOX_SANDBOX_H_
#define FOLD_COMPILER_SANDBOX_SANDBOX_H_

#include <string>
#include <vector>

#include "compiler/sandbox/limits.h"
#include "compiler/sandbox/syscall_filter.h"
#include "compiler/sandbox/walls.h"

namespace fold {

// What one job may use.
struct JobWalls {
  // The folder in which it works, "" for none.
  std::string folder;
  // Files and folders outside of it that it may read.
  std::vector<std::string> readable;
  ResourceLimits limits;
};

class Sandbox {
 public:
  // Forks a child for each wall; the calling process must have one thread.
  Sandbox();

  const SandboxReport& report() const { return report_; }

  // In a job's process: puts up every wall that stood in the probe. Returns
  // which one could not be, or ""; after a fault nothing must be run.
  std::string Enclose(const JobWalls& walls) const;

 private:
  void ProbeLandlock();

  int landlock_abi_ = 0;
  SyscallFilter filter_;
  SandboxReport report_;
};

}  // namespace fold

#endif  // FOLD_COMPILER_SANDBOX_SANDBOX_H_
