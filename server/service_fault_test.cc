// A real server and a real client: what happens when something breaks.
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "compiler/api/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/grpc/health/v1/health.grpc.pb.h"
#include "server/testing/server_process.h"

namespace fold {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
namespace fs = std::filesystem;
namespace v1 = foldd::v1;

constexpr char kRunning[] = "foldd_jobs{state=\"running\"}";
constexpr char kCompiles[] = "foldd_compile_duration_seconds_count";

class ServiceFaultTest : public testing::Test {
 protected:
  void Start(std::vector<std::string> flags = {}, int64_t disk_bytes = 0) {
    server_.reset();
    server_ = std::make_unique<ServerProcess>(
        ServerOptions{data_, std::move(flags), "", disk_bytes});
  }
  std::string data_ = NewFolder("service_fault_test");
  std::unique_ptr<ServerProcess> server_;
};

TEST_F(ServiceFaultTest, AKilledJobIsItsCallersErrorAlone) {
  Start({"--workers", "4"});
  ASSERT_TRUE(server_->started());
  CompileEnd bad, same, good;
  std::thread first(
      [&] { bad = server_->Compile(Script("sleep 20000\nsize 10")); });
  std::thread second(
      [&] { same = server_->Compile(Script("sleep 20000\nsize 10")); });
  ASSERT_TRUE(server_->WaitMetric(kRunning, 1));
  ASSERT_TRUE(server_->WaitMetric("foldd_job_joins_total", 1));
  std::vector<pid_t> jobs;
  while (jobs.empty()) jobs = server_->Jobs();
  ASSERT_EQ(jobs.size(), 1u);
  std::thread third([&] { good = server_->Compile(Script("sleep 2500")); });
  ASSERT_TRUE(server_->WaitMetric(kRunning, 2));
  kill(jobs[0], SIGKILL);
  for (auto* thread : {&first, &second, &third}) thread->join();
  for (const CompileEnd& end : {bad, same}) {
    EXPECT_EQ(end.code, StatusCode::INTERNAL);
    EXPECT_EQ(end.reason, "COMPILER_CRASHED");
    EXPECT_EQ(end.metadata.at("signal"), "9");
  }
  EXPECT_TRUE(good.ok()) << good.message;
  EXPECT_EQ(server_->Metric("foldd_job_exits_total{reason=\"COMPILER_"
                            "CRASHED\"}"),
            1);
  // Nothing was kept of it: one action, that of the good one.
  int actions = 0;
  for (const auto& file :
       fs::recursive_directory_iterator(data_ + "/cache/instances/_/actions")) {
    actions += file.is_regular_file();
  }
  EXPECT_EQ(actions, 1);
  EXPECT_TRUE(fs::is_empty(data_ + "/jobs"));
}

TEST_F(ServiceFaultTest, AKilledCompilerParentIsReplaced) {
  Start();
  CompileEnd end;
  std::thread call([&] { end = server_->Compile(Script("sleep 20000")); });
  ASSERT_TRUE(server_->WaitMetric(kRunning, 1));
  while (server_->Jobs().empty()) {
  }
  kill(server_->CompilerParent(), SIGKILL);
  call.join();
  EXPECT_EQ(end.code, StatusCode::UNAVAILABLE);
  EXPECT_EQ(end.reason, "COMPILER_LOST");
  EXPECT_TRUE(end.retry);
  EXPECT_TRUE(server_->Compile(Script("x")).ok());
  EXPECT_EQ(server_->Metric("foldd_compiler_starts_total"), 2);
}

// Readiness and health follow what dispatch does.
class DispatchTest : public ServiceFaultTest {
 protected:
  bool WaitReady(int wanted) {
    int status = 0;
    for (int i = 0; i < 600 && status != wanted; ++i) {
      ready_ = server_->Get("/readyz", &status);
      std::this_thread::sleep_for(milliseconds(20));
    }
    return status == wanted;
  }
  bool WaitHealth(grpc::health::v1::HealthCheckResponse::ServingStatus wanted) {
    auto health = grpc::health::v1::Health::NewStub(server_->channel());
    grpc::health::v1::HealthCheckResponse response;
    for (int i = 0; i < 200; ++i) {
      grpc::ClientContext context;
      (void)health->Check(&context, {}, &response);
      if (response.status() == wanted) return true;
      std::this_thread::sleep_for(milliseconds(20));
    }
    return false;
  }
  std::string ready_;
};

TEST_F(DispatchTest, ASilentCompilerParentMakesItNotReadyAndIsReplaced) {
  Start({"--dispatch-stall-seconds", "2"});
  pid_t parent = server_->CompilerParent();
  kill(parent, SIGSTOP);
  CompileEnd end;
  std::thread call([&] { end = server_->Compile(Script("one")); });
  EXPECT_TRUE(WaitReady(503));
  EXPECT_THAT(ready_, HasSubstr("does not answer"));
  EXPECT_TRUE(WaitHealth(grpc::health::v1::HealthCheckResponse::NOT_SERVING));
  int status = 0;
  server_->Get("/livez", &status);
  EXPECT_EQ(status, 200);
  kill(parent, SIGCONT);  // it was only slow
  call.join();
  EXPECT_TRUE(end.ok()) << end.message;
  EXPECT_TRUE(WaitReady(200));
  EXPECT_TRUE(WaitHealth(grpc::health::v1::HealthCheckResponse::SERVING));
  EXPECT_EQ(server_->Metric("foldd_compiler_starts_total"), 1);

  kill(parent, SIGSTOP);  // and now it stays so
  end = server_->Compile(Script("two"));
  EXPECT_EQ(end.reason, "COMPILER_LOST");
  EXPECT_TRUE(end.retry);
  EXPECT_TRUE(WaitReady(200));
  EXPECT_TRUE(server_->Compile(Script("two")).ok());
  EXPECT_EQ(server_->Metric("foldd_compiler_starts_total"), 2);
}

TEST_F(DispatchTest, AJobWhoseEndIsNotToldIsASilentParentToo) {
  Start({"--dispatch-stall-seconds", "1"});
  CompileEnd end;
  std::thread call([&] { end = server_->Compile(Script("sleep 2500")); });
  ASSERT_TRUE(server_->WaitMetric(kRunning, 1));
  while (server_->Jobs().empty()) {
  }
  // A long job that says nothing is none.
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(milliseconds(150));
    ASSERT_TRUE(WaitReady(200));
  }
  kill(server_->CompilerParent(), SIGSTOP);
  EXPECT_TRUE(WaitReady(503));
  call.join();
  EXPECT_EQ(end.reason, "COMPILER_LOST");
  EXPECT_TRUE(WaitReady(200));
}

