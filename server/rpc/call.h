// One call of any RPC, on gRPC's generic interface: bytes in, bytes out. It
// takes bytes from the server's budget before it reads a message, writes one
// message at a time, ends once, and is recorded. What the RPC does is its
// CallHandler's.
#ifndef FOLD_SERVER_RPC_CALL_H_
#define FOLD_SERVER_RPC_CALL_H_

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "google/protobuf/message.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/access/audit_log.h"
#include "server/access/gatekeeper.h"
#include "server/access/principal.h"
#include "server/access/quota.h"
#include "server/byte_budget.h"
#include "server/failure.h"
#include "server/rpc/service_parts.h"
#include "server/telemetry/log.h"
#include "server/telemetry/trace.h"

namespace fold {

class Call;

// Bytes of a message that is a piece of something larger. Every call has at
// most one of them on its way: the number of calls bounds what that takes.
inline constexpr size_t kStreamBytes = 128 << 10;

// What an RPC does with its call. Methods come one after another from gRPC's
// threads, OnCancelled from any at any time; none may block.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  // The message that Read asked for. Its bytes count until the next Read.
  virtual void OnMessage(grpc::ByteBuffer* message) = 0;
  // Instead of a message: the caller sends nothing more.
  virtual void OnHalfClose() {}
  // What Write was given is out.
  virtual void OnWritten() {}
  // The caller has gone, its deadline has passed, or it stalls: the call ends
  // by itself.
  virtual void OnCancelled() {}
};

// A row of the table of methods.
struct Method {
  std::string_view service;
  std::string_view name;
  Role role = Role::kRead;  // that it takes
  // Bytes of one message of the caller; 0: as the server's limit says.
  int64_t message_bytes = 64 << 10;
  std::unique_ptr<CallHandler> (*make)(Call* call) = nullptr;
  // Whether the audit log has a line for each call.
  bool audited = false;
};

class Call : public grpc::ServerGenericBidiReactor,
             public std::enable_shared_from_this<Call> {
 public:
  using Clock = std::chrono::steady_clock;

  Call(const ServiceParts* parts, grpc::GenericCallbackServerContext* context,
       const Method* method);
  ~Call() override;

  const ServiceParts& parts() const { return *parts_; }
  const Method& method() const { return *method_; }
  const Principal& principal() const { return principal_; }
  // When the caller stops waiting; the end of time if it did not say.
  std::chrono::system_clock::time_point deadline() const;
  // The first value of a header; empty without one.
  std::string Header(const std::string& name) const;

  // Identifies the caller and begins; the call must be held by a shared_ptr.
  void Begin();

  // For the handler, from any thread. After the end they do nothing.
  //
  // Asks for the next message; OnMessage or OnHalfClose follows.
  void Read();
  // One message; OnWritten follows, and the next Write after that.
  void Write(const google::protobuf::Message& message);
  void WriteAndEnd(const google::protobuf::Message& message);
  void End(grpc::Status status);
  void Fail(const Failure& failure);
  // Runs `task` on a thread that may block; the call lives at least as long.
  void Run(std::function<void()> task);
  // Counts that many more bytes as held until the call ends; false if they are
  // not free.
  bool HoldBytes(int64_t bytes);
  // Whether the caller may use this instance; if not, the call has ended.
  bool Admit(const std::string& instance);
  // Writes down that the call is allowed, before it does anything. What
  // administers waits until that is on the disk (so only on a thread that may
  // block), and is refused where it cannot be: then the call has ended.
  bool Audit(const std::string& action_digest = "");
  // One compile of the caller's quota, until the call has ended or
  // `grant` is gone; false if that was too many, and the call has ended.
  bool TakeCompile(Quota::Grant* grant);
  bool ended() const;

  // The span of the call, from Begin on.
  const TraceContext& trace() const { return span_.context(); }
  // The call depends on a span of another trace: a compile that it shares.
  void LinkTo(const TraceContext& other);
  // For the call's line in the log.
  void Describe(const std::string& instance, const std::string& request_id,
                const std::string& action_digest);

  // What the watch does, now and then: ends the call if its caller has kept it
  // waiting for longer than `stall`, or bytes were not to be had for `wait`.
  void CheckStall(Clock::time_point now, Clock::duration stall,
                  Clock::duration wait);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  enum class Waits { kNothing, kBytes, kMessage, kWritten };

  std::optional<Failure> Identify();
  void AuditRefusal(const Failure& failure);
  AuditRecord NewRecord(const std::string& decision,
                        const std::string& reason) const;
  void Record();
  void StartReading(ByteBudget::Grant grant);
  // Called with the lock held.
  void SetWaits(Waits what);
  void Advance(std::unique_lock<std::mutex>& lock);

  const ServiceParts* const parts_;
  grpc::GenericCallbackServerContext* const context_;
  const Method* const method_;
  const int64_t message_bytes_;
  const Clock::time_point start_ = Clock::now();
  PeerFacts peer_;
  Principal principal_;
  Quota::Grant quota_bytes_;  // of the message
  Span span_;                 // parts of it that change, with the lock held
  CallLog log_;
  std::unique_ptr<CallHandler> handler_;
  std::shared_ptr<Call> self_;  // gRPC's hold, until OnDone

  mutable std::mutex mutex_;
  grpc::ByteBuffer in_;   // gRPC's while it reads, the handler's afterwards
  grpc::ByteBuffer out_;  // gRPC's while it writes
  std::optional<ByteBudget::Grant> grant_;
  std::optional<ByteBudget::Grant> held_;  // beyond the message
  int64_t ticket_ = 0;                     // of waiting for bytes
  bool reading_ = false;
  bool writing_ = false;
  bool finished_ = false;            // gRPC has the status
  std::optional<grpc::Status> end_;  // how it ends, once nothing is written
  Waits waits_ = Waits::kNothing;
  Clock::time_point waits_since_;
};

// The message in `bytes`; false if it is not one.
bool ParseMessage(grpc::ByteBuffer* bytes, google::protobuf::Message* message);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_CALL_H_
