#include "server/rpc/operation_table.h"

#include <algorithm>
#include <ctime>

#include "google/protobuf/util/time_util.h"
#include "proto/google/rpc/status.pb.h"
#include "server/rpc/compile_request.h"
#include "server/rpc/status.h"
#include "spdlog/spdlog.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
using google::protobuf::util::TimeUtil;

constexpr int kMaxDiagnostics = 1000;
constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::seconds kSweepInterval{60};

Failure NoOperation() {
  return {"NO_OPERATION", "no operation of that name is known"};
}

Failure StoreFailure(const absl::Status& status) {
  if (absl::IsNotFound(status)) return NoOperation();
  return {absl::IsResourceExhausted(status) ? "STORAGE_FULL" : "STORAGE_FAILED",
          std::string(status.message())};
}

void SetError(const Failure& failure, v1::OperationRecord* record) {
  grpc::Status status = ToStatus(failure);
  google::rpc::Status* error = record->mutable_error();
  if (!error->ParseFromString(status.error_details())) error->Clear();
  error->set_code(status.error_code());
  error->set_message(status.error_message());
}

void SetResponse(const CompileOutcome& outcome, v1::OperationRecord* record) {
  v1::CompileOperationResponse* response = record->mutable_response();
  *response->mutable_artifact() = outcome.result.artifact_digest;
  v1::CompileResult* result = response->mutable_result();
  *result->mutable_report() = *outcome.result.report;
  *result->mutable_report()->mutable_run() = outcome.run;
  result->set_dump(outcome.result.dump);
}

Failure NotYours() {
  return {"NOT_YOUR_OPERATION", "another client started this operation"};
}

bool IsClient(const v1::OperationRecord& record, const std::string& client) {
  const auto& clients = record.clients();
  return std::find(clients.begin(), clients.end(), client) != clients.end();
}

bool IsDone(const v1::OperationRecord& record) {
  return record.result_case() != v1::OperationRecord::RESULT_NOT_SET;
}

}  // namespace

// An operation that has not ended: a waiter of its compile.
class OperationTable::Run : public CompileWaiter {
 public:
  Run(OperationTable* table, Name name, Record record)
      : name(std::move(name)), table_(table), record_(std::move(record)) {}

  // The scheduler's threads, which must not wait: what is to be written is
  // written by the table's own.
  void OnJobEvent(const v1::JobEvent& event) override {
    std::lock_guard lock(mutex_);
    v1::CompileOperationMetadata* metadata = record_.mutable_metadata();
    if (event.has_diagnostic()) {
      if (metadata->diagnostics_size() < kMaxDiagnostics) {
        *metadata->add_diagnostics() = event.diagnostic();
      }
      return;
    }
    *metadata->mutable_progress() = event.progress();
    if (event.progress().state() == v1::Progress::RUNNING &&
        metadata->stage() == v1::CompileOperationMetadata::QUEUED) {
      metadata->set_stage(v1::CompileOperationMetadata::RUNNING);
      *metadata->mutable_start_time() = TimeUtil::GetCurrentTime();
    }
  }

  void OnOutcome(std::shared_ptr<const CompileOutcome> outcome) override {
    {
      std::lock_guard lock(mutex_);
      outcome_ = std::move(outcome);
    }
    table_->Finish(name);
  }

  Record record() const {
    std::lock_guard lock(mutex_);
    return record_;
  }
  // How it ended, for as long as that cannot be written down.
  void SetRecord(Record record) {
    std::lock_guard lock(mutex_);
    record_ = std::move(record);
  }
  // Adds or removes one who wants it; how many there are then.
  int Want(const std::string& client, bool wants) {
    std::lock_guard lock(mutex_);
    auto* clients = record_.mutable_clients();
    auto found = std::find(clients->begin(), clients->end(), client);
    if (wants && found == clients->end()) *clients->Add() = client;
    if (!wants && found != clients->end()) clients->erase(found);
    return clients->size();
  }
  std::shared_ptr<const CompileOutcome> outcome() const {
    std::lock_guard lock(mutex_);
    return outcome_;
  }
  void SetTicket(Scheduler::Ticket ticket) {
    std::lock_guard lock(mutex_);
    ticket_ = std::move(ticket);
  }
  Scheduler::Ticket TakeTicket() {
    std::lock_guard lock(mutex_);
    return std::move(ticket_);
  }

  const Name name;

