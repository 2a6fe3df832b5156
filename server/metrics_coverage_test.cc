// Each metric of metrics.def is moved here, by what it counts, in a real
// server. A metric without a row fails; so do names in the alerts and the
// dashboard that no metric has.
#include <signal.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "server/testing/server_process.h"

namespace fold {
namespace {

using std::chrono::milliseconds;

struct Declared {
  std::string name, type;
};

const Declared kDeclared[] = {
#define FOLD_METRIC(id, type, name, labels, help) {name, #type},
#include "server/metrics.def"
#undef FOLD_METRIC
};

// A server with one worker and room for two that wait.
class World {
 public:
  World() : data_(NewFolder("metrics_coverage")), server_(Options()) {}
  ~World() { std::filesystem::remove_all(data_); }

  ServerProcess& server() { return server_; }
  const std::string& data() const { return data_; }
  // A request that nobody has made before.
  foldd::v1::CompileRequest New(const std::string& script = "progress 2") {
    return Script(script + "\nprint " + std::to_string(++made_));
  }
  void Compile(const std::string& script = "progress 2") {
    server_.Compile(New(script));
  }
  // Calls `look` while `calls` new compiles of half a second are under way.
  void While(int calls, const std::function<void()>& look) {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(calls));
    for (int i = 0; i < calls; ++i) {
      threads.emplace_back(
          [this, request = New("sleep 500")] { server_.Compile(request); });
    }
    std::this_thread::sleep_for(milliseconds(200));
    look();
    for (std::thread& thread : threads) thread.join();
  }

 private:
  ServerOptions Options() const {
    ServerOptions options;
    options.data = data_;
    options.flags = {"--workers", "1",           "--queue-length",
                     "2",         "--otlp-file", data_ + "/traces.jsonl"};
    return options;
  }

