// The parent of compile jobs: a process with one thread that has warmed what
// every compile needs, has read no client's bytes, and forks a child a job.
// `foldc --fork-server FD` runs it; foldd starts that and speaks
// proto/foldd/v1/job.proto over a Unix socket (SOCK_SEQPACKET).
//
// A job runs in a process group of its own, in its own folder, with an empty
// environment, stdin empty, stdout and stderr in files of that folder, the
// progress pipe as descriptor kJobProgressFd, no other descriptor, and under
// limits of memory, CPU time, wall time, file size and descriptors, behind the
// walls of compiler/sandbox. What is in the folder when it starts it may read
// and not write. It dies with the parent; the parent ends, and kills its jobs,
// when the other end of the socket closes.
//
// The parent finds out at its start which walls stand, and says so in its
// hello. Each job puts up all of these or does not run.
#ifndef FOLD_COMPILER_API_FORK_SERVER_H_
#define FOLD_COMPILER_API_FORK_SERVER_H_

#include <functional>
#include <string>

namespace fold {

// The progress pipe's descriptor in a job.
inline constexpr int kJobProgressFd = 3;
// Names, in a job's folder, of what it prints.
inline constexpr char kJobStdoutFile[] = "stdout";
inline constexpr char kJobStderrFile[] = "stderr";

// A program's main: takes argc and argv (with the program's name and a null
// pointer at the end), returns the exit code.
using ProgramMain = std::function<int(int argc, char** argv)>;

// Serves `socket_fd`, which it owns, until its other end closes; returns the
// exit code of the parent process. The calling process must have one thread.
int RunForkServer(int socket_fd, const std::string& compiler_id,
                  const ProgramMain& run);

}  // namespace fold

#endif  // FOLD_COMPILER_API_FORK_SERVER_H_
