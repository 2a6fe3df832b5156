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
#include "server/cache/blob_cache.h"
#include "server/cache/store.h"
#include "server/compiler_process.h"
#include "server/failure.h"
#include "server/reproducer_folder.h"

namespace fold {

// A file that the job reads: in the request, or a blob that is held for it.
struct JobInput {
  std::string name;  // in the job's folder
  Bytes bytes;       // null: this blob
  SizedKey blob;
};

struct CompileJob {
  CompileAction action;
  std::string instance;  // the namespace of its blobs
  // Beside the target's descriptor, which is in the action.
  std::vector<JobInput> inputs;
  // Of the blobs among them, until the job is over.
  std::shared_ptr<const std::vector<Lease>> leases;
};

struct JobOutcome {
  std::optional<Failure> failure;
  // Without a failure:
  Bytes artifact;
  foldd::v1::CompileReport report;  // as foldc wrote it
  std::string dump;
  // In any case:
  foldd::v1::JobExit exit;
  std::vector<foldd::v1::Diagnostic> said;  // before its end
};

class JobRunner {
 public:
  // `folder` is emptied: what an earlier server left there is of no use.
  // Inputs that are blobs come from `blobs`; null where no job has such inputs.
  // Bundles of compiles that crash are kept in `reproducers`, null: nowhere.
  // The action's own timeout goes before the wall time of `limits`.
  JobRunner(std::string folder, foldd::v1::JobLimits limits,
            CompilerProcess* compiler, BlobCache* blobs = nullptr,
            ReproducerFolder* reproducers = nullptr);

  // Of the compiler that runs the jobs.
  std::string compiler_id() const { return compiler_->compiler_id(); }

  // `traceparent`: the trace that the job is run for, which its events carry;
  // it is no part of the action.
  JobOutcome Run(
      const CompileJob& job, JobHandle* handle,
      const std::function<void(const foldd::v1::JobEvent&)>& on_event,
      const std::string& traceparent = "");

 private:
  std::optional<Failure> WriteInputs(const CompileJob& job,
                                     const std::string& folder) const;
  std::optional<Failure> CopyBlob(const SizedKey& blob,
                                  const std::string& path) const;
  void Judge(const std::string& folder, const foldd::v1::JobLimits& limits,
             JobOutcome* outcome) const;
  // Makes the bundle of a compile that crashed, and names it in its failure.
  void KeepReproducer(const CompileJob& job, const std::string& folder,
                      const std::vector<InputFile>& inputs,
                      JobOutcome* outcome) const;
  void ReadResult(const std::string& folder, JobOutcome* outcome) const;
  Failure ExplainExit(const std::string& folder,
                      const std::vector<foldd::v1::Diagnostic>& said,
                      const foldd::v1::JobLimits& limits,
                      const foldd::v1::JobExit& exit) const;
  bool DiskIsFull() const;

  const std::string folder_;
  const foldd::v1::JobLimits limits_;
  CompilerProcess* const compiler_;
  BlobCache* const blobs_;
  ReproducerFolder* const reproducers_;
  std::atomic<int64_t> next_{1};
};

}  // namespace fold

#endif  // FOLD_SERVER_JOB_RUNNER_H_
