#include "client/client.h"

#include <chrono>

#include "compiler/api/error_table.h"
#include "compiler/api/sha256.h"
#include "grpcpp/grpcpp.h"
#include "proto/google/rpc/error_details.pb.h"
#include "proto/google/rpc/status.pb.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

// A status from gRPC itself or from something between us and the server.
ClientError ReadPlainStatus(const grpc::Status& status) {
  ClientError error;
  auto code = static_cast<StatusCode>(status.error_code());
  error.message = status.error_message();
  error.exit_code = ExitCodeOfStatus(code);
  error.reason = std::string(StatusCodeName(code));
  if (code == StatusCode::UNAVAILABLE) {
    error.reason = "SERVER_UNREACHABLE";
  } else if (code == StatusCode::DEADLINE_EXCEEDED) {
    error.reason = "DEADLINE";
  } else if (code == StatusCode::CANCELLED) {
    error.reason = "CALL_CANCELLED";
  } else if (code == StatusCode::RESOURCE_EXHAUSTED &&
             error.message.find("larger than max") != std::string::npos) {
    // The server's limit on messages; trying again does not help.
    error.reason = "MODEL_TOO_LARGE";
    error.exit_code = kExitInput;
  }
  return error;
}

ClientError Broken(const std::string& message) {
  return {kExitInternal, "PROTOCOL", message, {}, 0};
}

// Puts an answer together from the events of a call.
class AnswerBuilder {
 public:
  explicit AnswerBuilder(CompileAnswer* answer) : answer_(answer) {}

  void Take(v1::CompileEvent* event) {
    if (event->has_artifact_chunk()) {
      const v1::ArtifactChunk& chunk = event->artifact_chunk();
      in_order_ &=
          chunk.offset() == static_cast<int64_t>(answer_->artifact.size());
      answer_->artifact += chunk.data();
    }
    if (event->has_result()) {
      have_result_ = true;
      answer_->report.Swap(event->mutable_result()->mutable_report());
      answer_->dump = event->result().dump();
    }
  }

  std::optional<ClientError> Check() const {
    if (!have_result_ || !in_order_) {
      return Broken("the server's answer is not complete");
    }
    const v1::ArtifactSummary& summary = answer_->report.artifact();
    if (summary.digest() != Sha256Hex(answer_->artifact)) {
      return Broken("the artifact that came is not the one of the report");
    }
    return std::nullopt;
  }

 private:
  CompileAnswer* answer_;
  bool have_result_ = false;
  bool in_order_ = true;
};

}  // namespace

std::string FormatError(const ClientError& error) {
  std::string text = "error[" + error.reason + "]: " + error.message;
  for (const std::string& violation : error.violations) {
    text += "\n  " + violation;
  }
  return text;
}

ClientError ReadStatus(const grpc::Status& status) {
  ClientError error = ReadPlainStatus(status);
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return error;
  for (const auto& detail : details.details()) {
    google::rpc::ErrorInfo info;
    google::rpc::BadRequest bad;
    google::rpc::RetryInfo retry;
    if (detail.UnpackTo(&info) && info.domain() == kErrorDomain) {
      error.reason = info.reason();
      if (const ErrorRow* row = FindError(info.reason())) {
        error.exit_code = row->exit_code;
      }
    } else if (detail.UnpackTo(&bad)) {
      for (const auto& violation : bad.field_violations()) {
        error.violations.push_back(violation.field() + ": " +
                                   violation.description());
      }
    } else if (detail.UnpackTo(&retry)) {
      error.retry_milliseconds = retry.retry_delay().seconds() * 1000 +
                                 retry.retry_delay().nanos() / 1'000'000;
    }
  }
  return error;
}

Client::Client(std::shared_ptr<grpc::Channel> channel,
               int64_t timeout_milliseconds)
    : timeout_milliseconds_(timeout_milliseconds),
      channel_(std::move(channel)),
      compiler_(v1::Compiler::NewStub(channel_)),
      health_(grpc::health::v1::Health::NewStub(channel_)) {}

bool Client::SetTraceparent(const std::string& traceparent) {
  constexpr size_t kMaxBytes = 256;
  // What it means is for the server; here it must be fit for a header.
  if (traceparent.size() > kMaxBytes ||
      traceparent.find_first_not_of("0123456789abcdef-") != std::string::npos) {
    return false;
  }
  traceparent_ = traceparent;
  return true;
}

void Client::SetUp(grpc::ClientContext* context) const {
  if (!traceparent_.empty()) context->AddMetadata("traceparent", traceparent_);
  if (timeout_milliseconds_ <= 0) return;
  context->set_deadline(std::chrono::system_clock::now() +
                        std::chrono::milliseconds(timeout_milliseconds_));
}

std::optional<ClientError> Client::Compile(
    const v1::CompileRequest& request,
    const std::function<void(const v1::CompileEvent&)>& on_event,
    CompileAnswer* answer) {
  grpc::ClientContext context;
  SetUp(&context);
  auto reader = compiler_->Compile(&context, request);
  AnswerBuilder builder(answer);
  v1::CompileEvent event;
  while (reader->Read(&event)) {
    if (event.has_progress() || event.has_diagnostic()) on_event(event);
    builder.Take(&event);
  }
  grpc::Status status = reader->Finish();
  if (!status.ok()) return ReadStatus(status);
  return builder.Check();
}

std::optional<ClientError> Client::StartCompile(
    const v1::CompileRequest& request,
    google::longrunning::Operation* operation) {
  grpc::ClientContext context;
  SetUp(&context);
  grpc::Status status = compiler_->StartCompile(&context, request, operation);
  if (status.ok()) return std::nullopt;
  return ReadStatus(status);
}

std::optional<ClientError> Client::Resolve(const v1::ResolveRequest& request,
                                           v1::ResolveResponse* response) {
  grpc::ClientContext context;
  SetUp(&context);
  grpc::Status status = compiler_->Resolve(&context, request, response);
  if (status.ok()) return std::nullopt;
  return ReadStatus(status);
}

std::optional<ClientError> Client::ListTargets(
    v1::ListTargetsResponse* response) {
  grpc::ClientContext context;
  SetUp(&context);
  grpc::Status status = compiler_->ListTargets(&context, {}, response);
  if (status.ok()) return std::nullopt;
  return ReadStatus(status);
}

std::optional<ClientError> Client::GetTarget(const std::string& name,
                                             v1::GetTargetResponse* response) {
  grpc::ClientContext context;
  SetUp(&context);
  v1::GetTargetRequest request;
  request.set_name(name);
  grpc::Status status = compiler_->GetTarget(&context, request, response);
  if (status.ok()) return std::nullopt;
  return ReadStatus(status);
}

std::optional<ClientError> Client::CheckTarget(
    const v1::TargetDescriptor& target, v1::CheckTargetResponse* response) {
  grpc::ClientContext context;
  SetUp(&context);
  v1::CheckTargetRequest request;
  *request.mutable_target() = target;
  grpc::Status status = compiler_->CheckTarget(&context, request, response);
  if (status.ok()) return std::nullopt;
  return ReadStatus(status);
}

std::optional<ClientError> Client::Health(std::string* serving) {
  grpc::ClientContext context;
  SetUp(&context);
  grpc::health::v1::HealthCheckResponse response;
  grpc::Status status = health_->Check(&context, {}, &response);
  if (!status.ok()) return ReadStatus(status);
  *serving = grpc::health::v1::HealthCheckResponse::ServingStatus_Name(
      response.status());
  return std::nullopt;
}

}  // namespace fold
