#include "server/rpc/compile.h"

#include <algorithm>
#include <deque>
#include <mutex>

#include "server/rpc/compile_request.h"
#include "server/rpc/unary.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

// A request up to this size is hashed where it arrives, and answered there if
// the answer is in memory: cheaper than to wake another thread.
constexpr size_t kInlineBytes = 256 << 10;

// The scheduler knows it between Join and Leave.
class CompileHandler : public CallHandler, public CompileWaiter {
 public:
  explicit CompileHandler(Call* call) : call_(call) {}
  ~CompileHandler() override { LeaveFlight(); }

  void OnMessage(grpc::ByteBuffer* message) override {
    size_t bytes = message->Length();
    if (!ParseMessage(message, &request_)) {
      return call_->Fail(NotOneMessage("cannot be parsed"));
    }
    if (!call_->Admit(request_.instance_name())) return;
    if (bytes <= kInlineBytes && (!Prepare() || FindIn(call_->parts().hot))) {
      return;
    }
    call_->Run([this] { LookUp(); });
  }

  void OnHalfClose() override { call_->Fail(NotOneMessage("is missing")); }

  void OnWritten() override {
    std::unique_lock lock(mutex_);
    writing_ = false;
    WriteNext(lock);
  }

  void OnCancelled() override {
    {
      std::lock_guard lock(mutex_);
      cancelled_ = true;
    }
    LeaveFlight();
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
    std::unique_lock lock(mutex_);
    outcome_ = std::move(outcome);
    // The scheduler forgets us now. Its locks are held, and the write may be
    // the end of this object, which must not call it then.
    Scheduler::Ticket over = std::move(ticket_);
    WriteNext(lock);
  }

 private:
  // A thread that may block.
  void LookUp() {
    if (!prepared_ && !Prepare()) return;
    if (FindIn(call_->parts().cache)) return;
    if (!request_.has_model()) return call_->Fail(ModelMissing());
    spec_.job.model = std::make_shared<const std::string>(request_.model());
    Scheduler::Ticket ticket;
    auto failure =
        call_->parts().scheduler->Join(std::move(spec_), this, &ticket);
    if (failure) return call_->Fail(*failure);
    call_->LinkTo(Scheduler::TraceOf(ticket));
    {
      std::lock_guard lock(mutex_);
      if (outcome_ != nullptr) return;
      ticket_ = std::move(ticket);
      if (!cancelled_) return;
    }
    LeaveFlight();
  }

  void LeaveFlight() {
    Scheduler::Ticket ticket;
    {
      std::lock_guard lock(mutex_);
      ticket = std::move(ticket_);
    }
    if (ticket != nullptr) call_->parts().scheduler->Leave(ticket, this);
  }

  // Makes the action of the request; false if that ended the call.
  bool Prepare() {
    auto failure = ReadCompileRequest(request_, call_->parts(), &spec_);
    if (failure) call_->Fail(*failure);
    spec_.trace = call_->trace();
    call_->Describe(request_.instance_name(), request_.request_id(),
                    spec_.job.action.digest.hash());
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
    const auto& digest = request_.model_digest();
    Failure failure = {"MODEL_MISSING",
                       "the answer is not in the cache: send the model"};
    failure.missing_blobs = {"blobs/" + digest.hash() + "/" +
                             std::to_string(digest.size_bytes())};
    return failure;
  }

  // Starts the next write or the end, if none is under way.
  void WriteNext(std::unique_lock<std::mutex>& lock) {
    if (writing_) return;
    v1::CompileEvent event;
    bool last = false;
    if (!outbox_.empty()) {
      event = std::move(outbox_.front());
      outbox_.pop_front();
    } else if (outcome_ == nullptr) {
      return;
    } else if (outcome_->failure) {
      Failure failure = *outcome_->failure;
      lock.unlock();
      return call_->Fail(failure);
    } else {
      last = NextChunk(&event);
    }
    writing_ = true;
    lock.unlock();
    if (last) {
      call_->WriteAndEnd(event);
    } else {
      call_->Write(event);
    }
  }

  // Puts the next piece into `event`; whether it is the last.
  bool NextChunk(v1::CompileEvent* event) {
    const std::string& bytes = *outcome_->result.artifact;
    size_t size = std::min(kStreamBytes, bytes.size() - sent_bytes_);
    v1::ArtifactChunk* chunk = event->mutable_artifact_chunk();
    chunk->set_offset(static_cast<int64_t>(sent_bytes_));
    chunk->set_data(bytes.data() + sent_bytes_, size);
    sent_bytes_ += size;
    if (sent_bytes_ < bytes.size()) return false;
    v1::CompileResult* result = event->mutable_result();
    *result->mutable_report() = *outcome_->result.report;
    *result->mutable_report()->mutable_run() = outcome_->run;
    result->set_dump(outcome_->result.dump);
    return true;
  }

  Call* const call_;
  v1::CompileRequest request_;
  CompileRequestSpec spec_;  // until Join; one thread at a time
  bool prepared_ = false;

  std::mutex mutex_;
  Scheduler::Ticket ticket_;
  bool cancelled_ = false;
  bool writing_ = false;
  std::deque<v1::CompileEvent> outbox_;
  std::shared_ptr<const CompileOutcome> outcome_;
  size_t sent_bytes_ = 0;
};

}  // namespace

std::unique_ptr<CallHandler> MakeCompile(Call* call) {
  return std::make_unique<CompileHandler>(call);
}

}  // namespace fold
