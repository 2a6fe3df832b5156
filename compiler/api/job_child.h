// The life of a job's process from the fork to its end.
#ifndef FOLD_COMPILER_API_JOB_CHILD_H_
#define FOLD_COMPILER_API_JOB_CHILD_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "compiler/api/fork_server.h"
#include "compiler/sandbox/sandbox.h"
#include "proto/foldd/v1/job.pb.h"

namespace fold {

// Exit codes that only this file gives.
inline constexpr int kJobOutOfMemoryExit = 71;
inline constexpr int kJobStartFailedExit = 72;

// Called in the child: confines the process as fork_server.h says, runs the
// program and exits with its code. A wall that stood in the sandbox's probe
// and cannot be put up now ends the job before it runs.
[[noreturn]] void RunJobChild(const foldd::v1::StartJob& start, int progress_fd,
                              pid_t parent, const Sandbox& sandbox,
                              const ProgramMain& run);

// Runs the program with these words, and answers what it throws: the exit
// code.
int RunProgram(std::vector<std::string> words, const ProgramMain& run);

ResourceLimits FromProto(const foldd::v1::JobLimits& limits);

}  // namespace fold

#endif  // FOLD_COMPILER_API_JOB_CHILD_H_