  const std::string data_;
  ServerProcess server_;
  int made_ = 0;
};

using Look = std::function<void()>;

void CompileOne(World& world, const Look& look) {
  world.Compile();
  look();
}

void CompileTwice(World& world, const Look& look) {
  auto request = world.New();
  world.server().Compile(request);
  world.server().Compile(request);
  look();
}

void OneRuns(World& world, const Look& look) { world.While(1, look); }
void ThreeAtOnce(World& world, const Look& look) { world.While(3, look); }

void JoinOne(World& world, const Look& look) {
  auto request = world.New("sleep 300");
  std::thread other([&] { world.server().Compile(request); });
  std::this_thread::sleep_for(milliseconds(100));
  world.server().Compile(request);
  other.join();
  look();
}

void KillTheCompiler(World& world, const Look& look) {
  double before = world.server().Metric("foldd_compiler_starts_total");
  kill(world.server().CompilerParent(), SIGKILL);
  world.server().WaitMetric("foldd_compiler_starts_total", before + 1);
  look();
}

void DropWhatIsKept(World& world, const Look& look) {
  // No folder where results would go.
  namespace fs = std::filesystem;
  fs::path temp = world.data() + "/cache/temp";
  fs::rename(temp, world.data() + "/aside");
  world.Compile();
  fs::rename(world.data() + "/aside", temp);
  look();
}

void ExportSpans(World& world, const Look& look) {
  double before =
      world.server().Metric("foldd_trace_spans_total{result=\"sent\"}");
  world.Compile();
  for (int i = 0; i < 500; ++i) {
    if (world.server().Metric("foldd_trace_spans_total{result=\"sent\"}") >
        before) {
      break;
    }
    std::this_thread::sleep_for(milliseconds(20));
  }
  look();
}

void JustLook(World&, const Look& look) { look(); }

// kMoves: another value during or after the action. kIsSet: what cannot move
// in a running server is there and not 0.
enum class How { kMoves, kIsSet };

struct Row {
  const char* name;    // of metrics.def
  const char* series;  // the line of /metrics that is looked at
  How how;
  void (*act)(World& world, const Look& look);
};

#define FOLD_COMPILE \
  "{grpc_method=\"Compile\",grpc_service=\"foldd.v1.Compiler\"}"
const Row kRows[] = {
    {"grpc_server_started_total", "grpc_server_started_total" FOLD_COMPILE,
     How::kMoves, CompileOne},
    {"grpc_server_handled_total",
     "grpc_server_handled_total{grpc_code=\"OK\",grpc_method=\"Compile\","
     "grpc_service=\"foldd.v1.Compiler\"}",
     How::kMoves, CompileOne},
    {"grpc_server_handling_seconds",
     "grpc_server_handling_seconds_count" FOLD_COMPILE, How::kMoves,
     CompileOne},
    {"foldd_calls", "foldd_calls", How::kMoves, OneRuns},
    {"foldd_compile_duration_seconds", "foldd_compile_duration_seconds_count",
     How::kMoves, CompileOne},
    {"foldd_pass_duration_seconds",
     "foldd_pass_duration_seconds_count{pass=\"fold\"}", How::kMoves,
     CompileOne},
    {"foldd_queue_duration_seconds", "foldd_queue_duration_seconds_count",
     How::kMoves, CompileOne},
    {"foldd_queue_oldest_seconds", "foldd_queue_oldest_seconds", How::kMoves,
     ThreeAtOnce},
    {"foldd_queue_depth", "foldd_queue_depth", How::kMoves, ThreeAtOnce},
    {"foldd_queue_limit", "foldd_queue_limit", How::kIsSet, JustLook},
    {"foldd_dispatch_last_progress_timestamp_seconds",
     "foldd_dispatch_last_progress_timestamp_seconds", How::kMoves, CompileOne},
    {"foldd_workers", "foldd_workers", How::kIsSet, JustLook},
    {"foldd_jobs", "foldd_jobs{state=\"running\"}", How::kMoves, OneRuns},
    {"foldd_job_exits_total", "foldd_job_exits_total{reason=\"DONE\"}",
     How::kMoves, CompileOne},
    {"foldd_job_joins_total", "foldd_job_joins_total", How::kMoves, JoinOne},
    {"foldd_job_peak_memory_bytes", "foldd_job_peak_memory_bytes_count",
     How::kMoves, CompileOne},
    {"foldd_job_cpu_seconds", "foldd_job_cpu_seconds_count", How::kMoves,
     CompileOne},
    {"foldd_cache_requests_total",
     "foldd_cache_requests_total{result=\"hit\",tier=\"memory\"}", How::kMoves,
     CompileTwice},
    {"foldd_cache_bytes", "foldd_cache_bytes{tier=\"disk\"}", How::kMoves,
     CompileOne},
    {"foldd_cache_limit_bytes", "foldd_cache_limit_bytes{tier=\"disk\"}",
     How::kIsSet, JustLook},
    {"foldd_cache_write_errors_total", "foldd_cache_write_errors_total",
     How::kMoves, DropWhatIsKept},
    {"foldd_disk_free_bytes", "foldd_disk_free_bytes", How::kIsSet, JustLook},
    {"foldd_inflight_bytes", "foldd_inflight_bytes", How::kMoves, OneRuns},
    {"foldd_inflight_limit_bytes", "foldd_inflight_limit_bytes", How::kIsSet,
     JustLook},
    {"foldd_compiler_starts_total", "foldd_compiler_starts_total", How::kMoves,
     KillTheCompiler},
    {"foldd_ready", "foldd_ready", How::kIsSet, JustLook},
    {"foldd_trace_spans_total", "foldd_trace_spans_total{result=\"sent\"}",
     How::kMoves, ExportSpans},
    {"process_cpu_seconds_total", "process_cpu_seconds_total", How::kIsSet,
     CompileOne},
    {"process_resident_memory_bytes", "process_resident_memory_bytes",
     How::kIsSet, JustLook},
    {"process_virtual_memory_bytes", "process_virtual_memory_bytes",
     How::kIsSet, JustLook},
    {"process_threads", "process_threads", How::kIsSet, JustLook},
    {"process_open_fds", "process_open_fds", How::kMoves, OneRuns},
    {"process_max_fds", "process_max_fds", How::kIsSet, JustLook},
    {"process_start_time_seconds", "process_start_time_seconds", How::kIsSet,
     JustLook},
    {"foldd_build_info",
     "foldd_build_info{compiler_id=\"fake-compiler-1\",version=\"0.1.0\"}",
     How::kIsSet, JustLook},
};
#undef FOLD_COMPILE

// Moved by tests of their own, with what they need: name and test.
const std::pair<const char*, const char*> kElsewhere[] = {
    {"foldd_cache_evictions", "MetricsCoverage.EvictionsAreCounted"},
    {"foldd_access_reloads_total",
     "CertificateSourceTest.ReadsThePairAndSaysWhenItEnds"},
    {"foldd_remote_cache_queue_bytes",
     "CacheStackTest.WhatWaitsForTheRemoteTierIsCounted"},
    {"foldd_calls_stalled_total", "MetricsCoverage.StalledCallersAreCounted"},
    {"foldd_uploads", "BlobServiceTest.UploadsAreBoundedInNumber"},
    {"foldd_operations",
     "OperationServiceTest.GoesOnWithoutItsCallerAndIsNamedByItsAction"},
    {"foldd_queue_timeouts_total",
     "OperationServiceTest.QueueAndRunHaveLimitsOfTheirOwn"},
    {"foldd_cache_leases", "CacheStackTest.TheGaugesMove"},
    {"foldd_sandbox_wall", "CrashServiceTest.TheWallsAreSeenFromOutside"},
    {"foldd_cache_pinned_bytes", "CacheStackTest.TheGaugesMove"},
    {"foldd_cache_quarantine_bytes", "CacheStackTest.TheGaugesMove"},
    {"foldd_cache_temporary_bytes",
     "CacheStackTest.AnActionWithoutAllItsBlobsIsNoAnswer"},
    {"foldd_cache_scrubbed_total", "CacheStackTest.RotIsFoundInTheBackground"},
    {"foldd_remote_cache_requests_total",
     "CacheStackTest.TwoReplicasShareResults"},
    {"foldd_remote_cache_state",
     "CacheStackTest.TwoReplicasShareResultsThroughAnotherServer"},
    {"foldd_crash_refusals_total",
     "CrashServiceTest.AModelThatCrashesTwiceIsRefusedWithItsReproducer"},
    {"foldd_reproducer_bytes",
     "CrashServiceTest.AModelThatCrashesTwiceIsRefusedWithItsReproducer"},
    {"foldd_authentications_total", "GatekeeperTest.StaticTokens"},
    {"foldd_tls_certificate_not_after_timestamp_seconds",
     "CertificateSourceTest.ReadsThePairAndSaysWhenItEnds"},
    {"foldd_quota_refusals_total",
     "QuotaTest.RequestsASecondWithTheExactDelay"},
    {"foldd_audit_records_total", "AuditLogTest.OneChainOverRestarts"},
    {"foldd_audit_chain_breaks_total",
     "AuditLogTest.ABrokenFileIsKeptAndANewOneFollowsIt"},
};

TEST(MetricsCoverage, EachDeclaredMetricHasARow) {
  std::multiset<std::string> rows;
  for (const Row& row : kRows) rows.insert(row.name);
  for (const auto& [name, test] : kElsewhere) rows.insert(name);
  for (const Declared& metric : kDeclared) {
    EXPECT_EQ(rows.count(metric.name), 1u)
        << metric.name << ": say in metrics_coverage_test.cc what moves it";
    rows.erase(metric.name);
  }
  for (const std::string& name : rows) ADD_FAILURE() << name << " is no metric";
}

TEST(MetricsCoverage, EachRowMoves) {
  World world;
  ASSERT_TRUE(world.server().started());
  for (const Row& row : kRows) {
    double before = std::max(0.0, world.server().Metric(row.series));
    bool seen = false;
    row.act(world, [&] {
      // Some move when the call has already been answered.
      for (int i = 0; i < 100 && !seen; ++i) {
        double now = std::max(0.0, world.server().Metric(row.series));
        seen = row.how == How::kIsSet ? now != 0 : now != before;
        if (!seen) std::this_thread::sleep_for(milliseconds(10));
      }
    });
    EXPECT_TRUE(seen) << row.series << " stays at " << before;
  }
}

TEST(MetricsCoverage, EvictionsAreCounted) {
  ServerOptions options;
  options.data = NewFolder("metrics_eviction");
  options.flags = {"--cache-bytes", "1048576"};
  {
    ServerProcess server(options);
    ASSERT_TRUE(server.started());
    EXPECT_EQ(server.Metric("foldd_cache_evictions{tier=\"disk\"}"), 0);
    for (int i = 0; i < 6; ++i) {
      EXPECT_TRUE(
          server.Compile(Script("size 300000\nprint " + std::to_string(i)))
              .ok());
    }
    EXPECT_GT(server.Metric("foldd_cache_evictions{tier=\"disk\"}"), 0);
  }
  std::filesystem::remove_all(options.data);
}

TEST(MetricsCoverage, StalledCallersAreCounted) {
  ServerOptions options;
  options.data = NewFolder("metrics_stall");
  options.flags = {"--stall-seconds", "1"};
  {
    ServerProcess server(options);
    ASSERT_TRUE(server.started());
    grpc::ClientContext context;
    // More than gRPC takes in for a caller who never reads.
    auto reader = server.stub().Compile(&context, Script("size 60000000"));
    EXPECT_TRUE(server.WaitMetric("foldd_calls_stalled_total", 1));
    context.TryCancel();
    (void)reader->Finish();
  }
  std::filesystem::remove_all(options.data);
}

// Names of metrics in expressions; histograms have three each.
void CheckNames(const std::string& expression, const std::string& where) {
  std::set<std::string> known = {"up"};
  for (const Declared& metric : kDeclared) {
    if (metric.type == "Counter" || metric.type == "Gauge") {
      known.insert(metric.name);
    } else {
      for (const char* suffix : {"_bucket", "_sum", "_count"}) {
        known.insert(metric.name + suffix);
      }
    }
  }
  static const std::regex kName("\\b(?:foldd|grpc|process)_[a-z_]+|\\bup\\b");
  std::string bare = std::regex_replace(
      expression, std::regex("by \\([^)]*\\)|\\{[^}]*\\}"), "");
  int found = 0;
  for (std::sregex_iterator it(bare.begin(), bare.end(), kName), end; it != end;
       ++it, ++found) {
    EXPECT_TRUE(known.count(it->str()) == 1)
        << where << ": no metric " << it->str() << " in " << expression;
  }
  EXPECT_GT(found, 0) << where << ": no metric in " << expression;
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(MetricsCoverage, AlertsAskForMetricsThatExist) {
  std::istringstream lines(ReadText("deploy/prometheus/alerts.yaml"));
  int expressions = 0;
  std::string line, name;
  while (std::getline(lines, line)) {
    size_t alert = line.find("- alert: ");
    if (alert != std::string::npos) name = line.substr(alert + 9);
    size_t at = line.find("expr: ");
    if (at == std::string::npos) continue;
    ++expressions;
    CheckNames(line.substr(at + 6), name);
  }
  EXPECT_GE(expressions, 12);
}

TEST(MetricsCoverage, TheDashboardShowsMetricsThatExist) {
  auto board = nlohmann::json::parse(ReadText("deploy/grafana/dashboard.json"),
                                     nullptr, false);
  ASSERT_TRUE(board.is_object());
  std::set<int> ids;
  int targets = 0;
  for (const auto& panel : board["panels"]) {
    EXPECT_TRUE(ids.insert(panel["id"].get<int>()).second) << panel["title"];
    if (panel["type"] == "row") continue;
    ASSERT_TRUE(panel.contains("targets")) << panel["title"];
    for (const auto& target : panel["targets"]) {
      ++targets;
      CheckNames(target["expr"], panel["title"]);
    }
  }
  EXPECT_GE(targets, 20);
}

}  // namespace
}  // namespace fold
