// The tier of the cache on another machine, which speaks the Remote Execution
// API. A server that fails or is slow is left alone for a while, so that a
// compile waits for it at most `timeout` and usually not at all. What is to be
// sent waits in a bounded queue for a thread in the background.
#ifndef FOLD_SERVER_REMOTE_REAPI_TIER_H_
#define FOLD_SERVER_REMOTE_REAPI_TIER_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/cache/disk_store.h"
#include "server/cache/remote_tier.h"
#include "server/remote/circuit_breaker.h"
#include "server/remote/remote_client.h"
#include "server/worker_pool.h"

namespace fold {

struct ReapiTierOptions {
  RemoteClientOptions client;
  // That a lookup may be kept waiting, all calls together.
  std::chrono::milliseconds timeout{5000};
  // One call of those that send.
  std::chrono::milliseconds send_timeout{60'000};
  // Bytes of blobs that wait to be sent; beyond, results are not sent.
  int64_t queue_bytes = int64_t{256} << 20;
  CircuitBreaker::Options breaker;
};

// How a call ended: `operation` is "capabilities", "get_action", "read_blob",
// "find_missing", "write_blob", "update_action" or "send" (a result with its
// blobs); `result` is "ok", "miss", "wrong" (other bytes than the digest
// says), "timeout", "error", "skipped" (left alone) or "dropped".
using RemoteObserver = std::function<void(const std::string& operation,
                                          const std::string& result)>;

class ReapiTier : public RemoteTier {
 public:
  // Does not own `disk`, from which blobs are sent. An error is the
  // configuration's; the server need not answer.
  static absl::StatusOr<std::unique_ptr<ReapiTier>> Make(
      ReapiTierOptions options, DiskStore* disk, RemoteObserver observer);
  // Cancels what is under way.
  ~ReapiTier() override;

  Deadline NewDeadline() const override;
  absl::Status FetchBlob(const SizedKey& blob, Deadline deadline,
                         BlobWriter* into) override;
  absl::StatusOr<std::string> FetchAction(const SizedKey& action,
                                          Deadline deadline) override;
  void SendLater(const SizedKey& action, std::string entry,
                 std::vector<SizedKey> blobs) override;

  // Waits until everything was sent, at most so long; whether it was.
  bool Drain(std::chrono::milliseconds limit);

  bool in_use() const { return breaker_.closed(); }  // not left alone
  int64_t queued_bytes() const;

 private:
  struct Item {
    SizedKey action;
    std::string entry;
    std::vector<SizedKey> blobs;
    std::vector<Lease> leases;  // what waits is not evicted
    int64_t bytes = 0;
    int attempts = 0;
  };
  enum class Sent { kDone, kLater, kRefused, kNever };

  ReapiTier(ReapiTierOptions options, std::unique_ptr<RemoteClient> client,
            DiskStore* disk, RemoteObserver observer);
  // Makes a call, unless the server is left alone, and tells how it ended.
  absl::Status Try(const char* operation,
                   const std::function<absl::Status()>& call);
  std::string InstanceOf(const Key& key) const;
  void Loop();
  void AskCapabilities();
  bool WaitForWork(std::unique_lock<std::mutex>* lock);
  Sent Send(const Item& item);
  absl::Status SendBlobs(const Item& item, const std::string& instance);
  Deadline SendDeadline() const;

  const ReapiTierOptions options_;
  const std::unique_ptr<RemoteClient> client_;
  DiskStore* const disk_;
  const RemoteObserver observer_;
  CircuitBreaker breaker_;
  std::atomic<bool> takes_updates_{true};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> queue_;
  bool sending_ = false;
  bool refusal_told_ = false;  // the loop's
  bool stopping_ = false;
  int64_t queued_bytes_ = 0;  // of the queue and of what is being sent
  std::unique_ptr<LoopThread> thread_;
};

}  // namespace fold

#endif  // FOLD_SERVER_REMOTE_REAPI_TIER_H_
