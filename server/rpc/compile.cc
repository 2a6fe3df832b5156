#include "server/rpc/compile.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>

#include "server/rpc/call_record.h"
#include "server/rpc/compile_request.h"
#include "server/rpc/status.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

constexpr size_t kChunkBytes = 1 << 20;
// A request up to this size is hashed where it arrives, and answered there if
// the answer is in memory: cheaper than to wake another thread.
constexpr int64_t kInlineBytes = 256 << 10;

// One call. gRPC holds it until OnDone, the lookup until that has ended; the
// scheduler knows it between Join and Leave, which OnDone or the lookup calls.
class CompileCall : public grpc::ServerWriteReactor<v1::CompileEvent>,
                    public CompileWaiter {
 public:
  CompileCall(const ServiceParts* parts, const v1::CompileRequest* request)
      : parts_(parts), request_(request), record_(parts->metrics, "Compile") {}

  void Begin() {
    auto bytes = static_cast<int64_t>(request_->ByteSizeLong());
    grant_ = parts_->budget->Take(bytes);
    if (!grant_) {
      return End(
          ToStatus({"BYTES_IN_FLIGHT",
                    "requests in the server hold too many bytes",
                    {{"limit", std::to_string(parts_->budget->limit())}}}));
    }
    if (bytes <= kInlineBytes && (!Prepare() || FindIn(parts_->hot))) return;
    ++holders_;
    if (!parts_->lookups->Submit([this] {
          LookUp();
          Release();
        })) {
      --holders_;
      End(ToStatus({"QUEUE_FULL", "too many requests wait to be looked up"}));
    }
  }

  // The lookup's thread.
  void LookUp() {
    if (!prepared_ && !Prepare()) return;
    if (FindIn(parts_->cache)) return;
    if (!request_->has_model()) return End(ToStatus(ModelMissing()));
    spec_.job.model = std::make_shared<const std::string>(request_->model());
    Scheduler::Ticket ticket;
    auto failure = parts_->scheduler->Join(std::move(spec_), this, &ticket);
    if (failure) return End(ToStatus(*failure));
    std::unique_lock lock(mutex_);
    if (!done_) {
      ticket_ = std::move(ticket);
      return;
    }
    lock.unlock();
    parts_->scheduler->Leave(ticket, this);
  }

  // The scheduler's threads.
  void OnJobEvent(const v1::JobEvent& event) override {
    v1::CompileEvent out;
    if (event.has_progress()) {
      *out.mutable_progress() = event.progress();
    } else {
      *out.mutable_diagnostic() = event.diagnostic();
    }
    std::unique_lock lock(mutex_);
    if (end_) return;
    // A slow reader hears of the latest progress, not of all.
    if (out.has_progress() && !outbox_.empty() &&
        outbox_.back().has_progress()) {
      outbox_.back() = std::move(out);
    } else {
      outbox_.push_back(std::move(out));
    }
    WriteNext(lock);
  }

  void OnOutcome(std::shared_ptr<const CompileOutcome> outcome) override {
    if (outcome->failure) return End(ToStatus(*outcome->failure));
    std::unique_lock lock(mutex_);
    if (end_) return;
    outcome_ = std::move(outcome);
    WriteNext(lock);
  }

  // gRPC's threads.
  void OnWriteDone(bool ok) override {
    std::unique_lock lock(mutex_);
    writing_ = false;
    if (!ok) {
      outbox_.clear();
      outcome_.reset();
      if (!end_) end_ = grpc::Status::CANCELLED;
    }
    WriteNext(lock);
  }

  void OnCancel() override {
    std::unique_lock lock(mutex_);
    outbox_.clear();
    outcome_.reset();
    if (!end_) end_ = grpc::Status::CANCELLED;
    WriteNext(lock);
  }

  void OnDone() override {
    Scheduler::Ticket ticket;
    {
      std::lock_guard lock(mutex_);
      done_ = true;
      ticket = std::move(ticket_);
    }
    if (ticket != nullptr) parts_->scheduler->Leave(ticket, this);
    record_.End(final_code_);
    Release();
  }

 private:
  // Makes the action of the request; false if that ended the call.
  bool Prepare() {
    auto failure = ReadCompileRequest(*request_, *parts_, &spec_);
    if (failure) End(ToStatus(*failure));
    prepared_ = true;
    return !failure;
  }

  // Answers from a cache, if the answer is there.
  bool FindIn(ResultCache* cache) {
    if (spec_.fresh) return false;
    auto found = cache->Find(spec_.job.action.digest.hash());
    if (!found) return false;
    auto outcome = std::make_shared<CompileOutcome>();
    outcome->result = std::move(*found);
    outcome->run.set_cached(true);
    OnOutcome(std::move(outcome));
    return true;
  }

  Failure ModelMissing() const {
    const auto& digest = request_->model_digest();
    Failure failure = {"MODEL_MISSING",
                       "the answer is not in the cache: send the model"};
    failure.missing_blobs = {"blobs/" + digest.hash() + "/" +
                             std::to_string(digest.size_bytes())};
    return failure;
  }

  void Release() {
    if (--holders_ == 0) delete this;
  }

  // The call ends with `status` once nothing is being written.
  void End(grpc::Status status) {
    std::unique_lock lock(mutex_);
    if (!end_) end_ = std::move(status);
    WriteNext(lock);
  }

  // Starts the next write or the end, if none is under way. gRPC is called
  // without the lock.
  void WriteNext(std::unique_lock<std::mutex>& lock) {
    if (writing_ || finished_) return;
    if (!outbox_.empty()) {
      current_ = std::move(outbox_.front());
      outbox_.pop_front();
    } else if (end_) {
      finished_ = true;
      final_code_ = end_->error_code();
      grpc::Status status = *end_;
      lock.unlock();
      return Finish(status);
    } else if (outcome_ == nullptr) {
      return;
    } else if (NextChunk()) {
      Result();
      finished_ = true;
      final_code_ = grpc::StatusCode::OK;
      lock.unlock();
      return StartWriteAndFinish(&current_, {}, grpc::Status::OK);
    }
    writing_ = true;
    lock.unlock();
    StartWrite(&current_);
  }

  // Puts the next piece into `current_`; whether it is the last.
  bool NextChunk() {
    const std::string& bytes = *outcome_->result.artifact;
    size_t size = std::min(kChunkBytes, bytes.size() - sent_bytes_);
    current_.Clear();
    v1::ArtifactChunk* chunk = current_.mutable_artifact_chunk();
    chunk->set_offset(static_cast<int64_t>(sent_bytes_));
    chunk->set_data(bytes.data() + sent_bytes_, size);
    sent_bytes_ += size;
    return sent_bytes_ == bytes.size();
  }

  void Result() {
    v1::CompileResult* result = current_.mutable_result();
    *result->mutable_report() = *outcome_->result.report;
    *result->mutable_report()->mutable_run() = outcome_->run;
    result->set_dump(outcome_->result.dump);
  }

  const ServiceParts* const parts_;
  const v1::CompileRequest* const request_;
  CallRecord record_;
  std::optional<ByteBudget::Grant> grant_;
  std::atomic<int> holders_{1};
  CompileRequestSpec spec_;  // until Join; one thread at a time
  bool prepared_ = false;

  std::mutex mutex_;
  Scheduler::Ticket ticket_;
  bool writing_ = false;             // gRPC has `current_`
  bool finished_ = false;            // gRPC has the status
  bool done_ = false;                // gRPC has let go
  std::optional<grpc::Status> end_;  // how it ends, once nothing is written
  grpc::StatusCode final_code_ = grpc::StatusCode::OK;
  std::deque<v1::CompileEvent> outbox_;
  v1::CompileEvent current_;  // being written
  std::shared_ptr<const CompileOutcome> outcome_;
  size_t sent_bytes_ = 0;
};

}  // namespace

grpc::ServerWriteReactor<v1::CompileEvent>* StartCompile(
    const ServiceParts* parts, const v1::CompileRequest* request) {
  auto* call = new CompileCall(parts, request);
  call->Begin();
  return call;
}

}  // namespace fold
