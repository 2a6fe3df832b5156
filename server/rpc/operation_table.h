// Compiles as long work: each goes on without its caller, is written down, and
// is taken up again after a restart. One operation an action: who starts it a
// second time joins it.
#ifndef FOLD_SERVER_RPC_OPERATION_TABLE_H_
#define FOLD_SERVER_RPC_OPERATION_TABLE_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "proto/foldd/v1/operation_record.pb.h"
#include "server/failure.h"
#include "server/rpc/service_parts.h"
#include "server/scheduler.h"
#include "server/worker_pool.h"

namespace fold {

class OperationTable {
 public:
  using Clock = std::chrono::steady_clock;
  using Record = foldd::v1::OperationRecord;
  // The record as it is then; or why there is none.
  using OnRecord = std::function<void(std::optional<Failure>, const Record&)>;

  // Owns nothing of `parts`, whose store, scheduler and blobs it uses.
  // Operations that ended are kept for `retention`, `limit` of them at most.
  OperationTable(const ServiceParts* parts, std::chrono::seconds retention,
                 int64_t limit);
  ~OperationTable();

  // Takes up what an earlier server did not finish. Before the first call.
  absl::Status Resume();

  // Starts an operation, or joins the one of that action. `request` has its
  // model by digest, `spec` its inputs. OK only once it is written down.
  std::optional<Failure> Start(const foldd::v1::CompileRequest& request,
                               CompileRequestSpec spec, Record* record);
  std::optional<Failure> Get(const std::string& instance,
                             const std::string& action_hash, Record* record);
  // `client` does not want it any more; an administrator ends it for all. It
  // goes on while another client wants it.
  std::optional<Failure> Cancel(const std::string& instance,
                                const std::string& action_hash,
                                const std::string& client, bool administrator);
  std::optional<Failure> Delete(const std::string& instance,
                                const std::string& action_hash,
                                const std::string& client, bool administrator);
  // Calls `on_record` once: when it has ended, at `until` at the latest. The
  // ticket for GiveUp, after which it is not called.
  int64_t Wait(const std::string& instance, const std::string& action_hash,
               Clock::time_point until, OnRecord on_record);
  void GiveUp(int64_t ticket);

  // The server stops: who waits is answered now.
  void Drain();

  int64_t live() const;

 private:
  class Run;
  using Name = std::pair<std::string, std::string>;  // instance, action hash
  struct Waiter {
    Name name;
    Clock::time_point until;
    OnRecord on_record;
  };

  // `store_mutex_` is held.
  std::optional<Failure> Launch(const std::shared_ptr<Run>& run,
                                CompileRequestSpec spec);
  std::optional<Failure> TakeUp(const Record& record);
  std::shared_ptr<Run> FindRun(const Name& name) const;
  // A run's outcome is there: writes it down and tells who waits.
  void Finish(const Name& name);
  void EndRun(const std::shared_ptr<Run>& run, Record record);
  // False: the disk does not take it now.
  bool WriteEnd(Record* record);
  // `store_mutex_` is held: writes down how a run ended, and forgets the run.
  bool Settle(const std::shared_ptr<Run>& run);
  void SettleEnded(const std::vector<Name>& names);
  std::optional<Failure> Rewrite(const std::shared_ptr<Run>& run);
  void Tell(const Name& name, const Record& record);
  void Watch();
  void Work(std::unique_lock<std::mutex>& lock);

  const ServiceParts* const parts_;
  const std::chrono::seconds retention_;
  const int64_t limit_;
  // Held while an operation begins, ends, or changes in the store; before
  // `mutex_`.
  std::mutex store_mutex_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool draining_ = false;
  std::map<Name, std::shared_ptr<Run>> runs_;
  std::vector<Name> finished_;   // outcomes that are to be written down
  std::vector<Name> unwritten_;  // that ended while the disk was full
  std::vector<Record> pending_;  // that found the queue full after a restart
  std::map<int64_t, Waiter> waiters_;
  int64_t next_ticket_ = 1;
  Clock::time_point next_sweep_;
  std::unique_ptr<LoopThread> watch_;
};

}  // namespace fold

#endif  // FOLD_SERVER_RPC_OPERATION_TABLE_H_
