#include "server/metrics.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::HasSubstr;

TEST(Metrics, RecordsEachType) {
  Metrics metrics;
  metrics.Count(Metric::kCacheRequests, {"disk", "hit"});
  metrics.Count(Metric::kCacheRequests, {"disk", "hit"}, 2);
  metrics.Set(Metric::kJobs, {"running"}, 5);
  metrics.Add(Metric::kJobs, {"running"}, -1);
  metrics.Raise(Metric::kProcessCpu, {}, 2.5);
  metrics.Raise(Metric::kProcessCpu, {}, 1);
  metrics.Observe(Metric::kCompileSeconds, {}, 0.02);
  metrics.Observe(Metric::kJobPeakBytes, {}, 5 << 20);
  std::string text = metrics.Text();
  EXPECT_THAT(
      text,
      HasSubstr("foldd_cache_requests_total{result=\"hit\",tier=\"disk\"} 3"));
  EXPECT_THAT(text, HasSubstr("process_cpu_seconds_total 2.5"));
  EXPECT_THAT(text, HasSubstr("foldd_jobs{state=\"running\"} 4"));
  EXPECT_THAT(text, HasSubstr("foldd_compile_duration_seconds_count 1"));
  EXPECT_THAT(text, HasSubstr("_bucket{le=\"0.03\"} 1"));
  EXPECT_THAT(text, HasSubstr("foldd_job_peak_memory_bytes_bucket"));
}

TEST(Metrics, KnowsWhatWasNeverRecorded) {
  Metrics metrics;
  EXPECT_EQ(metrics.NeverRecorded().size(),
            static_cast<size_t>(Metric::kCount));
  metrics.Count(Metric::kJobJoins);
  EXPECT_THAT(metrics.NeverRecorded(),
              testing::Not(testing::Contains("foldd_job_joins_total")));
}

// Prometheus' rules: base units, and `_total` on counters alone.
TEST(Metrics, NamesKeepTheRules) {
  struct Row {
    std::string type, name, help;
  };
  const Row rows[] = {
#define FOLD_METRIC(id, type, name, labels, help) {#type, name, help},
#include "server/metrics.def"
#undef FOLD_METRIC
  };
  std::set<std::string> names;
  for (const Row& row : rows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.help.empty());
    EXPECT_EQ(row.name.ends_with("_total"), row.type == "Counter") << row.name;
    std::string unit = row.type == "Seconds" ? "_seconds"
                       : row.type == "Bytes" ? "_bytes"
                                             : "";
    EXPECT_TRUE(row.name.ends_with(unit)) << row.name;
    EXPECT_EQ(row.name.find("milli"), std::string::npos);
  }
}

}  // namespace
}  // namespace fold
