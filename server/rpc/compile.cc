#include "server/rpc/compile.h"

#include <algorithm>
#include <deque>
#include <mutex>

#include "compiler/api/action.h"
#include "server/rpc/blob_names.h"
#include "server/rpc/compile_request.h"
#include "server/rpc/request_id.h"
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
    if (bytes <= kInlineBytes && request_.request_id().empty() &&
        (!Prepare() || FindIn(call_->parts().hot))) {
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
    // The scheduler forgets us now.
    ticket_.reset();
    // Given back before the caller has the answer, and may ask for the next.
    quota_ = Quota::Grant();
    WriteNext(lock);
  }

 private:
  // A thread that may block.
  void LookUp() {
    if (!prepared_ && !Prepare()) return;
    const ServiceParts& parts = call_->parts();
    auto failure = BindRequestId(*call_, request_, &spec_);
    if (!failure) {
      failure = parts.cache->Recalled(NameOf(spec_));
    }
    if (failure) return call_->Fail(*failure);
    if (FindIn(parts.cache)) return;
    if (!call_->TakeCompile(&quota_)) return;
    failure = CollectInputs(request_, parts, &spec_);
    Scheduler::Ticket ticket;
    if (!failure) {
      // Whoever holds the waiter holds the call that it is a part of.
      std::shared_ptr<CompileWaiter> self(call_->shared_from_this(), this);
      failure = parts.scheduler->Join(std::move(spec_), self, &ticket);
    }
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
    spec_.client = call_->principal().name;
    if (failure) {
      call_->Fail(*failure);
    } else {
      (void)call_->Audit(spec_.job.action.digest.hash());
    }
    spec_.trace = call_->trace();
    call_->Describe(request_.instance_name(), request_.request_id(),
                    spec_.job.action.digest.hash());
    prepared_ = true;
    return !failure;
  }

  // Answers from a cache, if the answer is there.
  bool FindIn(ResultCache* cache) {
    if (spec_.fresh) return false;
    auto found = cache->Find(NameOf(spec_));
    if (!found) return false;
    auto outcome = std::make_shared<CompileOutcome>();
    outcome->result = std::move(*found);
    outcome->run.set_cached(true);
    OnOutcome(std::move(outcome));
    return true;
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
    } else if (outcome_->result.artifact == nullptr &&
               !request_.omit_artifact()) {
      writing_ = true;
      lock.unlock();
      // It lies on the disk, and reading may block.
      return call_->Run([this] { SendPiece(); });
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
    if (request_.omit_artifact()) {
      PutResult(event);
      return true;
    }
    const std::string& bytes = *outcome_->result.artifact;
    size_t size = std::min(kStreamBytes, bytes.size() - sent_bytes_);
    v1::ArtifactChunk* chunk = event->mutable_artifact_chunk();
    chunk->set_offset(static_cast<int64_t>(sent_bytes_));
    chunk->set_data(bytes.data() + sent_bytes_, size);
    sent_bytes_ += size;
    if (sent_bytes_ < bytes.size()) return false;
    PutResult(event);
    return true;
  }

  // The next piece of an artifact that is read from the cache.
  void SendPiece() {
    const CachedResult& cached = outcome_->result;
    std::string blob = BlobText(cached.artifact_digest);
    if (reader_ == nullptr) {
      auto reader = call_->parts().blobs->Open(
          {Space::kBlob, cached.artifact_digest.hash(),
           request_.instance_name()},
          cached.artifact_digest.size_bytes());
      if (!reader.ok()) return call_->Fail(BlobFailure(reader.status(), blob));
      reader_ = std::move(*reader);
    }
    auto piece = reader_->Read(static_cast<int64_t>(kStreamBytes));
    if (!piece.ok()) return call_->Fail(BlobFailure(piece.status(), blob));
    v1::CompileEvent event;
    event.mutable_artifact_chunk()->set_offset(
        static_cast<int64_t>(sent_bytes_));
    sent_bytes_ += piece->size();
    event.mutable_artifact_chunk()->set_data(std::move(*piece));
    if (static_cast<int64_t>(sent_bytes_) < reader_->size()) {
      return call_->Write(event);
    }
    PutResult(&event);
    call_->WriteAndEnd(event);
  }

  void PutResult(v1::CompileEvent* event) const {
    v1::CompileResult* result = event->mutable_result();
    *result->mutable_report() = *outcome_->result.report;
    *result->mutable_report()->mutable_run() = outcome_->run;
    result->set_dump(outcome_->result.dump);
  }

  Call* const call_;
  v1::CompileRequest request_;
  CompileRequestSpec spec_;  // until Join; one thread at a time
  bool prepared_ = false;
  Quota::Grant quota_;  // of a compile that waits or runs

  std::mutex mutex_;
  Scheduler::Ticket ticket_;
  bool cancelled_ = false;
  bool writing_ = false;
  std::deque<v1::CompileEvent> outbox_;
  std::shared_ptr<const CompileOutcome> outcome_;
  std::unique_ptr<BlobReader> reader_;  // of an artifact on the disk
  size_t sent_bytes_ = 0;
};

}  // namespace

std::unique_ptr<CallHandler> MakeCompile(Call* call) {
  return std::make_unique<CompileHandler>(call);
}

}  // namespace fold
