// The life of a job's process from the fork to its end.
#ifndef FOLD_COMPILER_API_JOB_CHILD_H_
#define FOLD_COMPILER_API_JOB_CHILD_H_

#include <sys/types.h>

#include "compiler/api/fork_server.h"
#include "proto/foldd/v1/job.pb.h"

namespace fold {

// Exit codes that only this file gives.
inline constexpr int kJobOutOfMemoryExit = 71;
inline constexpr int kJobStartFailedExit = 72;

// Called in the child: confines the process as fork_server.h says, runs the
// program and exits with its code.
[[noreturn]] void RunJobChild(const foldd::v1::StartJob& start, int progress_fd,
                              pid_t parent, const ProgramMain& run);

}  // namespace fold

#endif  // FOLD_COMPILER_API_JOB_CHILD_H_
