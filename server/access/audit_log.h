// Who did what: an append-only log in files of a hash chain (audit_chain.h).
#ifndef FOLD_SERVER_ACCESS_AUDIT_LOG_H_
#define FOLD_SERVER_ACCESS_AUDIT_LOG_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/access/audit_chain.h"
#include "server/metrics.h"
#include "server/worker_pool.h"

namespace fold {

// How long a record may lie unsynced.
inline constexpr std::chrono::milliseconds kAuditBatch{200};

class AuditLog {
 public:
  enum class Sync {
    kBatched,       // written when Append returns, synced within kAuditBatch
    kBeforeReturn,  // synced when Append returns
  };

  // Makes the folder. Its last file is verified and goes on; if its chain is
  // broken that is logged and counted, and a new file begins: none is ever
  // overwritten, cut off or removed. An error: the folder cannot be used, or
  // another server uses it.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(
      const std::string& folder, Metrics* metrics,
      std::chrono::milliseconds batch = kAuditBatch);
  // Syncs what was written.
  ~AuditLog();

  // Any thread. After an error the record is not in the log; the next one that
  // is says how many are missing. Who administers must then be refused: what
  // they would change could hide them. Who compiles goes on, and the metric of
  // lost records tells: compiles change nothing that another could rely on,
  // and a full disk must not stop them.
  absl::Status Append(const AuditRecord& record, Sync sync = Sync::kBatched);

  std::string path() const;  // of the file in use
  AuditHead head() const;

 private:
  struct File;  // an open descriptor
  AuditLog(std::string folder, Metrics* metrics,
           std::chrono::milliseconds batch);
  absl::Status OpenLast();
  // All of these with the mutex held.
  absl::Status StartFile(const std::string& why);
  absl::Status Write(const std::string& line);
  void GiveUpFile(const std::string& why);
  absl::Status WaitSynced(std::unique_lock<std::mutex>& lock);
  void SyncLoop();

  const std::string folder_;
  Metrics* const metrics_;
  const std::chrono::milliseconds batch_;
  std::shared_ptr<File> lock_file_;

  mutable std::mutex mutex_;
  std::shared_ptr<File> file_;  // null: the last one was given up
  int64_t number_ = 0;          // of the file
  int64_t size_ = 0;            // of the file, in bytes
  AuditHead head_;
  int64_t lost_ = 0;  // since the last line
  std::string given_up_why_;

  // Counts of lines, over all files.
  int64_t written_ = 0;
  int64_t synced_ = 0;
  int64_t failed_ = 0;   // up to this one, what was not synced never will be
  int64_t waiting_ = 0;  // callers
  bool stopping_ = false;
  std::condition_variable sync_wanted_;
  std::condition_variable sync_ended_;
  std::unique_ptr<LoopThread> thread_;
};

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_AUDIT_LOG_H_
