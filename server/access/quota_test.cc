#include "server/access/quota.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class QuotaTest : public testing::Test {
 protected:
  std::unique_ptr<Quota> Make(QuotaLimits limits) {
    return std::make_unique<Quota>(limits, &metrics_, [this] { return now_; });
  }
  Metrics metrics_;
  Quota::Clock::time_point now_ = Quota::Clock::now();
};

TEST_F(QuotaTest, UnlimitedTakesAll) {
  auto quota = Make({});
  Quota::Grant grant;
  for (int i = 0; i < 10'000; ++i) ASSERT_FALSE(quota->TakeRequest("a"));
  EXPECT_FALSE(quota->TakeBytes("a", int64_t{1} << 60, &grant));
  EXPECT_FALSE(quota->TakeCompile("a", &grant));
  EXPECT_EQ(quota->principals(), 0u);
}

TEST_F(QuotaTest, RequestsASecondWithTheExactDelay) {
  auto quota = Make({.requests_per_second = 4});
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(quota->TakeRequest("a"));
  auto failure = quota->TakeRequest("a");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reason, "QUOTA_EXCEEDED");
  EXPECT_EQ(failure->retry_milliseconds, 250);
  ASSERT_EQ(failure->quota_violations.size(), 1u);
  EXPECT_EQ(failure->quota_violations[0].subject, "a");
  EXPECT_EQ(failure->quota_violations[0].message, "requests_per_second: 4");
  // Another principal has its own.
  EXPECT_FALSE(quota->TakeRequest("b"));
  now_ += milliseconds(125);
  EXPECT_TRUE(quota->TakeRequest("a"));
  now_ += milliseconds(125);
  EXPECT_FALSE(quota->TakeRequest("a"));
  EXPECT_TRUE(quota->TakeRequest("a"));
  // A long rest saves up one second's worth, no more.
  now_ += std::chrono::hours(1);
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(quota->TakeRequest("a"));
  EXPECT_TRUE(quota->TakeRequest("a"));
  EXPECT_THAT(
      metrics_.Text(),
      HasSubstr("foldd_quota_refusals_total{limit=\"requests_per_second\"} 4"));
}

TEST_F(QuotaTest, BytesInFlightComeBack) {
  auto quota = Make({.inflight_bytes = 100});
  Quota::Grant first, second, third;
  EXPECT_FALSE(quota->TakeBytes("a", 60, &first));
  EXPECT_FALSE(quota->TakeBytes("a", 40, &second));
  auto failure = quota->TakeBytes("a", 1, &third);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reason, "QUOTA_EXCEEDED");
  EXPECT_GT(failure->retry_milliseconds, 0);
  EXPECT_FALSE(quota->TakeBytes("b", 100, &third));
  second = Quota::Grant();
  { Quota::Grant gone = std::move(first); }
  EXPECT_FALSE(quota->TakeBytes("a", 100, &first));
  failure = quota->TakeBytes("a", 101, &second);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reason, "QUOTA_TOO_SMALL");
  EXPECT_EQ(failure->retry_milliseconds, 0);
}

TEST_F(QuotaTest, TheDelayFollowsHowLongGrantsLast) {
  auto quota = Make({.compiles = 1});
  auto delay = [&] {
    Quota::Grant held, none;
    EXPECT_FALSE(quota->TakeCompile("a", &held));
    return quota->TakeCompile("a", &none)->retry_milliseconds;
  };
  int64_t first = delay();
  for (int i = 0; i < 40; ++i) {
    Quota::Grant grant;
    EXPECT_FALSE(quota->TakeCompile("a", &grant));
    now_ += std::chrono::seconds(20);
  }
  int64_t slow = delay();
  EXPECT_GT(slow, 5 * first);
  EXPECT_LE(slow, 10'000);
}

TEST_F(QuotaTest, ACompileIsGivenBackAfterTheQuotaIsGone) {
  Quota::Grant grant;
  {
    auto quota = Make({.compiles = 1});
    EXPECT_FALSE(quota->TakeCompile("a", &grant));
  }
  grant = Quota::Grant();
}

TEST_F(QuotaTest, ForgetsWhoIsIdle) {
  auto quota = Make({.requests_per_second = 1, .compiles = 1});
  Quota::Grant grant;
  EXPECT_FALSE(quota->TakeCompile("busy", &grant));
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_FALSE(quota->TakeRequest(std::to_string(i)));
    now_ += milliseconds(1);
  }
  EXPECT_LE(quota->principals(), 4100u);
  Quota::Grant second;
  EXPECT_TRUE(quota->TakeCompile("busy", &second));
}

}  // namespace
}  // namespace fold
