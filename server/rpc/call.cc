#include "server/rpc/call.h"

#include "grpcpp/impl/codegen/proto_utils.h"
#include "server/rpc/call_registry.h"
#include "server/rpc/status.h"

namespace fold {
namespace {

Failure StalledFailure(const char* what) {
  return {"CALLER_STALLED",
          std::string("the caller kept the call waiting: ") + what};
}

}  // namespace

bool ParseMessage(grpc::ByteBuffer* bytes, google::protobuf::Message* message) {
  return grpc::GenericDeserialize<grpc::ProtoBufferReader,
                                  google::protobuf::Message>(bytes, message)
      .ok();
}

Call::Call(const ServiceParts* parts,
           grpc::GenericCallbackServerContext* context, const Method* method)
    : parts_(parts),
      context_(context),
      method_(method),
      message_bytes_(method->message_bytes > 0
                         ? method->message_bytes
                         : parts->config->max_message_bytes) {}

Call::~Call() = default;

std::chrono::system_clock::time_point Call::deadline() const {
  return context_->deadline();
}

std::string Call::Header(const std::string& name) const {
  const auto& headers = context_->client_metadata();
  auto found = headers.find(name);
  if (found == headers.end()) return "";
  return {found->second.data(), found->second.size()};
}

void Call::Begin() {
  self_ = shared_from_this();
  auto self = self_;
  parts_->metrics->Count(Metric::kRpcStarted, {std::string(method_->service),
                                               std::string(method_->name)});
  if (!parts_->calls->Add(self_)) {
    return Fail({"TOO_MANY_CALLS",
                 "the server has as many calls as it takes",
                 {{"limit", std::to_string(parts_->calls->limit())}}});
  }
  if (auto failure = Identify()) return Fail(*failure);
  if (method_->make == nullptr) {
    return End({grpc::StatusCode::UNIMPLEMENTED,
                "the server has no method " + context_->method()});
  }
  handler_ = method_->make(this);
  Read();
}

std::optional<Failure> Call::Identify() {
  principal_ = {"anonymous", Role::kAdminister, {"*"}};
  return std::nullopt;
}

bool Call::Admit(const std::string& instance) { return !ended(); }

void Call::Read() {
  {
    std::lock_guard lock(mutex_);
    if (end_) return;
    SetWaits(Waits::kBytes);
  }
  // What the last message held is given back first: a call never waits for
  // bytes with bytes in its hands.
  in_.Clear();
  grant_.reset();
  int64_t ticket = parts_->budget->Wait(
      message_bytes_, [self = shared_from_this()](ByteBudget::Grant grant) {
        self->StartReading(std::move(grant));
      });
  if (ticket == 0) return;
  std::unique_lock lock(mutex_);
  // It may have come meanwhile, or the call may have ended.
  if (waits_ == Waits::kBytes && !end_) {
    ticket_ = ticket;
    return;
  }
  bool ended = end_.has_value();
  lock.unlock();
  if (ended) parts_->budget->GiveUp(ticket);
}

void Call::StartReading(ByteBudget::Grant grant) {
  std::lock_guard lock(mutex_);
  ticket_ = 0;
  if (end_) return;
  grant_ = std::move(grant);
  reading_ = true;
  SetWaits(Waits::kMessage);
  // Its end comes from another thread, never from inside this call.
  StartRead(&in_);
}

void Call::OnReadDone(bool ok) {
  auto self = shared_from_this();
  {
    std::unique_lock lock(mutex_);
    reading_ = false;
    if (end_) return;
    SetWaits(Waits::kNothing);
    if (ok && grant_) grant_->ShrinkTo(static_cast<int64_t>(in_.Length()));
  }
  if (ok && static_cast<int64_t>(in_.Length()) > message_bytes_) {
    Fail({"MESSAGE_TOO_LARGE",
          "the request is larger than this method takes",
          {{"limit_bytes", std::to_string(message_bytes_)}}});
  } else if (ok) {
    handler_->OnMessage(&in_);
  } else {
    handler_->OnHalfClose();
  }
}

void Call::Write(const google::protobuf::Message& message) {
  std::lock_guard lock(mutex_);
  if (end_ || writing_) return;
  bool own = false;
  out_.Clear();
  (void)grpc::GenericSerialize<grpc::ProtoBufferWriter,
                               google::protobuf::Message>(message, &out_, &own);
  writing_ = true;
  SetWaits(Waits::kWritten);
  StartWrite(&out_);
}

void Call::WriteAndEnd(const google::protobuf::Message& message) {
  auto self = shared_from_this();
  std::lock_guard lock(mutex_);
  if (end_ || writing_) return;
  bool own = false;
  out_.Clear();
  (void)grpc::GenericSerialize<grpc::ProtoBufferWriter,
                               google::protobuf::Message>(message, &out_, &own);
  writing_ = true;
  finished_ = true;
  end_ = grpc::Status::OK;
  SetWaits(Waits::kWritten);
  StartWriteAndFinish(&out_, {}, grpc::Status::OK);
}

void Call::OnWriteDone(bool ok) {
  auto self = shared_from_this();
  {
    std::unique_lock lock(mutex_);
    writing_ = false;
    if (!ok && !end_) end_ = grpc::Status::CANCELLED;
    if (end_) return Advance(lock);
    SetWaits(Waits::kNothing);
  }
  handler_->OnWritten();
}

void Call::End(grpc::Status status) {
  auto self = shared_from_this();
  std::unique_lock lock(mutex_);
  if (end_) return;
  end_ = std::move(status);
  Advance(lock);
}

void Call::Fail(const Failure& failure) { End(ToStatus(failure)); }

void Call::Advance(std::unique_lock<std::mutex>& lock) {
  int64_t ticket = std::exchange(ticket_, 0);
  if (!finished_ && !writing_) {
    finished_ = true;
    Finish(*end_);
  }
  lock.unlock();
  if (ticket != 0) parts_->budget->GiveUp(ticket);
}

void Call::OnCancel() {
  auto self = shared_from_this();
  if (handler_ != nullptr) handler_->OnCancelled();
  End(grpc::Status::CANCELLED);
}

void Call::OnDone() {
  grpc::StatusCode code = end_ ? end_->error_code() : grpc::StatusCode::UNKNOWN;
  std::string service(method_->service), name(method_->name);
  std::chrono::duration<double> took = Clock::now() - start_;
  parts_->metrics->Count(Metric::kRpcHandled, {service, name, CodeName(code)});
  parts_->metrics->Observe(Metric::kRpcSeconds, {service, name}, took.count());
  parts_->calls->Remove(this);
  auto self = std::move(self_);  // what the handler holds may outlive it
}

void Call::Run(std::function<void()> task) {
  bool taken = parts_->lookups->Submit(
      [self = shared_from_this(), task = std::move(task)] { task(); });
  if (!taken) {
    Fail({"QUEUE_FULL", "too many requests wait to be looked up"});
  }
}

bool Call::HoldBytes(int64_t bytes) {
  auto grant = parts_->budget->Take(bytes);
  std::lock_guard lock(mutex_);
  held_ = std::move(grant);
  return held_.has_value();
}

bool Call::ended() const {
  std::lock_guard lock(mutex_);
  return end_.has_value();
}

void Call::SetWaits(Waits what) {
  waits_ = what;
  waits_since_ = Clock::now();
}

void Call::CheckStall(Clock::time_point now, Clock::duration stall,
                      Clock::duration wait) {
  Waits waits;
  {
    std::lock_guard lock(mutex_);
    waits = waits_;
    if (waits == Waits::kNothing) return;
    if (now - waits_since_ < (waits == Waits::kBytes ? wait : stall)) return;
  }
  switch (waits) {
    case Waits::kBytes:
      return Fail({"BYTES_IN_FLIGHT",
                   "requests in the server hold too many bytes",
                   {{"limit", std::to_string(parts_->budget->limit())}}});
    case Waits::kMessage:
      if (handler_ != nullptr) handler_->OnCancelled();
      return Fail(StalledFailure("no message came"));
    default:
      // What cannot be written cannot be followed by a status, either.
      parts_->metrics->Count(Metric::kCallsStalled);
      context_->TryCancel();
  }
}

}  // namespace fold
