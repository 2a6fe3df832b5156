// Two servers' caches and the one that they share.
#include "server/cache_stack.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "compiler/api/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/cache/disk_layout.h"
#include "server/remote/testing/fake_remote_cache.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;
using ::testing::HasSubstr;

// One server's cache.
struct Replica {
  explicit Replica(const std::string& address, int64_t timeout_ms = 20'000) {
    root = testing::TempDir() + "cache_stack_XXXXXX";
    EXPECT_NE(mkdtemp(root.data()), nullptr);
    config.cache = address;
    config.remote_timeout_milliseconds = timeout_ms;
    config.cache_bytes = 64 << 20;
    config.min_free_bytes = 0;
    config.memory_cache_bytes = 8 << 20;
    config.scrub_bytes_per_second = 0;
    Open();
  }
  void Open() {
    stack.reset();
    auto opened = CacheStack::Open(config, root, &metrics);
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (opened.ok()) stack = std::move(*opened);
  }
  std::string Text() {
    stack->RefreshGauges();
    return metrics.Text();
  }
  std::string root;
  Config config;
  Metrics metrics;
  std::unique_ptr<CacheStack> stack;
};

CachedResult Result(const std::string& artifact) {
  auto report = std::make_shared<v1::CompileReport>();
  report->set_action_digest("a");
  report->mutable_artifact()->set_digest(Sha256Hex(artifact));
  return {std::make_shared<const std::string>(artifact), report, "dump"};
}

class CacheStackTest : public testing::Test {
 protected:
  void Share(Replica& from, const std::string& artifact) {
    ASSERT_TRUE(from.stack->results()->Save(action_, Result(artifact)).ok());
    ASSERT_TRUE(from.stack->Drain(seconds(60)));
  }
  const ActionName action_ = {Sha256Hex("action"), 123, "team"};
  FakeRemoteCache remote_;
};

TEST_F(CacheStackTest, TwoReplicasShareResults) {
  Replica one(remote_.address()), two(remote_.address());
  std::string artifact(2'500'000, 'x');
  EXPECT_FALSE(two.stack->results()->Find(action_).has_value());
  Share(one, artifact);
  EXPECT_FALSE(two.stack->hot()->Find(action_).has_value());
  auto found = two.stack->results()->Find(action_);
  ASSERT_TRUE(found.has_value());
  // What is large is not given whole: each caller reads it in pieces.
  EXPECT_EQ(found->artifact, nullptr);
  EXPECT_EQ(found->artifact_digest.hash(), Sha256Hex(artifact));
  auto reader = two.stack->blobs()->Open(
      {Space::kBlob, found->artifact_digest.hash(), "team"});
  ASSERT_TRUE(reader.ok()) << reader.status();
  std::string read;
  while (read.size() < artifact.size()) {
    auto piece = (*reader)->Read(1 << 20);
    ASSERT_TRUE(piece.ok()) << piece.status();
    read += *piece;
  }
  EXPECT_EQ(read, artifact);
  EXPECT_EQ(found->dump, "dump");
  EXPECT_EQ(found->leases->size(), 3u);
  // From now on it is here.
  remote_.Stop();
  EXPECT_TRUE(two.stack->results()->Find(action_).has_value());
  two.Open();
  EXPECT_TRUE(two.stack->results()->Find(action_).has_value());
  EXPECT_THAT(two.Text(),
              HasSubstr("foldd_remote_cache_requests_total{operation=\"get_"
                        "action\",result=\"ok\"} 1"));
  // Another namespace has none of it, and neither has one without a size.
  EXPECT_FALSE(two.stack->results()->Find({action_.hash, 123, ""}).has_value());
}

// The same through a server that is not ours: FOLD_TEST_REMOTE names it
// (tests/e2e/shared_cache_test.py starts buildbox-casd).
TEST_F(CacheStackTest, TwoReplicasShareResultsThroughAnotherServer) {
  const char* address = std::getenv("FOLD_TEST_REMOTE");
  if (address == nullptr) GTEST_SKIP() << "FOLD_TEST_REMOTE names no server";
  Replica one(address), two(address);
  std::string artifact = one.root + std::string(2'500'000, 'x');
  ActionName action = {Sha256Hex(one.root), 123, ""};
  EXPECT_FALSE(two.stack->results()->Find(action).has_value());
  ASSERT_TRUE(one.stack->results()->Save(action, Result(artifact)).ok());
  ASSERT_TRUE(one.stack->Drain(seconds(60)));
  EXPECT_THAT(one.Text(), HasSubstr("operation=\"send\",result=\"ok\"} 1"));
  auto found = two.stack->results()->Find(action);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found->artifact, artifact);
  EXPECT_THAT(two.Text(), HasSubstr("foldd_remote_cache_state 1"));
}

TEST_F(CacheStackTest, AnActionWithoutAllItsBlobsIsNoAnswer) {
  Replica one(remote_.address());
  Share(one, "artifact");
  auto actions = remote_.Actions();
  ASSERT_EQ(actions.size(), 1u);
  remote_.wrong_bytes = true;
  Replica two(remote_.address());
  EXPECT_FALSE(two.stack->results()->Find(action_).has_value());
  EXPECT_THAT(two.Text(),
              HasSubstr("operation=\"read_blob\",result=\"wrong\""));
  EXPECT_THAT(two.Text(), HasSubstr("foldd_cache_temporary_bytes 0"));
  EXPECT_FALSE(two.stack->store()->Touch(
      {Space::kAction, action_.hash, action_.instance}));
  remote_.wrong_bytes = false;
  EXPECT_TRUE(two.stack->results()->Find(action_).has_value());
}

