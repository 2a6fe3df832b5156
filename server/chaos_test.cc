// Clients that work while everything breaks: nothing wrong is served, nothing
// that was acknowledged is lost, and at the end the server is whole.
//   FOLD_SEED: of the faults and the clients; FOLD_CHAOS_SECONDS: how long.
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include "compiler/api/action.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/google/longrunning/operations.grpc.pb.h"
#include "server/testing/chaos_client.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
namespace longrunning = google::longrunning;
namespace v1 = foldd::v1;
using grpc::StatusCode;
using Clock = std::chrono::steady_clock;

constexpr int kWorkers = 3;
constexpr int64_t kDiskBytes = int64_t{64} << 20;

// Works on the server until it has been calm for long enough to be checked.
class ChaosTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* seed = std::getenv("FOLD_SEED");
    seed_ = seed != nullptr ? static_cast<uint32_t>(std::atoll(seed))
                            : std::random_device()();
    const char* seconds = std::getenv("FOLD_CHAOS_SECONDS");
    if (seconds != nullptr) seconds_ = std::atoi(seconds);
    std::printf("FOLD_SEED=%u\n", seed_);
    own_disk_ = MountSmallDisk(data_, kDiskBytes);
    if (!own_disk_) {
      std::printf("NO DISK IS FILLED: mounts are not allowed here\n");
    }
    ServerOptions options;
    options.data = data_;
    options.flags = {"--workers", std::to_string(kWorkers)};
    for (const char* flag :
         {"--cache-bytes", "30000000", "--drain-seconds", "2",
          "--crash-refusal-seconds", "2", "--blob-lease-seconds", "2",
          "--upload-idle-seconds", "2", "--stall-seconds", "10",
          "--dispatch-stall-seconds", "1", "--reproducer-bytes", "4000000"}) {
      options.flags.push_back(flag);
    }
    chaos_ = std::make_unique<Chaos>(std::move(options), seed_, own_disk_);
    ASSERT_TRUE(chaos_->Start());
    world_.chaos = chaos_.get();
    CompileEnd end = chaos_->server()->Compile(Script("calm"));
    ASSERT_TRUE(end.ok()) << end.message;
    const std::string head = "artifact of " + DigestOf("calm").hash();
    ASSERT_EQ(end.artifact.substr(0, head.size()), head);
    world_.tail = end.artifact.substr(head.size());
  }

  void CheckOperations() {
    auto server = chaos_->server();
    auto stub = longrunning::Operations::NewStub(server->channel());
    for (const auto& [name, script] : world_.operations) {
      longrunning::GetOperationRequest get;
      longrunning::Operation operation;
      get.set_name(name);
      grpc::ClientContext first;
      CallEnd end = ReadEnd(stub->GetOperation(&first, get, &operation));
      ASSERT_EQ(end.code, StatusCode::OK) << "lost: " << name << end.message;
      longrunning::WaitOperationRequest wait;
      wait.set_name(name);
      wait.mutable_timeout()->set_seconds(60);
      grpc::ClientContext second;
      end = ReadEnd(stub->WaitOperation(&second, wait, &operation));
      ASSERT_EQ(end.code, StatusCode::OK) << name << " " << end.message;
      ASSERT_TRUE(operation.done()) << name << " does not end";
      JudgeOperation(&world_, operation, script);
    }
  }

  // As many compiles as there are workers run at one time.
  void CheckPool() {
    auto server = chaos_->server();
    std::vector<CompileEnd> ends(kWorkers);
    std::vector<std::thread> threads;
    threads.reserve(kWorkers);
    for (int i = 0; i < kWorkers; ++i) {
      threads.emplace_back([&, i] {
        ends[static_cast<size_t>(i)] =
            server->Compile(Script("sleep 2000\n# last " + std::to_string(i)));
      });
    }
    EXPECT_TRUE(server->WaitMetric("foldd_jobs{state=\"running\"}", kWorkers));
    for (auto& thread : threads) thread.join();
    for (const CompileEnd& end : ends) EXPECT_TRUE(end.ok()) << end.message;
  }

  void CheckNothingIsLeft() {
    auto server = chaos_->server();
    for (const char* metric :
         {"foldd_jobs{state=\"running\"}", "foldd_jobs{state=\"queued\"}",
          "foldd_calls", "foldd_operations", "foldd_uploads",
          "foldd_inflight_bytes", "foldd_cache_leases",
          "foldd_cache_temporary_bytes"}) {
      EXPECT_TRUE(server->WaitMetric(metric, 0))
          << metric << " " << server->Metric(metric);
    }
    EXPECT_TRUE(fs::is_empty(data_ + "/jobs"));
    EXPECT_TRUE(fs::is_empty(data_ + "/cache/temp"));
    EXPECT_TRUE(server->Jobs().empty());
    int status = 0;
    std::string body = server->Get("/readyz", &status);
    EXPECT_EQ(status, 200) << body;
  }

  std::string data_ = NewFolder("chaos_test");
  uint32_t seed_ = 0;
  int seconds_ = 14;
  bool own_disk_ = false;
  std::unique_ptr<Chaos> chaos_;
  ChaosWorld world_;
};

