// Long work that must survive a restart, and the request ids that make a blind
// retry safe: a SQLite database in the data folder. What Put and Bind return
// OK for is on the disk.
#ifndef FOLD_SERVER_OPERATION_STORE_H_
#define FOLD_SERVER_OPERATION_STORE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/foldd/v1/operation_record.pb.h"

struct sqlite3;

namespace fold {

class OperationStore {
 public:
  // Makes the database if need be. FAILED_PRECONDITION: a newer server wrote
  // it. DATA_LOSS: it is damaged.
  static absl::StatusOr<std::unique_ptr<OperationStore>> Open(
      const std::string& path);
  ~OperationStore();

  absl::Status Put(const foldd::v1::OperationRecord& record);
  // NOT_FOUND.
  absl::StatusOr<foldd::v1::OperationRecord> Get(
      const std::string& instance, const std::string& action_hash) const;
  absl::Status Delete(const std::string& instance,
                      const std::string& action_hash);

  struct Page {
    std::vector<foldd::v1::OperationRecord> records;
    int64_t next = 0;  // where the next page starts; 0: there is none
  };
  // Newest first; `before` is a Page's `next`, 0 at first. `done` filters.
  absl::StatusOr<Page> List(const std::string& instance,
                            std::optional<bool> done, int64_t limit,
                            int64_t before) const;
  // All that have not ended, oldest first.
  absl::StatusOr<std::vector<foldd::v1::OperationRecord>> Unfinished() const;

  // Binds `request_id` of `client` to a request, by the hash of its content
  // and the action that it became. What it is bound to now: itself, if it is
  // new.
  struct Bound {
    std::string content_hash;
    std::string action_hash;
    bool fresh = false;
  };
  absl::StatusOr<Bound> Bind(const std::string& instance,
                             const std::string& client,
                             const std::string& request_id,
                             const std::string& content_hash,
                             const std::string& action_hash);

  // Forgets what ended, and ids that were bound, before `seconds` of the epoch,
  // and the oldest that ended beyond `limit`; how many operations.
  absl::StatusOr<int64_t> Sweep(int64_t seconds, int64_t limit);

 private:
  class Statement;
  explicit OperationStore(sqlite3* database) : database_(database) {}
  absl::Status MakeTables();
  absl::Status Run(const char* sql);

  sqlite3* database_;
  mutable std::mutex mutex_;
};

}  // namespace fold

#endif  // FOLD_SERVER_OPERATION_STORE_H_
