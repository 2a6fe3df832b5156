// Uploads under way, so that one whose connection broke can go on where it
// was. Forgotten when nobody has sent for a while.
#ifndef FOLD_SERVER_UPLOAD_SESSIONS_H_
#define FOLD_SERVER_UPLOAD_SESSIONS_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "server/cache/blob_stream.h"
#include "server/worker_pool.h"

namespace fold {

class UploadSessions {
 public:
  using Clock = std::chrono::steady_clock;
  using Make = std::function<absl::StatusOr<std::unique_ptr<BlobWriter>>()>;

  // One upload. Its methods take turns; the call that came last is the one
  // that is listened to.
  class Session {
   public:
    // Makes `owner` the one that sends; bytes so far.
    int64_t Take(const void* owner);
    // Appends at `offset`. ABORTED: another call has taken over. OUT_OF_RANGE:
    // `offset` is not how far the upload is.
    absl::Status Append(const void* owner, int64_t offset,
                        std::string_view bytes);
    absl::Status Finish(const void* owner);
    int64_t committed() const;

   private:
    friend class UploadSessions;
    mutable std::mutex mutex_;
    std::unique_ptr<BlobWriter> writer_;  // null once finished or failed
    const void* owner_ = nullptr;
    int64_t committed_ = 0;
    Clock::time_point used_ = Clock::now();
  };

  // At most `limit` uploads, of which each may rest for `idle`.
  UploadSessions(int64_t limit, std::chrono::milliseconds idle);
  ~UploadSessions();

  // The upload of that name; `make` makes the writer of a new one.
  // RESOURCE_EXHAUSTED: there are too many.
  absl::StatusOr<std::shared_ptr<Session>> Open(const std::string& name,
                                                const Make& make);
  std::shared_ptr<Session> Find(const std::string& name) const;
  // When it is complete or has failed.
  void Forget(const std::string& name);
  int64_t live() const;

 private:
  void Sweep();

  const int64_t limit_;
  const std::chrono::milliseconds idle_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::map<std::string, std::shared_ptr<Session>> sessions_;
  std::unique_ptr<LoopThread> sweeper_;
};

}  // namespace fold

#endif  // FOLD_SERVER_UPLOAD_SESSIONS_H_