 private:
  OperationTable* const table_;
  mutable std::mutex mutex_;
  Record record_;
  Scheduler::Ticket ticket_;
  std::shared_ptr<const CompileOutcome> outcome_;
};

OperationTable::OperationTable(const ServiceParts* parts,
                               std::chrono::seconds retention, int64_t limit)
    : parts_(parts), retention_(retention), limit_(limit) {
  watch_ = std::make_unique<LoopThread>([this] { Watch(); });
}

OperationTable::~OperationTable() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  watch_.reset();
  for (auto& [name, run] : runs_) {
    if (auto ticket = run->TakeTicket()) {
      parts_->scheduler->Leave(ticket, run.get());
    }
  }
}

absl::Status OperationTable::Resume() {
  auto records = parts_->operation_store->Unfinished();
  if (!records.ok()) return records.status();
  for (const Record& record : *records) {
    auto failure = TakeUp(record);
    if (failure && failure->reason == "QUEUE_FULL") {
      std::lock_guard lock(mutex_);
      pending_.push_back(record);
    }
  }
  if (!records->empty()) {
    spdlog::info("took up {} operations of the last server", records->size());
  }
  return absl::OkStatus();
}

// Ends it with an error where it cannot go on.
std::optional<Failure> OperationTable::TakeUp(const Record& record) {
  Name name{record.instance_name(), record.action_hash()};
  CompileRequestSpec spec;
  auto failure = ReadCompileRequest(record.request(), *parts_, &spec);
  if (!failure && spec.job.action.digest.hash() != record.action_hash()) {
    failure = Failure{"UNKNOWN_COMPILER",
                      "the server has another compiler or other settings than "
                      "the one that began this: start it again",
                      {{"compiler_id", parts_->compiler_id}}};
  }
  if (!failure) failure = FindAnswerOrInputs(record.request(), *parts_, &spec);
  if (record.clients_size() > 0) spec.client = record.clients(0);
  std::unique_lock store_lock(store_mutex_);
  auto run = std::make_shared<Run>(this, name, record);
  if (!failure) failure = Launch(run, std::move(spec));
  bool later = failure && (failure->reason == "QUEUE_FULL" ||
                           failure->reason == "DRAINING");
  if (!failure || later) return failure;
  Record ended = record;
  SetError(*failure, &ended);
  WriteEnd(&ended);
  store_lock.unlock();
  Tell(name, ended);
  return failure;
}

std::shared_ptr<OperationTable::Run> OperationTable::FindRun(
    const Name& name) const {
  std::lock_guard lock(mutex_);
  auto found = runs_.find(name);
  return found != runs_.end() ? found->second : nullptr;
}

std::optional<Failure> OperationTable::Launch(const std::shared_ptr<Run>& run,
                                              CompileRequestSpec spec) {
  {
    std::lock_guard lock(mutex_);
    runs_[run->name] = run;
  }
  Scheduler::Ticket ticket;
  auto failure = parts_->scheduler->Join(std::move(spec), run, &ticket);
  if (!failure) {
    run->SetTicket(std::move(ticket));
    return std::nullopt;
  }
  std::lock_guard lock(mutex_);
  auto found = runs_.find(run->name);
  if (found != runs_.end() && found->second == run) runs_.erase(found);
  return failure;
}

std::optional<Failure> OperationTable::Start(const v1::CompileRequest& request,
                                             CompileRequestSpec spec,
                                             Record* record) {
  const Digest& action = spec.job.action.digest;
  Name name{spec.instance, action.hash()};
  std::lock_guard store_lock(store_mutex_);
  auto run = FindRun(name);
  if (run != nullptr && !IsDone(run->record())) {
    run->Want(spec.client, true);
    *record = run->record();
    return Rewrite(run);
  }
  if (run != nullptr && !Settle(run)) {
    return Failure{"STORAGE_FULL", "the last end of it is not written down"};
  }
  // What was acknowledged before stays, if this one cannot begin.
  auto before = parts_->operation_store->Get(name.first, name.second);
  record->set_instance_name(spec.instance);
  record->set_action_hash(action.hash());
  record->set_action_size_bytes(action.size_bytes());
  *record->mutable_request() = request;
  record->add_clients(spec.client);
  v1::CompileOperationMetadata* metadata = record->mutable_metadata();
  metadata->set_stage(v1::CompileOperationMetadata::QUEUED);
  *metadata->mutable_action_digest() = action;
  metadata->mutable_progress()->set_state(v1::Progress::QUEUED);
  *metadata->mutable_create_time() = TimeUtil::GetCurrentTime();
  metadata->set_client(spec.client);
  // Written first: what is acknowledged must be there after a restart.
  absl::Status written = parts_->operation_store->Put(*record);
  if (!written.ok()) return StoreFailure(written);
  run = std::make_shared<Run>(this, name, *record);
  auto failure = Launch(run, std::move(spec));
  if (failure && before.ok()) {
    (void)parts_->operation_store->Put(*before);
  } else if (failure) {
    (void)parts_->operation_store->Delete(name.first, name.second);
  }
  return failure;
}

