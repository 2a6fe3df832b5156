#include "server/remote/circuit_breaker.h"

#include "gtest/gtest.h"

namespace fold {
namespace {

using std::chrono::milliseconds;

class CircuitBreakerTest : public testing::Test {
 protected:
  CircuitBreaker breaker_{
      {3, milliseconds(100), milliseconds(400), [this] { return now_; }}};
  void Fail() {
    ASSERT_TRUE(breaker_.Allow());
    breaker_.Failed();
  }
  CircuitBreaker::Clock::time_point now_{};
};

TEST_F(CircuitBreakerTest, OpensAfterFailuresInARow) {
  Fail();
  Fail();
  ASSERT_TRUE(breaker_.Allow());
  breaker_.Succeeded();
  Fail();
  Fail();
  EXPECT_TRUE(breaker_.closed());
  Fail();
  EXPECT_FALSE(breaker_.closed());
  EXPECT_FALSE(breaker_.Allow());
  EXPECT_EQ(breaker_.Remaining(), milliseconds(100));
}

TEST_F(CircuitBreakerTest, ProbesOneAtATimeAndWaitsLongerEachTime) {
  for (int i = 0; i < 3; ++i) Fail();
  for (int pause : {100, 200, 400, 400}) {
    now_ += milliseconds(pause - 1);
    EXPECT_FALSE(breaker_.Allow()) << pause;
    now_ += milliseconds(1);
    EXPECT_EQ(breaker_.Remaining(), milliseconds(0));
    EXPECT_TRUE(breaker_.Allow()) << pause;
    EXPECT_FALSE(breaker_.Allow());  // one probe at a time
    breaker_.Failed();
  }
  now_ += milliseconds(400);
  ASSERT_TRUE(breaker_.Allow());
  breaker_.Succeeded();
  EXPECT_TRUE(breaker_.closed());
  for (int i = 0; i < 3; ++i) Fail();
  EXPECT_EQ(breaker_.Remaining(), milliseconds(100));  // from the beginning
}

TEST_F(CircuitBreakerTest, CallsThatBeganBeforeDoNotLengthenThePause) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(breaker_.Allow());
  for (int i = 0; i < 5; ++i) breaker_.Failed();
  EXPECT_EQ(breaker_.Remaining(), milliseconds(100));
}

}  // namespace
}  // namespace fold