TEST_F(ServiceFaultTest, ACancelledCallKillsItsJobAndNoOther) {
  Start({"--workers", "4"});
  std::atomic<grpc::ClientContext*> context{nullptr};
  CompileEnd cancelled, stays;
  std::thread leaver([&] {
    cancelled = server_->Compile(Script("sleep 1500"), 60'000,
                                 [&](auto* c) { context = c; });
  });
  ASSERT_TRUE(server_->WaitMetric(kRunning, 1));
  std::thread stayer([&] { stays = server_->Compile(Script("sleep 1500")); });
  ASSERT_TRUE(server_->WaitMetric("foldd_job_joins_total", 1));
  context.load()->TryCancel();
  leaver.join();
  stayer.join();
  EXPECT_EQ(cancelled.code, StatusCode::CANCELLED);
  EXPECT_TRUE(stays.ok()) << stays.message;
  EXPECT_EQ(server_->Metric(kCompiles), 1);

  context = nullptr;
  std::thread alone([&] {
    cancelled = server_->Compile(Script("sleep 50000"), 60'000,
                                 [&](auto* c) { context = c; });
  });
  ASSERT_TRUE(server_->WaitMetric(kRunning, 1));
  context.load()->TryCancel();
  alone.join();
  EXPECT_TRUE(server_->WaitMetric(kRunning, 0));
  EXPECT_TRUE(server_->Jobs().empty());
}

