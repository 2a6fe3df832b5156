#include "server/remote/remote_client.h"

#include <fstream>
#include <random>
#include <sstream>

namespace fold {
namespace {

namespace reapi = build::bazel::remote::execution::v2;
namespace bytestream = google::bytestream;

// Up to this size a blob goes in one message, which every server takes.
constexpr int64_t kSmallBytes = 1 << 20;
// What one message from the server may hold.
constexpr int kMaxMessageBytes = 8 << 20;

absl::StatusOr<std::string> ReadTextFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::InvalidArgumentError("cannot open '" + path + "'");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// A server may say in three ways that it has not what was asked for.
absl::Status FromGrpc(const grpc::Status& status) {
  std::string message = status.error_message();
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return absl::OkStatus();
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::INTERNAL:
      return absl::NotFoundError(message);
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return absl::DeadlineExceededError(message);
    case grpc::StatusCode::CANCELLED:
      return absl::CancelledError(message);
    case grpc::StatusCode::DATA_LOSS:
      return absl::DataLossError(message);
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::OUT_OF_RANGE:
    case grpc::StatusCode::INVALID_ARGUMENT:
      return absl::ResourceExhaustedError(message);
    case grpc::StatusCode::PERMISSION_DENIED:
      return absl::PermissionDeniedError(message);
    case grpc::StatusCode::UNIMPLEMENTED:
      return absl::UnimplementedError(message);
    case grpc::StatusCode::UNAUTHENTICATED:
      return absl::UnauthenticatedError(message);
    default:
      return absl::UnavailableError(message);
  }
}

std::string Prefix(const std::string& instance) {
  return instance.empty() ? "" : instance + "/";
}

std::string BlobPath(const reapi::Digest& digest) {
  return "blobs/" + digest.hash() + "/" + std::to_string(digest.size_bytes());
}

std::string Uuid() {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::random_device random;
  std::string text = "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx";
  for (char& c : text) {
    if (c == 'x') c = kDigits[random() % 16];
  }
  return text;
}

// What a writer says of bytes that are not those of the digest.
absl::Status AsWrong(const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return status;
  return absl::DataLossError("the remote cache sent other bytes");
}

}  // namespace

