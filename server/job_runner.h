// One compile, from its inputs to its outcome: makes the job's folder, has the
// compiler process run foldc there, and judges what it left. The bytes of the
// model pass through unread.
#ifndef FOLD_SERVER_JOB_RUNNER_H_
#define FOLD_SERVER_JOB_RUNNER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/api/action.h"
#include "proto/foldd/v1/job.pb.h"
#include "proto/foldd/v1/report.pb.h"
#include "server/cache/store.h"
#include "server/compiler_process.h"
#include "server/failure.h"

namespace fold {

struct CompileJob {
  CompileAction action;
  Bytes model;
  Bytes encodings;  // null: none
};

struct JobOutcome {
  std::optional<Failure> failure;
  // Without a failure:
  Bytes artifact;
  foldd::v1::CompileReport report;  // as foldc wrote it
  std::string dump;
  // In any case:
  foldd::v1::JobExit exit;
};

class JobRunner {
 public:
  // `folder` is emptied: what an earlier server left there is of no use.
  JobRunner(std::string folder, foldd::v1::JobLimits limits,
            CompilerProcess* compiler);

  // `traceparent`: the trace that the job is run for, which its events carry;
  // it is no part of the action.
  JobOutcome Run(
      const CompileJob& job, JobHandle* handle,
      const std::function<void(const foldd::v1::JobEvent&)>& on_event,
      const std::string& traceparent = "");

 private:
  std::optional<Failure> WriteInputs(const CompileJob& job,
                                     const std::string& folder) const;
  void Judge(const std::string& folder,
             const std::vector<foldd::v1::Diagnostic>& said,
             JobOutcome* outcome) const;
  void ReadResult(const std::string& folder, JobOutcome* outcome) const;
  Failure ExplainExit(const std::string& folder,
                      const std::vector<foldd::v1::Diagnostic>& said,
                      const foldd::v1::JobExit& exit) const;
  bool DiskIsFull() const;

  const std::string folder_;
  const foldd::v1::JobLimits limits_;
  CompilerProcess* const compiler_;
  std::atomic<int64_t> next_{1};
};

}  // namespace fold

#endif  // FOLD_SERVER_JOB_RUNNER_H_
