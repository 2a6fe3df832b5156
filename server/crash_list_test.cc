#include "server/crash_list.h"

#include <signal.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
namespace v1 = foldd::v1;

JobOutcome Crash(int signal = SIGSEGV) {
  JobOutcome outcome;
  outcome.exit.set_cause(v1::SIGNALED);
  outcome.exit.set_signal(signal);
  outcome.failure =
      Failure{"COMPILER_CRASHED", "ended by a signal", {{"reproducer", "abc"}}};
  return outcome;
}

JobOutcome Ended(v1::ExitCause cause) {
  JobOutcome outcome;
  outcome.exit.set_cause(cause);
  outcome.failure = Failure{"COMPILER_FAILED", "some reason"};
  return outcome;
}

class CrashListTest : public testing::Test {
 protected:
  bool Refused(const CrashKey& key) { return list_.Refuse(key).has_value(); }

  CrashList::Clock::time_point now_ = CrashList::Clock::from_time_t(1'000'000);
  CrashList list_{{2, seconds(600), 3}, [this] { return now_; }};
  const CrashKey key_ = {"", "model", "compiler"};
};

TEST_F(CrashListTest, TwoCrashesRefuseForAWhile) {
  list_.Record(key_, Crash());
  EXPECT_FALSE(Refused(key_));
  JobOutcome crash = Crash();
  crash.said.emplace_back();
  crash.said.back().set_code("bad_scale");
  crash.said.back().set_node("conv_3");
  crash.said.back().set_message("is odd");
  list_.Record(key_, crash);
  now_ += seconds(100);
  auto refusal = list_.Refuse(key_);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->reason, "MODEL_CRASHES_COMPILER");
  EXPECT_THAT(refusal->message, HasSubstr("2 times"));
  EXPECT_THAT(refusal->message, HasSubstr("ended by a signal"));
  EXPECT_EQ(refusal->metadata["reproducer"], "abc");
  EXPECT_EQ(refusal->metadata["crashes"], "2");
  EXPECT_EQ(refusal->metadata["tried_again_in_seconds"], "500");
  EXPECT_EQ(refusal->metadata["tried_again_at"], "1970-01-12T13:56:40Z");
  EXPECT_EQ(refusal->metadata["last_diagnostic"], "bad_scale 'conv_3': is odd");
  now_ += seconds(499);
  EXPECT_TRUE(Refused(key_));
  now_ += seconds(1);
  EXPECT_FALSE(Refused(key_));
}

TEST_F(CrashListTest, TriedAgainOneCrashRefusesAndASuccessClears) {
  list_.Record(key_, Crash());
  list_.Record(key_, Crash());
  now_ += seconds(700);
  list_.Record(key_, Crash());
  EXPECT_TRUE(Refused(key_));
  now_ += seconds(700);
  list_.Record(key_, JobOutcome());
  EXPECT_EQ(list_.size(), 0u);
  list_.Record(key_, Crash());
  EXPECT_FALSE(Refused(key_));
}

TEST_F(CrashListTest, AnOldCrashIsForgotten) {
  list_.Record(key_, Crash());
  now_ += seconds(1200);
  list_.Record(key_, Crash());
  EXPECT_FALSE(Refused(key_));
}

TEST_F(CrashListTest, OnlyWhatTheCompileDidItselfCounts) {
  for (int signal : {SIGSEGV, SIGABRT, SIGILL, SIGFPE, SIGBUS, SIGSYS}) {
    EXPECT_TRUE(IsCrash(Crash(signal).exit)) << signal;
  }
  for (int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP}) {
    EXPECT_FALSE(IsCrash(Crash(signal).exit)) << signal;
    list_.Record(key_, Crash(signal));
  }
  for (auto cause :
       {v1::EXITED, v1::KILLED, v1::WALL_LIMIT, v1::CPU_LIMIT, v1::MEMORY_LIMIT,
        v1::FILE_LIMIT, v1::START_FAILED, v1::PARENT_LOST}) {
    EXPECT_FALSE(IsCrash(Ended(cause).exit));
    list_.Record(key_, Ended(cause));
  }
  EXPECT_EQ(list_.size(), 0u);
  // Nor does a failure of another kind clear what was counted.
  list_.Record(key_, Crash());
  list_.Record(key_, Ended(v1::EXITED));
  list_.Record(key_, Crash());
  EXPECT_TRUE(Refused(key_));
}

TEST_F(CrashListTest, KeysAreApart) {
  list_.Record(key_, Crash());
  list_.Record(key_, Crash());
  EXPECT_TRUE(Refused(key_));
  EXPECT_FALSE(Refused({"other", "model", "compiler"}));
  EXPECT_FALSE(Refused({"", "other", "compiler"}));
  EXPECT_FALSE(Refused({"", "model", "other"}));
}

TEST_F(CrashListTest, TheListIsBounded) {
  for (int i = 0; i < 10; ++i) {
    now_ += seconds(1);
    CrashKey key = {"", std::to_string(i), "compiler"};
    list_.Record(key, Crash());
    list_.Record(key, Crash());
  }
  EXPECT_EQ(list_.size(), 3u);
  EXPECT_TRUE(Refused({"", "9", "compiler"}));
  EXPECT_FALSE(Refused({"", "0", "compiler"}));
}

TEST_F(CrashListTest, ALimitOfZeroRefusesNothing) {
  CrashList never({0, seconds(600), 3}, [this] { return now_; });
  for (int i = 0; i < 5; ++i) never.Record(key_, Crash());
  EXPECT_FALSE(never.Refuse(key_).has_value());
}

}  // namespace
}  // namespace fold
