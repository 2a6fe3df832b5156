#include "server/job_record.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace v1 = foldd::v1;

class JobRecordTest : public testing::Test {
 protected:
  std::vector<SpanRecord> Spans() {
    return tracer_.Take(1000, std::chrono::milliseconds(0));
  }
  v1::PassTime* AddPass(const std::string& name, int64_t start, int64_t took) {
    v1::PassTime* pass = job_.report.mutable_run()->add_passes();
    pass->set_name(name);
    pass->set_start_microseconds(start);
    pass->set_wall_microseconds(took);
    return pass;
  }
  void Record(double seconds) {
    recorder_.End(recorder_.Begin(trace_), job_, seconds, "fold");
  }

  Metrics metrics_;
  Tracer tracer_{true, 1, 1000};
  JobRecorder recorder_{&metrics_, &tracer_};
  TraceContext trace_ = NewTrace(true);
  JobOutcome job_;
};

TEST_F(JobRecordTest, PassesLieWithinTheJob) {
  int64_t now = NowNanos();
  job_.report.mutable_run()->set_start_unix_microseconds(now / 1000);
  AddPass("import", 0, 1'000);
  AddPass("fold", 2'000, 500);
  Span span = recorder_.Begin(trace_);
  while (NowNanos() < now + 5'000'000) {
  }
  recorder_.End(std::move(span), job_, 0.005, "");
  auto spans = Spans();
  ASSERT_EQ(spans.size(), 3u);
  const SpanRecord& job = spans[2];
  EXPECT_EQ(job.name, "job");
  EXPECT_EQ(job.parent_span_id, trace_.span_id);
  EXPECT_EQ(spans[0].name, "pass import");
  EXPECT_EQ(spans[1].name, "pass fold");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(spans[i].context.trace_id, trace_.trace_id);
    EXPECT_EQ(spans[i].parent_span_id, job.context.span_id);
  }
  EXPECT_EQ(spans[1].start_nanos - spans[0].start_nanos, 2'000'000);
  EXPECT_EQ(spans[1].end_nanos - spans[1].start_nanos, 500'000);
}

// Times come from a job that is not trusted, or from another machine.
TEST_F(JobRecordTest, NonsensicalTimesAreBounded) {
  job_.report.mutable_run()->set_start_unix_microseconds(int64_t{1} << 50);
  AddPass("a", -5, -5);
  AddPass("b", int64_t{1} << 62, int64_t{1} << 62);
  int64_t before = NowNanos();
  Record(0.001);
  for (const SpanRecord& span : Spans()) {
    EXPECT_GE(span.start_nanos, before - 2'000'000) << span.name;
    EXPECT_LE(span.end_nanos, NowNanos()) << span.name;
    EXPECT_LE(span.start_nanos, span.end_nanos) << span.name;
  }
}

TEST_F(JobRecordTest, AFailureSaysWhereItWas) {
  job_.failure = Failure{"COMPILER_CRASHED", "signal 11"};
  job_.exit.set_cause(v1::SIGNALED);
  job_.exit.set_cpu_microseconds(2'500'000);
  job_.exit.set_peak_memory_bytes(5 << 20);
  Record(1);
  auto spans = Spans();
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].status, SpanStatus::kError);
  EXPECT_EQ(spans[0].status_message, "signal 11");
  std::string said;
  for (const SpanAttribute& attribute : spans[0].attributes) {
    const auto* text = std::get_if<std::string>(&attribute.value);
    if (text != nullptr) said += attribute.name + "=" + *text + " ";
  }
  EXPECT_EQ(said,
            "foldd.reason=COMPILER_CRASHED foldd.exit_cause=SIGNALED "
            "foldd.last_pass=fold ");
  std::string text = metrics_.Text();
  EXPECT_THAT(
      text, HasSubstr("foldd_job_exits_total{reason=\"COMPILER_CRASHED\"} 1"));
  EXPECT_THAT(text, HasSubstr("foldd_job_cpu_seconds_sum 2.5"));
  EXPECT_THAT(text, HasSubstr("foldd_job_peak_memory_bytes_count 1"));
  EXPECT_THAT(text, HasSubstr("foldd_compile_duration_seconds_sum 1"));
}

TEST_F(JobRecordTest, AJobCannotMakeManyLabelsOrSpans) {
  for (int i = 0; i < 500; ++i) AddPass("p" + std::to_string(i), 0, 1);
  AddPass("bad name\n", 0, 1);
  Record(1);
  std::string text = metrics_.Text();
  EXPECT_THAT(text, HasSubstr("_count{pass=\"p95\"} 1"));
  EXPECT_THAT(text, Not(HasSubstr("pass=\"p96\"")));
  EXPECT_THAT(text, HasSubstr("_count{pass=\"other\"} 405"));
  EXPECT_EQ(Spans().size(), 257u);
  Record(1);
  EXPECT_THAT(metrics_.Text(), HasSubstr("_count{pass=\"p95\"} 2"));
}

TEST_F(JobRecordTest, WorksWithoutATracer) {
  JobRecorder plain(&metrics_, nullptr);
  AddPass("fold", 0, 1);
  plain.End(plain.Begin(trace_), job_, 1, "");
  EXPECT_THAT(metrics_.Text(), HasSubstr("_count{pass=\"fold\"} 1"));
  EXPECT_TRUE(Spans().empty());
}

TEST_F(JobRecordTest, ProgressIsATimeOfTheClock) {
  recorder_.Progress();
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("foldd_dispatch_last_progress_timestamp_seconds 1"));
}

}  // namespace
}  // namespace fold