TEST_F(ServiceFaultTest, ADeadlineEndsTheCallAndTheJob) {
  Start();
  CompileEnd end = server_->Compile(Script("sleep 50000"), 400);
  EXPECT_EQ(end.code, StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(server_->WaitMetric(kRunning, 0));
  EXPECT_TRUE(server_->Jobs().empty());
}

TEST_F(ServiceFaultTest, LimitsOfAJobAreErrorsWithTheirCause) {
  Start({"--job-wall-seconds", "1", "--job-file-bytes", "1000000"});
  CompileEnd end = server_->Compile(Script("sleep 50000"));
  EXPECT_EQ(end.reason, "COMPILER_OUT_OF_TIME");
  EXPECT_EQ(end.metadata.at("limit"), "wall");
  EXPECT_EQ(server_->Compile(Script("size 2000000")).reason,
            "COMPILER_OUT_OF_FILE");
  EXPECT_EQ(server_->Compile(Script("wrong-artifact")).reason,
            "COMPILER_BROKEN_RESULT");
}

TEST_F(ServiceFaultTest, CancelledAtRandomMomentsNothingIsLeft) {
  Start({"--workers", "3"});
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 25; ++i) {
        std::string script =
            "sleep " + std::to_string(random() % 30) + "\nsize 200000";
        server_->Compile(Script(script), 1 + random() % 60);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(server_->WaitMetric(kRunning, 0));
  EXPECT_TRUE(server_->WaitMetric("foldd_inflight_bytes", 0));
  EXPECT_TRUE(server_->Compile(Script("x")).ok());
}

TEST_F(ServiceFaultTest, ACorruptBlobIsCompiledAgain) {
  Start();
  CompileEnd first = server_->Compile(Script("size 5000"));
  server_.reset();
  {
    std::fstream file(BlobFile(data_, Sha256Hex(first.artifact)));
    file.seekp(1000);
    file << "?";
  }
  Start();
  CompileEnd again = server_->Compile(Script("size 5000"));
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again.cached());
  EXPECT_EQ(again.artifact, first.artifact);
  EXPECT_EQ(server_->Metric("foldd_cache_requests_total{result=\"corrupt\","
                            "tier=\"disk\"}"),
            1);
  EXPECT_TRUE(server_->Compile(Script("size 5000")).cached());
}

TEST_F(ServiceFaultTest, KilledInTheMidstOfWritesNoWrongBlobIsServed) {
  std::mt19937 random(7);
  auto script = [](int i) { return "size " + std::to_string(100'000 + i); };
  std::map<int, std::string> known;
  int served = 0;
  for (int round = 0; round < 5; ++round) {
    Start({"--workers", "4"});
    ASSERT_TRUE(server_->started());
    for (auto& [i, artifact] : known) {  // what was acknowledged is right
      CompileEnd end = server_->Compile(Script(script(i)));
      ASSERT_TRUE(end.ok()) << end.message;
      EXPECT_EQ(end.artifact, artifact);
      EXPECT_TRUE(end.cached());
      ++served;
    }
    std::mutex mutex;
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int n = 0; n < 50; ++n) {
          int i = round * 1000 + t * 100 + n;
          CompileEnd end = server_->Compile(Script(script(i)), 5000);
          if (!end.ok()) return;
          std::lock_guard lock(mutex);
          known[i] = end.artifact;
        }
      });
    }
    std::this_thread::sleep_for(milliseconds(150 + random() % 250));
    server_->Signal(SIGKILL);
    for (auto& thread : threads) thread.join();
    server_->Wait();
    EXPECT_TRUE(fs::is_empty(data_ + "/cache/quarantine"));
  }
  EXPECT_GT(served, 0);
  // Every file under a hash has the bytes of that hash.
  for (const auto& file :
       fs::recursive_directory_iterator(data_ + "/cache/instances/_/blobs")) {
    if (!file.is_regular_file()) continue;
    std::ifstream stream(file.path(), std::ios::binary);
    std::stringstream bytes;
    bytes << stream.rdbuf();
    EXPECT_EQ(Sha256Hex(bytes.str()), file.path().filename().string());
  }
}

