#include "server/cache/single_flight.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace fold {
namespace {

using std::chrono::milliseconds;

const Key kKey = {Space::kBlob, std::string(64, 'a')};

SingleFlight::Deadline In(int ms) {
  return std::chrono::steady_clock::now() + milliseconds(ms);
}

// Callers that all wait while `runs` is 1, and what each gets.
struct Callers {
  explicit Callers(std::function<absl::Status(int run)> work) {
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([this, work] {
        absl::Status status =
            flight.Do(kKey, In(20'000), [&] { return work(++runs); });
        ok += status.ok();
        not_found += absl::IsNotFound(status);
      });
    }
    for (auto& thread : threads) thread.join();
  }
  SingleFlight flight;
  std::atomic<int> runs{0}, ok{0}, not_found{0};
  std::vector<std::thread> threads;
};

TEST(SingleFlight, OneWorksForAll) {
  Callers callers([](int) {
    std::this_thread::sleep_for(milliseconds(200));
    return absl::OkStatus();
  });
  EXPECT_EQ(callers.ok, 6);
  EXPECT_LT(callers.runs, 6);
}

TEST(SingleFlight, NotFoundGoesForAll) {
  Callers callers([](int) {
    std::this_thread::sleep_for(milliseconds(200));
    return absl::NotFoundError("no");
  });
  EXPECT_EQ(callers.not_found, 6);
  EXPECT_LT(callers.runs, 6);
}

// The first one fails, as if its caller had run out of time: one of those who
// wait works in its place.
TEST(SingleFlight, AFollowerIsPromoted) {
  Callers callers([](int run) -> absl::Status {
    std::this_thread::sleep_for(milliseconds(200));
    if (run == 1) return absl::DeadlineExceededError("leader gave up");
    return absl::OkStatus();
  });
  EXPECT_EQ(callers.ok, 5);
  EXPECT_GE(callers.runs, 2);
}

TEST(SingleFlight, WaitingEndsAtTheDeadline) {
  SingleFlight flight;
  std::atomic<bool> working{false}, stop{false};
  std::thread leader([&] {
    (void)flight.Do(kKey, In(20'000), [&] {
      working = true;
      while (!stop) std::this_thread::sleep_for(milliseconds(1));
      return absl::OkStatus();
    });
  });
  while (!working) std::this_thread::yield();
  bool ran = false;
  absl::Status status = flight.Do(kKey, In(30), [&] {
    ran = true;
    return absl::OkStatus();
  });
  EXPECT_TRUE(absl::IsDeadlineExceeded(status));
  EXPECT_FALSE(ran);
  // Another key does not wait.
  Key other = kKey;
  other.instance = "other";
  EXPECT_TRUE(flight.Do(other, In(0), [] { return absl::OkStatus(); }).ok());
  stop = true;
  leader.join();
}

}  // namespace
}  // namespace fold