std::optional<Failure> OperationTable::Rewrite(
    const std::shared_ptr<Run>& run) {
  absl::Status written = parts_->operation_store->Put(run->record());
  if (written.ok()) return std::nullopt;
  return StoreFailure(written);
}

std::optional<Failure> OperationTable::Get(const std::string& instance,
                                           const std::string& action_hash,
                                           Record* record) {
  if (auto run = FindRun({instance, action_hash})) {
    *record = run->record();
    return std::nullopt;
  }
  auto found = parts_->operation_store->Get(instance, action_hash);
  if (!found.ok()) return StoreFailure(found.status());
  *record = std::move(*found);
  return std::nullopt;
}

std::optional<Failure> OperationTable::Cancel(const std::string& instance,
                                              const std::string& action_hash,
                                              const std::string& client,
                                              bool administrator) {
  std::unique_lock store_lock(store_mutex_);
  auto run = FindRun({instance, action_hash});
  Record record;
  if (run != nullptr) record = run->record();
  // It has ended, or never was.
  if (run == nullptr || IsDone(record)) {
    return Get(instance, action_hash, &record);
  }
  bool own = IsClient(record, client);
  if (!own && !administrator) return NotYours();
  if (run->Want(client, false) > 0 && own) return Rewrite(run);
  store_lock.unlock();
  // Others who wait for the same compile, in calls of their own, go on.
  if (auto ticket = run->TakeTicket()) {
    parts_->scheduler->Leave(ticket, run.get());
  }
  record = run->record();
  SetError({"OPERATION_CANCELLED", "the operation was cancelled"}, &record);
  EndRun(run, std::move(record));
  return std::nullopt;
}

std::optional<Failure> OperationTable::Delete(const std::string& instance,
                                              const std::string& action_hash,
                                              const std::string& client,
                                              bool administrator) {
  Record record;
  if (auto failure = Get(instance, action_hash, &record)) return failure;
  if (!IsClient(record, client) && !administrator) return NotYours();
  std::unique_lock begun(store_mutex_);  // one that begins has its ticket then
  auto run = FindRun({instance, action_hash});
  begun.unlock();
  if (run != nullptr) {
    if (auto ticket = run->TakeTicket()) {
      parts_->scheduler->Leave(ticket, run.get());
    }
    SetError({"OPERATION_CANCELLED", "the operation was deleted"}, &record);
    EndRun(run, record);
  }
  std::lock_guard store_lock(store_mutex_);
  absl::Status gone = parts_->operation_store->Delete(instance, action_hash);
  if (!gone.ok()) return StoreFailure(gone);
  auto ended = FindRun({instance, action_hash});
  if (ended == nullptr || !IsDone(ended->record())) return std::nullopt;
  std::lock_guard lock(mutex_);
  runs_.erase(ended->name);
  return std::nullopt;
}

int64_t OperationTable::Wait(const std::string& instance,
                             const std::string& action_hash,
                             Clock::time_point until, OnRecord on_record) {
  std::lock_guard lock(mutex_);
  int64_t ticket = next_ticket_++;
  waiters_[ticket] = {{instance, action_hash}, until, std::move(on_record)};
  // What has ended already, or never was, is found by the table's thread.
  changed_.notify_all();
  return ticket;
}

void OperationTable::GiveUp(int64_t ticket) {
  std::lock_guard lock(mutex_);
  waiters_.erase(ticket);
}

void OperationTable::Drain() {
  std::lock_guard lock(mutex_);
  draining_ = true;
  changed_.notify_all();
}

int64_t OperationTable::live() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(runs_.size());
}

void OperationTable::Finish(const Name& name) {
  std::lock_guard lock(mutex_);
  finished_.push_back(name);
  changed_.notify_all();
}