TEST_F(ServiceFaultTest, AResultThatCannotBeKeptIsGivenAllTheSame) {
  Start({"--cache-bytes", "1000000"});
  for (int i = 1; i <= 2; ++i) {
    CompileEnd end = server_->Compile(Script("size 1500000"));
    ASSERT_TRUE(end.ok()) << end.message;
    EXPECT_FALSE(end.cached());
    EXPECT_EQ(end.artifact.size(), 1'500'000u);
    EXPECT_EQ(server_->Metric("foldd_cache_write_errors_total"), i);
  }
}

TEST_F(ServiceFaultTest, AFullDiskIsAClearErrorAndLosesNothing) {
  Start({"--min-free-bytes", "2000000"}, 4 << 20);
  if (!server_->started() && server_->exit_code() == 99) {
    GTEST_SKIP() << "no right to mount a small file system here";
  }
  ASSERT_TRUE(server_->started());
  CompileEnd small = server_->Compile(Script("size 1000"));
  ASSERT_TRUE(small.ok());
  ASSERT_TRUE(server_->Compile(Script("size 1500000")).ok());
  int status = 0;
  server_->Get("/readyz", &status);
  EXPECT_EQ(status, 200);
  ASSERT_TRUE(server_->Compile(Script("size 1000001")).ok());
  EXPECT_THAT(server_->Get("/readyz", &status), HasSubstr("disk is full"));
  EXPECT_EQ(status, 503);
  server_->Get("/livez", &status);
  EXPECT_EQ(status, 200);
  // No room for the compile's own files, or for the model.
  for (const std::string& script :
       {std::string("size 2500000"), "#" + std::string(2'500'000, ' ')}) {
    CompileEnd none = server_->Compile(Script(script));
    EXPECT_EQ(none.code, StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(none.reason, "STORAGE_FULL") << none.message;
    EXPECT_TRUE(none.retry);
  }
  // What was there is there.
  CompileEnd again = server_->Compile(Script("size 1000"));
  EXPECT_TRUE(again.cached());
  EXPECT_EQ(again.artifact, small.artifact);
  EXPECT_TRUE(server_->Compile(Script("size 1500000")).cached());
}

TEST_F(ServiceFaultTest, SigtermFinishesWhatRunsAndEndsWithZero) {
  Start();
  CompileEnd end, refused;
  std::thread call([&] { end = server_->Compile(Script("sleep 1500")); });
  ASSERT_TRUE(server_->WaitMetric(kRunning, 1));
  server_->Signal(SIGTERM);
  auto health = grpc::health::v1::Health::NewStub(server_->channel());
  grpc::health::v1::HealthCheckResponse response;
  for (int i = 0;
       i < 100 &&
       response.status() != grpc::health::v1::HealthCheckResponse::NOT_SERVING;
       ++i) {
    grpc::ClientContext context;
    (void)health->Check(&context, {}, &response);
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(response.status(),
            grpc::health::v1::HealthCheckResponse::NOT_SERVING);
  refused = server_->Compile(Script("more"));
  EXPECT_EQ(refused.code, StatusCode::UNAVAILABLE);
  call.join();
  EXPECT_TRUE(end.ok()) << end.message;
  EXPECT_EQ(server_->Wait(), 0);
}

TEST_F(ServiceFaultTest, SigtermKillsWhatTakesTooLong) {
  Start({"--drain-seconds", "1"});
  CompileEnd end;
  std::thread call([&] { end = server_->Compile(Script("sleep 50000")); });
  ASSERT_TRUE(server_->WaitMetric(kRunning, 1));
  server_->Signal(SIGTERM);
  call.join();
  EXPECT_EQ(end.reason, "DRAINING");
  EXPECT_EQ(server_->Wait(), 0);
}

// Runs last: a metric that is declared is recorded somewhere above.

}  // namespace
}  // namespace fold
