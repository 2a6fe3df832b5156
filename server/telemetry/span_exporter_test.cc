#include "server/telemetry/span_exporter.h"

#include <atomic>
#include <deque>
#include <map>
#include <thread>

#include "gtest/gtest.h"

namespace fold {
namespace {

using std::chrono::milliseconds;
using Kind = SendResult::Kind;

// Answers as it is told, in order, and then with success.
struct World {
  std::mutex mutex;
  std::deque<SendResult> answers;
  std::vector<std::string> requests;
  std::map<std::string, int64_t> results;
  std::atomic<bool> hang{false};
  std::atomic<bool> aborted{false};

  int64_t Result(const std::string& name) {
    std::lock_guard lock(mutex);
    return results[name];
  }
  size_t sent() {
    std::lock_guard lock(mutex);
    return requests.size();
  }
  bool WaitResult(const std::string& name, int64_t value) {
    for (int i = 0; i < 3000; ++i) {
      if (Result(name) == value) return true;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
  }
};

class FakeSender : public SpanSender {
 public:
  explicit FakeSender(World* world) : world_(world) {}
  SendResult Send(const std::string& request, milliseconds) override {
    {
      std::lock_guard lock(world_->mutex);
      world_->requests.push_back(request);
    }
    while (world_->hang && !world_->aborted) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    if (world_->aborted) return Answer(Kind::kTryAgain, 0);
    std::lock_guard lock(world_->mutex);
    if (world_->answers.empty()) return Answer(Kind::kSent, 0);
    SendResult result = world_->answers.front();
    world_->answers.pop_front();
    return result;
  }
  void Abort() override { world_->aborted = true; }
  static SendResult Answer(Kind kind, int64_t rejected) {
    SendResult result;
    result.kind = kind;
    result.rejected = rejected;
    result.after = milliseconds(0);
    return result;
  }

 private:
  World* const world_;
};

ExporterOptions Fast() {
  ExporterOptions options;
  options.batch_spans = 4;
  options.interval = milliseconds(20);
  options.first_pause = milliseconds(1);
  options.largest_pause = milliseconds(4);
  options.attempts = 3;
  return options;
}

class SpanExporterTest : public testing::Test {
 protected:
  void Start(ExporterOptions options) {
    exporter_ = std::make_unique<SpanExporter>(
        &tracer_, TelemetryResource{"1", "id"},
        std::make_unique<FakeSender>(&world_), options,
        [this](const std::string& result, int64_t spans) {
          std::lock_guard lock(world_.mutex);
          world_.results[result] += spans;
        });
  }
  void Make(int spans) {
    for (int i = 0; i < spans; ++i) StartSpan(&tracer_, "s", {}).End();
  }

  World world_;
  Tracer tracer_{true, 1, 10};
  std::unique_ptr<SpanExporter> exporter_;
};

TEST_F(SpanExporterTest, SendsInBatchesAndTheRestAfterAWhile) {
  Start(Fast());
  Make(9);
  EXPECT_TRUE(world_.WaitResult("sent", 9));
  EXPECT_GE(world_.sent(), 3u);
  EXPECT_NE(world_.requests[0].find("\"name\":\"s\""), std::string::npos);
  EXPECT_TRUE(exporter_->Stop(milliseconds(1000)));
}

TEST_F(SpanExporterTest, RepeatsWhatMayWorkLater) {
  world_.answers = {FakeSender::Answer(Kind::kTryAgain, 0),
                    FakeSender::Answer(Kind::kTryAgain, 0)};
  Start(Fast());
  Make(4);
  EXPECT_TRUE(world_.WaitResult("sent", 4));
  ASSERT_EQ(world_.sent(), 3u);
  EXPECT_EQ(world_.requests[0], world_.requests[2]);
  EXPECT_EQ(world_.Result("lost"), 0);
}

TEST_F(SpanExporterTest, GivesUpAfterItsAttempts) {
  for (int i = 0; i < 3; ++i) {
    world_.answers.push_back(FakeSender::Answer(Kind::kTryAgain, 0));
  }
  Start(Fast());
  Make(4);
  EXPECT_TRUE(world_.WaitResult("lost", 4));
  EXPECT_EQ(world_.sent(), 3u);
  Make(4);
  EXPECT_TRUE(world_.WaitResult("sent", 4));
}

TEST_F(SpanExporterTest, DoesNotRepeatWhatWasRefused) {
  world_.answers = {FakeSender::Answer(Kind::kRefused, 0)};
  Start(Fast());
  Make(4);
  EXPECT_TRUE(world_.WaitResult("lost", 4));
  EXPECT_EQ(world_.sent(), 1u);
}

TEST_F(SpanExporterTest, CountsWhatTheOtherSideTookOnlyPartly) {
  world_.answers = {FakeSender::Answer(Kind::kSent, 3),
                    FakeSender::Answer(Kind::kSent, 99)};
  Start(Fast());
  Make(4);
  EXPECT_TRUE(world_.WaitResult("rejected", 3));
  EXPECT_EQ(world_.Result("sent"), 1);
  Make(4);
  EXPECT_TRUE(world_.WaitResult("rejected", 7));
}

TEST_F(SpanExporterTest, StopSendsWhatIsThere) {
  ExporterOptions options = Fast();
  options.interval = milliseconds(60'000);
  Start(options);
  Make(2);
  EXPECT_TRUE(exporter_->Stop(milliseconds(10'000)));
  EXPECT_EQ(world_.Result("sent"), 2);
  Make(1);
  EXPECT_EQ(tracer_.dropped(), 1);
}

TEST_F(SpanExporterTest, StopDoesNotWaitForOneThatHangs) {
  world_.hang = true;
  Start(Fast());
  Make(10);
  while (world_.sent() == 0) std::this_thread::sleep_for(milliseconds(1));
  auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(exporter_->Stop(milliseconds(50)));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(world_.Result("lost"), 10);
  EXPECT_EQ(world_.Result("sent"), 0);
}

TEST_F(SpanExporterTest, StopEndsAPause) {
  world_.answers = {FakeSender::Answer(Kind::kTryAgain, 0)};
  ExporterOptions options = Fast();
  options.first_pause = options.largest_pause = milliseconds(60'000);
  Start(options);
  Make(4);
  while (world_.sent() == 0) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_FALSE(exporter_->Stop(milliseconds(50)));
  EXPECT_EQ(world_.Result("lost"), 4);
}

TEST_F(SpanExporterTest, WhatTheTracerDroppedIsTold) {
  world_.hang = true;
  Start(Fast());
  Make(4);
  while (world_.sent() == 0) std::this_thread::sleep_for(milliseconds(1));
  Make(30);  // the buffer has room for 10
  world_.hang = false;
  EXPECT_TRUE(world_.WaitResult("dropped", 20));
  EXPECT_TRUE(world_.WaitResult("sent", 14));
}

}  // namespace
}  // namespace fold