TEST_F(ChaosTest, AnOperationThatEndsOnAFullDiskEnds) {
  if (!own_disk_) GTEST_SKIP() << "no right to mount a small file system here";
  v1::CompileRequest request = Script("sleep 1500\nsize 100000");
  longrunning::Operation operation;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(chaos_->server()
                    ->stub()
                    .StartCompile(&context, request, &operation)
                    .ok());
  }
  chaos_->FillDisk();
  auto wait = [&] {
    auto stub = longrunning::Operations::NewStub(chaos_->server()->channel());
    longrunning::WaitOperationRequest waits;
    waits.set_name(operation.name());
    waits.mutable_timeout()->set_seconds(10);
    grpc::ClientContext context;
    return ReadEnd(stub->WaitOperation(&context, waits, &operation));
  };
  ASSERT_EQ(wait().code, StatusCode::OK);
  EXPECT_TRUE(operation.done());
  EXPECT_EQ(chaos_->server()->Metric("foldd_operations"), 1);
  longrunning::Operation ended = operation;
  chaos_->FreeDisk();
  EXPECT_TRUE(chaos_->server()->WaitMetric("foldd_operations", 0));
  chaos_->Restart(SIGKILL);
  ASSERT_EQ(wait().code, StatusCode::OK);
  EXPECT_EQ(operation.SerializeAsString(), ended.SerializeAsString());
}

TEST_F(ChaosTest, NothingWrongIsServedAndNothingIsLost) {
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 8; ++i) {
    threads.emplace_back([this, i] { ChaosClient(&world_, seed_ + i).Run(); });
  }
  auto end = Clock::now() + std::chrono::seconds(seconds_);
  while (Clock::now() < end) chaos_->Step();
  EXPECT_TRUE(chaos_->Calm());
  world_.over = true;
  for (auto& thread : threads) thread.join();
  CheckOperations();
  for (size_t i = 0; i < world_.blobs.size(); i += 7) {
    ReadBlob(&world_, world_.blobs[i], 0, 0);
  }
  CheckPool();
  CheckNothingIsLeft();
  EXPECT_THAT(world_.faults, testing::IsEmpty());
  EXPECT_THAT(chaos_->faults(), testing::IsEmpty());
  std::string line = "chaos: seed " + std::to_string(seed_) + ", " +
                     std::to_string(world_.operations.size()) + " operations";
  for (const auto& [kind, count] : world_.calls) {
    line += ", " + kind + " " + std::to_string(count);
  }
  const std::map<std::string, int>* both[] = {&chaos_->counts(), &world_.ends};
  for (const auto* counts : both) {
    line += ";";
    for (const auto& [name, count] : *counts) {
      line += " " + name + " " + std::to_string(count) + ",";
    }
    line.pop_back();
  }
  std::printf("%s\n", line.c_str());
  EXPECT_GT(world_.ends["OK"], 0);
}

}  // namespace
}  // namespace fold
