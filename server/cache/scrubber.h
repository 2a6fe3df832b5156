// Reads what a DiskStore holds and compares hashes, in the background, at a
// rate that leaves the disk to the work: what rots is found before it is asked
// for. What is wrong goes to quarantine.
#ifndef FOLD_SERVER_CACHE_SCRUBBER_H_
#define FOLD_SERVER_CACHE_SCRUBBER_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "server/cache/disk_store.h"
#include "server/worker_pool.h"

namespace fold {

// Checks one entry without counting it as used. `pace` is called with the
// bytes of each piece; false stops the check with CANCELLED. NOT_FOUND;
// DATA_LOSS: it is wrong, and in quarantine now.
absl::Status CheckEntry(DiskStore* disk, const Key& key,
                        const std::function<bool(int64_t)>& pace);

struct ScrubOptions {
  int64_t bytes_per_second = 0;   // 0: no scrub
  int64_t pass_seconds = 86'400;  // from the begin of a pass to the next
};

class Scrubber {
 public:
  // `on_checked` hears of each entry whether it was right.
  Scrubber(DiskStore* disk, ScrubOptions options,
           std::function<void(bool right)> on_checked);
  // Stops within a piece.
  ~Scrubber();
  int64_t passes() const;  // that came to their end

 private:
  void Loop();
  bool Pause(int64_t milliseconds);  // false: stop

  DiskStore* const disk_;
  const ScrubOptions options_;
  const std::function<void(bool)> on_checked_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  int64_t passes_ = 0;
  std::unique_ptr<LoopThread> thread_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_SCRUBBER_H_