// A call's context, which CancelAll finds.
class RemoteClient::Call {
 public:
  Call(RemoteClient* client, Deadline deadline) : client_(client) {
    context_.set_deadline(
        std::chrono::system_clock::now() +
        std::chrono::duration_cast<std::chrono::system_clock::duration>(
            deadline - std::chrono::steady_clock::now()));
    if (!client->token_.empty()) {
      context_.AddMetadata("authorization", "Bearer " + client->token_);
    }
    std::lock_guard lock(client_->mutex_);
    client_->under_way_.insert(&context_);
    if (client_->cancelled_) context_.TryCancel();
  }
  ~Call() {
    std::lock_guard lock(client_->mutex_);
    client_->under_way_.erase(&context_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  grpc::ClientContext* context() { return &context_; }

 private:
  RemoteClient* const client_;
  grpc::ClientContext context_;
};

RemoteClient::RemoteClient(std::shared_ptr<grpc::Channel> channel,
                           std::string token)
    : channel_(std::move(channel)),
      token_(std::move(token)),
      capabilities_(reapi::Capabilities::NewStub(channel_)),
      actions_(reapi::ActionCache::NewStub(channel_)),
      blobs_(reapi::ContentAddressableStorage::NewStub(channel_)),
      stream_(bytestream::ByteStream::NewStub(channel_)) {}

absl::StatusOr<std::unique_ptr<RemoteClient>> RemoteClient::Make(
    const RemoteClientOptions& options) {
  std::string token;
  if (!options.token_file.empty()) {
    auto text = ReadTextFile(options.token_file);
    if (!text.ok()) return text.status();
    token = *text;
    while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) {
      token.pop_back();
    }
  }
  std::shared_ptr<grpc::ChannelCredentials> credentials =
      grpc::InsecureChannelCredentials();
  if (options.address.tls) {
    grpc::SslCredentialsOptions ssl;
    if (!options.ca_file.empty()) {
      auto text = ReadTextFile(options.ca_file);
      if (!text.ok()) return text.status();
      ssl.pem_root_certs = *text;
    }
    credentials = grpc::SslCredentials(ssl);
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  return std::unique_ptr<RemoteClient>(
      new RemoteClient(grpc::CreateCustomChannel(options.address.host_and_port,
                                                 credentials, arguments),
                       token));
}

void RemoteClient::CancelAll() {
  std::lock_guard lock(mutex_);
  cancelled_ = true;
  for (grpc::ClientContext* context : under_way_) context->TryCancel();
}

absl::StatusOr<reapi::ServerCapabilities> RemoteClient::GetCapabilities(
    const std::string& instance, Deadline deadline) {
  reapi::GetCapabilitiesRequest request;
  request.set_instance_name(instance);
  reapi::ServerCapabilities response;
  Call call(this, deadline);
  absl::Status status = FromGrpc(
      capabilities_->GetCapabilities(call.context(), request, &response));
  if (!status.ok()) return status;
  return response;
}

absl::StatusOr<reapi::ActionResult> RemoteClient::GetActionResult(
    const std::string& instance, const Digest& action, Deadline deadline) {
  reapi::GetActionResultRequest request;
  request.set_instance_name(instance);
  *request.mutable_action_digest() = action;
  reapi::ActionResult response;
  Call call(this, deadline);
  absl::Status status =
      FromGrpc(actions_->GetActionResult(call.context(), request, &response));
  if (!status.ok()) return status;
  return response;
}

absl::Status RemoteClient::UpdateActionResult(const std::string& instance,
                                              const Digest& action,
                                              const ActionResult& result,
                                              Deadline deadline) {
  reapi::UpdateActionResultRequest request;
  request.set_instance_name(instance);
  *request.mutable_action_digest() = action;
  *request.mutable_action_result() = result;
  reapi::ActionResult response;
  Call call(this, deadline);
  return FromGrpc(
      actions_->UpdateActionResult(call.context(), request, &response));
}

absl::StatusOr<std::vector<reapi::Digest>> RemoteClient::FindMissing(
    const std::string& instance, const std::vector<Digest>& digests,
    Deadline deadline) {
  reapi::FindMissingBlobsRequest request;
  request.set_instance_name(instance);
  for (const Digest& digest : digests) *request.add_blob_digests() = digest;
  reapi::FindMissingBlobsResponse response;
  Call call(this, deadline);
  absl::Status status =
      FromGrpc(blobs_->FindMissingBlobs(call.context(), request, &response));
  if (!status.ok()) return status;
  const auto& missing = response.missing_blob_digests();
  return std::vector<Digest>(missing.begin(), missing.end());
}

absl::Status RemoteClient::Read(const std::string& instance,
                                const Digest& digest, Deadline deadline,
                                BlobWriter* into) {
  return digest.size_bytes() <= kSmallBytes
             ? ReadSmall(instance, digest, deadline, into)
             : ReadStream(instance, digest, deadline, into);
}

absl::Status RemoteClient::ReadSmall(const std::string& instance,
                                     const Digest& digest, Deadline deadline,
                                     BlobWriter* into) {
  reapi::BatchReadBlobsRequest request;
  request.set_instance_name(instance);
  *request.add_digests() = digest;
  reapi::BatchReadBlobsResponse response;
  Call call(this, deadline);
  absl::Status status =
      FromGrpc(blobs_->BatchReadBlobs(call.context(), request, &response));
  if (!status.ok()) return status;
  if (response.responses_size() != 1) {
    return absl::NotFoundError("the answer has no blob");
  }
  const auto& blob = response.responses(0);
  status = FromGrpc({static_cast<grpc::StatusCode>(blob.status().code()),
                     blob.status().message()});
  if (status.ok()) status = AsWrong(into->Append(blob.data()));
  if (status.ok()) status = AsWrong(into->Finish());
  return status;
}

absl::Status RemoteClient::ReadStream(const std::string& instance,
                                      const Digest& digest, Deadline deadline,
                                      BlobWriter* into) {
  bytestream::ReadRequest request;
  request.set_resource_name(Prefix(instance) + BlobPath(digest));
  Call call(this, deadline);
  auto reader = stream_->Read(call.context(), request);
  bytestream::ReadResponse response;
  absl::Status appended;
  while (appended.ok() && reader->Read(&response)) {
    appended = AsWrong(into->Append(response.data()));
  }
  if (!appended.ok()) call.context()->TryCancel();
  grpc::Status end = reader->Finish();
  if (!appended.ok()) return appended;
  if (!end.ok()) return FromGrpc(end);
  return AsWrong(into->Finish());
}

absl::Status RemoteClient::Write(const std::string& instance,
                                 const Digest& digest, Deadline deadline,
                                 BlobReader* from) {
  return digest.size_bytes() <= kSmallBytes
             ? WriteSmall(instance, digest, deadline, from)
             : WriteStream(instance, digest, deadline, from);
}

absl::Status RemoteClient::WriteSmall(const std::string& instance,
                                      const Digest& digest, Deadline deadline,
                                      BlobReader* from) {
  reapi::BatchUpdateBlobsRequest request;
  request.set_instance_name(instance);
  auto* one = request.add_requests();
  *one->mutable_digest() = digest;
  for (;;) {
    absl::StatusOr<std::string> piece = from->Read(kMaxPieceBytes);
    if (!piece.ok()) return piece.status();
    if (piece->empty()) break;
    one->mutable_data()->append(*piece);
  }
  reapi::BatchUpdateBlobsResponse response;
  Call call(this, deadline);
  absl::Status status =
      FromGrpc(blobs_->BatchUpdateBlobs(call.context(), request, &response));
  if (!status.ok() || response.responses_size() != 1) return status;
  const auto& said = response.responses(0).status();
  return FromGrpc({static_cast<grpc::StatusCode>(said.code()), said.message()});
}

absl::Status RemoteClient::WriteStream(const std::string& instance,
                                       const Digest& digest, Deadline deadline,
                                       BlobReader* from) {
  bytestream::WriteResponse response;
  Call call(this, deadline);
  auto writer = stream_->Write(call.context(), &response);
  bytestream::WriteRequest request;
  request.set_resource_name(Prefix(instance) + "uploads/" + Uuid() + "/" +
                            BlobPath(digest));
  int64_t sent = 0;
  absl::Status read;
  while (sent < digest.size_bytes()) {
    absl::StatusOr<std::string> piece = from->Read(kMaxPieceBytes);
    if (!piece.ok() || piece->empty()) {
      read = piece.ok() ? absl::DataLossError("the blob ends before")
                        : piece.status();
      break;
    }
    request.set_write_offset(sent);
    sent += static_cast<int64_t>(piece->size());
    request.set_data(std::move(*piece));
    request.set_finish_write(sent == digest.size_bytes());
    // False: the server has the blob already, or failed; Finish tells.
    if (!writer->Write(request)) break;
    request.clear_resource_name();
  }
  if (!read.ok()) call.context()->TryCancel();
  writer->WritesDone();
  grpc::Status end = writer->Finish();
  if (!read.ok()) return read;
  if (!end.ok()) return FromGrpc(end);
  // Anything else would be a part of the blob (-1: of a compressed one).
  return response.committed_size() == digest.size_bytes()
             ? absl::OkStatus()
             : absl::UnavailableError("the remote cache took a part");
}

}  // namespace fold
