#include "server/rpc/call.h"

#include "grpcpp/impl/codegen/proto_utils.h"
#include "server/access/credentials.h"
#include "server/rpc/call_registry.h"
#include "server/rpc/status.h"
#include "server/telemetry/rpc_span.h"

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

// The handler first: the scheduler may be telling it something until it has
// left there, and it tells us.
Call::~Call() { handler_.reset(); }

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
  span_ = StartRpcSpan(parts_->tracer, std::string(method_->service),
                       std::string(method_->name), Header("traceparent"),
                       Header("tracestate"));
  if (!parts_->calls->Add(self_)) {
    return Fail({"TOO_MANY_CALLS",
                 "the server has as many calls as it takes",
                 {{"limit", std::to_string(parts_->calls->limit())}}});
  }
  if (auto failure = Identify()) {
    AuditRefusal(*failure);
    return Fail(*failure);
  }
  if (method_->make == nullptr) {
    return End({grpc::StatusCode::UNIMPLEMENTED,
                "the server has no method " + context_->method()});
  }
  handler_ = method_->make(this);
  Read();
}

std::optional<Failure> Call::Identify() {
  peer_ = FactsOf(*context_);
  if (auto failure = parts_->gatekeeper->Identify(peer_, &principal_)) {
    return failure;
  }
  // The role is known before anything is read; the instance after that.
  if (principal_.role < method_->role) {
    return Failure{"NOT_ALLOWED",
                   principal_.name + " may not do this: it needs the role " +
                       std::string(RoleName(method_->role)),
                   {{"principal", principal_.name},
                    {"role", std::string(RoleName(method_->role))}}};
  }
  return parts_->quota->TakeRequest(principal_.name);
}

AuditRecord Call::NewRecord(const std::string& decision,
                            const std::string& reason) const {
  AuditRecord record;
  record.time = std::chrono::system_clock::now();
  record.principal = principal_.name;
  record.peer = peer_.address;
  record.method =
      std::string(method_->service) + "/" + std::string(method_->name);
  record.decision = decision;
  record.reason = reason;
  std::lock_guard lock(mutex_);
  record.instance = log_.instance;
  record.action_digest = log_.action_digest;
  return record;
}

bool Call::Audit(const std::string& action_digest) {
  AuditRecord record = NewRecord("allowed", "");
  if (!action_digest.empty()) record.action_digest = action_digest;
  bool administers = method_->role >= Role::kAdminister;
  absl::Status status =
      parts_->audit->Append(record, administers ? AuditLog::Sync::kBeforeReturn
                                                : AuditLog::Sync::kBatched);
  if (status.ok() || !administers) return true;
  Fail({"AUDIT_UNAVAILABLE",
        "the audit log cannot be written: " + std::string(status.message())});
  return false;
}

void Call::AuditRefusal(const Failure& failure) {
  if (!method_->audited) return;
  // Counted by the log itself where it cannot be written.
  (void)parts_->audit->Append(NewRecord("refused", failure.reason),
                              AuditLog::Sync::kBatched);
}

bool Call::TakeCompile(Quota::Grant* grant) {
  auto failure = parts_->quota->TakeCompile(principal_.name, grant);
  if (!failure) return true;
  AuditRefusal(*failure);
  Fail(*failure);
  return false;
}

bool Call::Admit(const std::string& instance) {
  {
    std::lock_guard lock(mutex_);
    log_.instance = instance;
  }
  auto failure = parts_->gatekeeper->Admit(principal_, method_->role, instance);
  if (!failure) return !ended();
  AuditRefusal(*failure);
  Fail(*failure);
  return false;
}

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
    if (ok) log_.request_bytes += static_cast<int64_t>(in_.Length());
    if (ok && grant_) grant_->ShrinkTo(static_cast<int64_t>(in_.Length()));
  }
  if (ok && static_cast<int64_t>(in_.Length()) > message_bytes_) {
    Fail({"MESSAGE_TOO_LARGE",
          "the request is larger than this method takes",
          {{"limit_bytes", std::to_string(message_bytes_)}}});
  } else if (ok) {
    // What the last message took is given back by the assignment.
    quota_bytes_ = Quota::Grant();
    auto failure = parts_->quota->TakeBytes(
        principal_.name, static_cast<int64_t>(in_.Length()), &quota_bytes_);
    if (failure) return Fail(*failure);
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
  log_.response_bytes += static_cast<int64_t>(out_.Length());
  writing_ = true;
  SetWaits(Waits::kWritten);
  StartWrite(&out_);
}

void Call::WriteAndEnd(const google::protobuf::Message& message) {
  auto self = weak_from_this().lock();
  if (self == nullptr) return;  // it is over, and its handler on its way out
  std::lock_guard lock(mutex_);
  if (end_ || writing_) return;
  bool own = false;
  out_.Clear();
  (void)grpc::GenericSerialize<grpc::ProtoBufferWriter,
                               google::protobuf::Message>(message, &out_, &own);
  log_.response_bytes += static_cast<int64_t>(out_.Length());
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
  auto self = weak_from_this().lock();
  if (self == nullptr) return;
  std::unique_lock lock(mutex_);
  if (end_) return;
  end_ = std::move(status);
  Advance(lock);
}

void Call::Fail(const Failure& failure) {
  {
    std::lock_guard lock(mutex_);
    if (end_) return;
    log_.reason = failure.reason;
  }
  End(ToStatus(failure));
}

void Call::LinkTo(const TraceContext& other) {
  std::lock_guard lock(mutex_);
  if (other.span_id != span_.context().span_id) span_.AddLink(other);
}

void Call::Describe(const std::string& instance, const std::string& request_id,
                    const std::string& action_digest) {
  std::lock_guard lock(mutex_);
  log_.instance = instance;
  log_.request_id = request_id;
  log_.action_digest = action_digest;
  span_.Set("foldd.action_digest", action_digest);
}

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

// Metrics, span and log line of a call that has ended.
void Call::Record() {
  grpc::Status end(grpc::StatusCode::UNKNOWN, "");
  std::chrono::duration<double> took = Clock::now() - start_;
  CallLog log;
  {
    std::lock_guard lock(mutex_);
    if (end_) end = *end_;
    EndRpcSpan(&span_, end.error_code(), end.error_message());
    log = log_;
  }
  log.service = method_->service;
  log.method = method_->name;
  log.code = CodeName(end.error_code());
  log.principal = principal_.name;
  log.peer = peer_.address;
  log.trace = span_.context();
  log.duration_milliseconds = took.count() * 1e3;
  parts_->metrics->Count(Metric::kRpcHandled,
                         {log.service, log.method, log.code});
  parts_->metrics->Observe(Metric::kRpcSeconds, {log.service, log.method},
                           took.count());
  LogCall(log);
}

void Call::OnDone() {
  Record();
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