bool OperationTable::WriteEnd(Record* record) {
  v1::CompileOperationMetadata* metadata = record->mutable_metadata();
  metadata->set_stage(v1::CompileOperationMetadata::DONE);
  *metadata->mutable_end_time() = TimeUtil::GetCurrentTime();
  absl::Status written = parts_->operation_store->Put(*record);
  if (written.ok()) return true;
  // It stays unfinished on the disk until it can be written: a later server
  // finds its answer in the cache or compiles it once more.
  spdlog::warn("the end of operation {} is not kept yet: {}",
               record->action_hash(), std::string(written.message()));
  return false;
}

bool OperationTable::Settle(const std::shared_ptr<Run>& run) {
  if (!parts_->operation_store->Put(run->record()).ok()) return false;
  std::lock_guard lock(mutex_);
  auto found = runs_.find(run->name);
  if (found != runs_.end() && found->second == run) runs_.erase(found);
  return true;
}

void OperationTable::SettleEnded(const std::vector<Name>& names) {
  for (const Name& name : names) {
    std::lock_guard store_lock(store_mutex_);
    auto run = FindRun(name);
    if (run == nullptr || !IsDone(run->record()) || Settle(run)) continue;
    std::lock_guard lock(mutex_);
    unwritten_.push_back(name);
  }
}

void OperationTable::EndRun(const std::shared_ptr<Run>& run, Record record) {
  {
    std::lock_guard store_lock(store_mutex_);
    if (FindRun(run->name) != run || IsDone(run->record())) {
      return;  // another was first
    }
    bool written = WriteEnd(&record);
    run->SetRecord(record);
    std::lock_guard lock(mutex_);
    if (written) {
      runs_.erase(run->name);
    } else {
      unwritten_.push_back(run->name);
    }
  }
  Tell(run->name, record);
}

void OperationTable::Tell(const Name& name, const Record& record) {
  std::vector<OnRecord> waiting;
  {
    std::lock_guard lock(mutex_);
    for (auto at = waiters_.begin(); at != waiters_.end();) {
      bool its = at->second.name == name;
      if (its) waiting.push_back(std::move(at->second.on_record));
      at = its ? waiters_.erase(at) : std::next(at);
    }
  }
  for (OnRecord& on_record : waiting) on_record(std::nullopt, record);
}

void OperationTable::Watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait_for(lock, kTick);
    Work(lock);
  }
  Work(lock);  // what ended last is written down, too
}

// One round of the table's thread: gives the lock back meanwhile.
void OperationTable::Work(std::unique_lock<std::mutex>& lock) {
  std::vector<Name> finished = std::move(finished_);
  finished_.clear();
  std::vector<Name> unwritten = std::move(unwritten_);
  unwritten_.clear();
  std::vector<Record> pending = std::move(pending_);
  pending_.clear();
  std::vector<std::pair<int64_t, Waiter>> waiting(waiters_.begin(),
                                                  waiters_.end());
  bool draining = draining_;
  bool sweep = Clock::now() >= next_sweep_;
  if (sweep) next_sweep_ = Clock::now() + kSweepInterval;
  lock.unlock();
  for (const Name& name : finished) {
    auto run = FindRun(name);
    auto outcome = run != nullptr ? run->outcome() : nullptr;
    if (outcome == nullptr) continue;  // cancelled meanwhile
    // The next server takes it up again.
    if (outcome->failure && outcome->failure->reason == "DRAINING") continue;
    Record record = run->record();
    if (outcome->failure) {
      SetError(*outcome->failure, &record);
    } else {
      SetResponse(*outcome, &record);
    }
    EndRun(run, std::move(record));
  }
  SettleEnded(unwritten);
  for (const Record& record : pending) {
    auto failure = TakeUp(record);
    if (!failure || failure->reason != "QUEUE_FULL") continue;
    std::lock_guard again(mutex_);
    pending_.push_back(record);
  }
  auto now = Clock::now();
  for (auto& [ticket, waiter] : waiting) {
    Record record;
    auto failure = Get(waiter.name.first, waiter.name.second, &record);
    bool due = draining || waiter.until <= now;
    if (!failure && !IsDone(record) && !due) continue;
    bool still = false;
    {
      std::lock_guard again(mutex_);
      still = waiters_.erase(ticket) > 0;
    }
    if (still) waiter.on_record(failure, record);
  }
  if (sweep) {
    auto oldest = std::time(nullptr) - retention_.count();
    auto swept = parts_->operation_store->Sweep(oldest, limit_);
    if (!swept.ok()) {
      spdlog::warn("operations: {}", std::string(swept.status().message()));
    }
  }
  lock.lock();
}

}  // namespace fold
