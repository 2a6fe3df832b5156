// What is told of a compile that runs: its metrics, its spans (`job`, and one
// a pass below it) and its line in the log.
#ifndef FOLD_SERVER_JOB_RECORD_H_
#define FOLD_SERVER_JOB_RECORD_H_

#include <mutex>
#include <set>
#include <string>

#include "server/job_runner.h"
#include "server/metrics.h"
#include "server/telemetry/trace.h"

namespace fold {

// One for all compiles; from any thread. Owns neither; `tracer` may be null.
class JobRecorder {
 public:
  JobRecorder(Metrics* metrics, Tracer* tracer)
      : metrics_(metrics), tracer_(tracer) {}

  // A worker has taken a compile, or ended one, or one has told how far it is:
  // the time of the last such call shows that work goes on.
  void Progress();

  // The span of a compile that begins now, for the trace that it belongs to.
  Span Begin(const TraceContext& trace);
  // It has ended, after so many seconds; `last_pass` is the last that it told
  // of, for one that left no report.
  void End(Span span, const JobOutcome& job, double seconds,
           const std::string& last_pass);

 private:
  void RecordPasses(const Span& parent, int64_t begin_nanos,
                    const foldd::v1::RunRecord& run);
  // The name as a metric's label. A job is not trusted to name few passes.
  std::string PassLabel(const std::string& name);

  Metrics* const metrics_;
  Tracer* const tracer_;
  std::mutex mutex_;
  std::set<std::string> pass_labels_;
};

}  // namespace fold

#endif  // FOLD_SERVER_JOB_RECORD_H_
