// The server's end of the fork server (compiler/api/fork_server.h): keeps one
// compiler process alive, starts jobs in it and waits for them. If that
// process dies, its jobs end with PARENT_LOST and it is started again.
#ifndef FOLD_SERVER_COMPILER_PROCESS_H_
#define FOLD_SERVER_COMPILER_PROCESS_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/sandbox/walls.h"
#include "proto/foldd/v1/job.pb.h"
#include "server/worker_pool.h"

namespace fold {

struct JobRequest {
  std::vector<std::string> arguments;  // the program's name first
  std::string folder;                  // absolute
  foldd::v1::JobLimits limits;
  // Files and folders outside of `folder` that the job may read; absolute.
  std::vector<std::string> readable;
};

// Lets another thread end a job. One handle a job.
class JobHandle {
 public:
  // Ends the job, now or as soon as it is started. Any thread, any number of
  // times, also when the job is over.
  void Kill();

 private:
  friend class CompilerProcess;
  std::mutex mutex_;
  bool killed_ = false;
  std::function<void()> kill_;  // set while the job runs
};

class CompilerProcess {
 public:
  // Starts `path --fork-server FD` and waits for its hello. `on_start` is
  // called at each start. FAILED_PRECONDITION: its sandbox does not reach
  // `minimum`; the message names the wall and what to do. A later start that
  // does not reach it leaves the process down.
  static absl::StatusOr<std::unique_ptr<CompilerProcess>> Start(
      const std::string& path, std::function<void()> on_start,
      SandboxLevel minimum = SandboxLevel::kSeccomp);
  // Kills the compiler and all of its jobs.
  ~CompilerProcess();

  // Of the compiler that runs: part of every action.
  std::string compiler_id() const;
  // The walls around its jobs, as it found them at its last start.
  SandboxReport sandbox() const;
  // Why its last start was not accepted, "" if it was.
  std::string refusal() const;
  // 0 while it is down.
  int pid() const;
  // For how long it has owed an answer: to a start, to a kill, or how a job
  // ended whose pipe is closed. 0 if it owes none.
  std::chrono::milliseconds owes() const;
  // Kills it; it is started again, and its jobs end with PARENT_LOST.
  void Replace();

  // Runs a job to its end; blocks. `on_event` is called in this thread with
  // what the job says. Never throws work away: the result always says why the
  // job ended.
  foldd::v1::JobExit Run(
      const JobRequest& request, JobHandle* handle,
      const std::function<void(const foldd::v1::JobEvent&)>& on_event);

 private:
  struct Job;  // one that runs

  CompilerProcess(std::string path, std::function<void()> on_start,
                  SandboxLevel minimum);
  void Loop();
  // Starts the process; its socket, or -1.
  int Spawn();
  void ReadUntilLost(int socket);
  void Handle(const foldd::v1::FromForkServer& message);
  // Whether its jobs may be run.
  bool Accept(const foldd::v1::ForkServerHello& hello, int socket);
  void LoseJobs();
  bool Send(const foldd::v1::ToForkServer& message, int fd);
  // Called with the mutex held.
  void SendKill(int64_t id);
  // Waits until the process is up; false if that takes too long.
  bool WaitUp(std::unique_lock<std::mutex>& lock);

  const std::string path_;
  const std::function<void()> on_start_;
  const SandboxLevel minimum_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  int socket_ = -1;  // while the process is up and has said hello
  int pid_ = 0;
  std::string compiler_id_;
  SandboxReport sandbox_;
  std::string refusal_;  // why the last hello was not accepted
  int64_t next_job_ = 1;
  std::map<int64_t, std::shared_ptr<Job>> jobs_;
  std::unique_ptr<LoopThread> thread_;
};

}  // namespace fold

#endif  // FOLD_SERVER_COMPILER_PROCESS_H_
