// The C++ client of foldd. Calls block; every failure comes back as a
// ClientError with the exit code that the error table gives it.
#ifndef FOLD_CLIENT_CLIENT_H_
#define FOLD_CLIENT_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grpcpp/support/status.h"
#include "proto/foldd/v1/compiler_service.grpc.pb.h"
#include "proto/grpc/health/v1/health.grpc.pb.h"

namespace fold {

struct ClientError {
  int exit_code = 0;    // never 0 in an error
  std::string reason;   // a row of error_table.def, or a status's name
  std::string message;  // for people
  // "field: what is wrong with it", if the request is at fault.
  std::vector<std::string> violations;
  int64_t retry_milliseconds = 0;  // 0: a retry does not help
};

// "error[QUEUE_FULL]: all workers are busy", with a line a violation.
std::string FormatError(const ClientError& error);

// What a gRPC status says, by its details if it has them.
ClientError ReadStatus(const grpc::Status& status);

struct CompileAnswer {
  std::string artifact;  // checked against the report's digest
  foldd::v1::CompileReport report;
  std::string dump;
};

class Client {
 public:
  // Of MakeChannel (client/connection.h). Connects with the first call.
  // `timeout_milliseconds` is the deadline of each call; 0: none.
  Client(std::shared_ptr<grpc::Channel> channel, int64_t timeout_milliseconds);

  // The trace that later calls belong to, as W3C's traceparent; "": none. Text
  // that cannot be one is ignored: false.
  bool SetTraceparent(const std::string& traceparent);

  // `on_event` hears progress and diagnostics as they come.
  std::optional<ClientError> Compile(
      const foldd::v1::CompileRequest& request,
      const std::function<void(const foldd::v1::CompileEvent&)>& on_event,
      CompileAnswer* answer);
  // Starts it as long work.
  std::optional<ClientError> StartCompile(
      const foldd::v1::CompileRequest& request,
      google::longrunning::Operation* operation);
  std::optional<ClientError> Resolve(const foldd::v1::ResolveRequest& request,
                                     foldd::v1::ResolveResponse* response);
  std::optional<ClientError> ListTargets(
      foldd::v1::ListTargetsResponse* response);
  std::optional<ClientError> GetTarget(const std::string& name,
                                       foldd::v1::GetTargetResponse* response);
  std::optional<ClientError> CheckTarget(
      const foldd::v1::TargetDescriptor& target,
      foldd::v1::CheckTargetResponse* response);
  // "SERVING", "NOT_SERVING" …
  std::optional<ClientError> Health(std::string* serving);

  // For stubs of other services; a context gets the deadline and metadata of a
  // call.
  std::shared_ptr<grpc::Channel> channel() const { return channel_; }
  void SetUp(grpc::ClientContext* context) const;

 private:
  const int64_t timeout_milliseconds_;
  std::string traceparent_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<foldd::v1::Compiler::Stub> compiler_;
  std::unique_ptr<grpc::health::v1::Health::Stub> health_;
};

}  // namespace fold

#endif  // FOLD_CLIENT_CLIENT_H_
