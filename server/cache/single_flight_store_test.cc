#include "server/cache/single_flight_store.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace fold {
namespace {

// A store whose Get waits until it is let go, and counts.
class SlowStore : public Store {
 public:
  absl::StatusOr<Bytes> Get(const Key& key) override {
    ++gets;
    std::unique_lock lock(mutex);
    condition.wait(lock, [&] { return open; });
    return std::make_shared<const std::string>(key.hash);
  }
  absl::Status Put(const Key&, const Bytes&) override {
    return absl::OkStatus();
  }
  bool Touch(const Key&) override { return true; }
  void Quarantine(const Key&) override {}
  std::optional<Lease> Hold(const Key&) override { return std::nullopt; }
  void Open() {
    std::lock_guard lock(mutex);
    open = true;
    condition.notify_all();
  }
  std::atomic<int> gets{0};
  std::mutex mutex;
  std::condition_variable condition;
  bool open = false;
};

TEST(SingleFlightStore, ConcurrentGetsOfOneKeyAreOneGet) {
  SlowStore slow;
  SingleFlightStore store(&slow);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      std::string hash = i < 6 ? "same" : "other";
      right += **store.Get({Space::kBlob, hash}) == hash;
    });
  }
  while (slow.gets < 2) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(slow.gets, 2);
  slow.Open();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 8);
  EXPECT_TRUE(store.Get({Space::kBlob, "same"}).ok());
  EXPECT_EQ(slow.gets, 3);  // a later Get flies again
}

}  // namespace
}  // namespace fold
