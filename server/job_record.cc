#include "server/job_record.h"

#include <algorithm>

#include "server/telemetry/log.h"
#include "spdlog/spdlog.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

// More than the compiler has passes.
constexpr size_t kMaxPassLabels = 96;
constexpr int kMaxPassSpans = 256;
constexpr int64_t kMicro = 1000;  // nanoseconds

bool IsPlainName(const std::string& name) {
  return !name.empty() && name.size() <= 40 &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-';
         });
}

}  // namespace

void JobRecorder::Progress() {
  metrics_->Set(Metric::kDispatchProgress, {},
                static_cast<double>(NowNanos()) * 1e-9);
}

Span JobRecorder::Begin(const TraceContext& trace) {
  return StartSpan(tracer_, "job", trace);
}

void JobRecorder::End(Span span, const JobOutcome& job, double seconds,
                      const std::string& last_pass) {
  std::string reason = job.failure ? job.failure->reason : "DONE";
  double cpu_seconds = static_cast<double>(job.exit.cpu_microseconds()) * 1e-6;
  metrics_->Count(Metric::kJobExits, {reason});
  metrics_->Observe(Metric::kCompileSeconds, {}, seconds);
  metrics_->Observe(Metric::kJobCpuSeconds, {}, cpu_seconds);
  if (job.exit.peak_memory_bytes() > 0) {
    metrics_->Observe(Metric::kJobPeakBytes, {},
                      static_cast<double>(job.exit.peak_memory_bytes()));
  }
  span.Set("foldd.reason", reason);
  span.Set("foldd.exit_cause", v1::ExitCause_Name(job.exit.cause()));
  span.Set("foldd.cpu_seconds", cpu_seconds);
  span.Set("foldd.peak_memory_bytes", job.exit.peak_memory_bytes());
  RecordPasses(span, NowNanos() - static_cast<int64_t>(seconds * 1e9),
               job.report.run());
  if (job.failure) {
    span.Set("foldd.last_pass", last_pass);
    span.SetStatus(SpanStatus::kError, job.failure->message);
    LogScope scope({{"reason", reason},
                    {"error", job.failure->message},
                    {"last_pass", last_pass},
                    {"duration_ms", seconds * 1e3}});
    spdlog::info("a compile failed");
  }
}

void JobRecorder::RecordPasses(const Span& parent, int64_t begin_nanos,
                               const v1::RunRecord& run) {
  int64_t end_nanos = NowNanos();
  // By the clock of the job's machine; bounded, as that may be another one.
  int64_t run_nanos = std::clamp(run.start_unix_microseconds() * kMicro,
                                 begin_nanos, end_nanos);
  int spans = 0;
  for (const v1::PassTime& pass : run.passes()) {
    std::string name = PassLabel(pass.name());
    metrics_->Observe(Metric::kPassSeconds, {name},
                      static_cast<double>(pass.wall_microseconds()) * 1e-6);
    if (!parent.recording() || ++spans > kMaxPassSpans) continue;
    int64_t most = end_nanos - run_nanos;
    int64_t start =
        std::clamp<int64_t>(pass.start_microseconds(), 0, most / kMicro) *
        kMicro;
    int64_t took = std::clamp<int64_t>(pass.wall_microseconds(), 0,
                                       (most - start) / kMicro) *
                   kMicro;
    Span span = StartSpan(tracer_, "pass " + name, parent.context());
    span.Set("foldd.pass", name);
    span.EndAt(run_nanos + start, run_nanos + start + took);
  }
}

std::string JobRecorder::PassLabel(const std::string& name) {
  if (!IsPlainName(name)) return "other";
  std::lock_guard lock(mutex_);
  if (pass_labels_.size() >= kMaxPassLabels && pass_labels_.count(name) == 0) {
    return "other";
  }
  pass_labels_.insert(name);
  return name;
}

}  // namespace fold