// The worst that a silent remote can do to a lookup, and then nothing.
TEST_F(CacheStackTest, ASilentRemoteCostsItsTimeAndNoMore) {
  remote_.hang = true;
  Replica one(remote_.address(), 200);
  auto start = Clock::now();
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(one.stack->results()
                     ->Find({Sha256Hex(std::to_string(i)), 1, ""})
                     .has_value());
  }
  EXPECT_LT(Clock::now() - start, seconds(30));
  EXPECT_THAT(one.Text(), HasSubstr("foldd_remote_cache_state 0"));
  EXPECT_THAT(one.Text(),
              HasSubstr("operation=\"get_action\",result=\"skipped\""));
  // What is made meanwhile is kept here, and no one waits for it to be sent.
  start = Clock::now();
  ASSERT_TRUE(one.stack->results()->Save(action_, Result("artifact")).ok());
  EXPECT_TRUE(one.stack->results()->Find(action_).has_value());
  EXPECT_FALSE(one.stack->Drain(milliseconds(10)));
  one.stack.reset();
  EXPECT_LT(Clock::now() - start, seconds(30));
}

TEST_F(CacheStackTest, WithoutARemoteNothingChanges) {
  Replica one("");
  ASSERT_TRUE(one.stack->results()->Save(action_, Result("artifact")).ok());
  EXPECT_TRUE(one.stack->results()->Find(action_).has_value());
  EXPECT_TRUE(one.stack->hot()->Find(action_).has_value());
  EXPECT_TRUE(one.stack->Drain(milliseconds(0)));
  EXPECT_TRUE(one.stack->Health().ok());
  EXPECT_THAT(one.Text(), HasSubstr("foldd_remote_cache_state 0"));
}

TEST_F(CacheStackTest, ABadAddressIsTheConfigurationsFault) {
  Config config;
  config.cache = "http://cache:80";
  std::string root = testing::TempDir() + "cache_stack_XXXXXX";
  ASSERT_NE(mkdtemp(root.data()), nullptr);
  Metrics metrics;
  auto opened = CacheStack::Open(config, root, &metrics);
  EXPECT_TRUE(absl::IsInvalidArgument(opened.status()));
}

TEST_F(CacheStackTest, WhatWaitsForTheRemoteTierIsCounted) {
  Replica one("grpc://127.0.0.1:1");
  ASSERT_TRUE(one.stack->results()->Save(action_, Result("artifact")).ok());
  EXPECT_THAT(one.Text(),
              ::testing::ContainsRegex("foldd_remote_cache_queue_bytes [1-9]"));
}

TEST_F(CacheStackTest, TheGaugesMove) {
  Replica one("");
  ASSERT_TRUE(one.stack->results()->Save(action_, Result("artifact")).ok());
  auto found = one.stack->results()->Find(action_);
  v1::PinEntryRequest pin;
  pin.set_instance_name("team");
  pin.mutable_entry()->set_kind(v1::CacheEntry::ACTION);
  pin.mutable_entry()->set_hash(action_.hash);
  v1::PinEntryResponse pinned;
  ASSERT_FALSE(one.stack->admin()->Pin(pin, &pinned));
  auto writer =
      one.stack->blobs()->Create({Space::kBlob, Sha256Hex("x"), ""}, 1000);
  ASSERT_TRUE(writer.ok());
  EXPECT_THAT(one.Text(), HasSubstr("foldd_cache_leases 3"));
  EXPECT_THAT(one.Text(), HasSubstr("foldd_cache_pinned_bytes " +
                                    std::to_string(pinned.pinned_bytes())));
  EXPECT_THAT(one.Text(), HasSubstr("foldd_cache_temporary_bytes 1000"));
  one.stack->store()->Quarantine({Space::kBlob, Sha256Hex("dump"), "team"});
  EXPECT_THAT(one.Text(), HasSubstr("foldd_cache_quarantine_bytes 4"));
}

TEST_F(CacheStackTest, WrongBytesThatAreReadInPiecesAreCounted) {
  Replica one("");
  Key key = {Space::kBlob, Sha256Hex("artifact"), "team"};
  ASSERT_TRUE(one.stack->results()->Save(action_, Result("artifact")).ok());
  std::fstream(PathOfEntry(one.root, key)) << "?";
  auto reader = one.stack->blobs()->Open(key);
  ASSERT_TRUE(reader.ok());
  EXPECT_FALSE((*reader)->Read(1000).ok());
  EXPECT_THAT(one.Text(), HasSubstr("foldd_cache_requests_total{result="
                                    "\"corrupt\",tier=\"disk\"} 1"));
}

TEST_F(CacheStackTest, RotIsFoundInTheBackground) {
  Replica one("");
  Key key = {Space::kBlob, Sha256Hex("artifact"), "team"};
  ASSERT_TRUE(one.stack->results()->Save(action_, Result("artifact")).ok());
  one.stack.reset();
  std::fstream(PathOfEntry(one.root, key)) << "?";
  one.config.scrub_bytes_per_second = 1 << 30;
  one.Open();
  for (int i = 0; i < 2000; ++i) {
    if (one.Text().find("result=\"wrong\"") != std::string::npos) break;
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_THAT(one.Text(),
              HasSubstr("foldd_cache_scrubbed_total{result=\"wrong\"} 1"));
  EXPECT_FALSE(one.stack->results()->Find(action_).has_value());
}

}  // namespace
}  // namespace fold
