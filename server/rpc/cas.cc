#include "server/rpc/cas.h"

#include <set>

#include "compiler/api/action.h"
#include "proto/google/rpc/status.pb.h"
#include "server/rpc/blob_names.h"
#include "server/rpc/unary.h"

namespace fold {
namespace {

namespace reapi = build::bazel::remote::execution::v2;

// What a batch's message holds beside the blobs' bytes.
constexpr int64_t kBatchOverheadBytes = 256 << 10;

// Only SHA-256 is spoken; who does not say means what we speak.
std::optional<Failure> CheckFunction(reapi::DigestFunction::Value function) {
  if (function == reapi::DigestFunction::UNKNOWN ||
      function == reapi::DigestFunction::SHA256) {
    return std::nullopt;
  }
  return Failure{"BAD_REQUEST", "digest_function: the server speaks SHA256"};
}

google::rpc::Status StatusMessage(const grpc::Status& status) {
  google::rpc::Status out;
  // With the details, if there are any.
  if (!out.ParseFromString(status.error_details())) out.Clear();
  out.set_code(status.error_code());
  out.set_message(status.error_message());
  return out;
}

absl::StatusOr<std::string> ReadBlob(BlobCache* blobs, const Key& key,
                                     int64_t size) {
  auto reader = blobs->Open(key, size);
  if (!reader.ok()) return reader.status();
  if ((*reader)->size() != size) {
    return absl::NotFoundError("the blob has another size");
  }
  std::string bytes;
  for (;;) {
    auto piece = (*reader)->Read(kMaxPieceBytes);
    if (!piece.ok()) return piece.status();
    if (piece->empty()) return bytes;
    bytes += *piece;
  }
}

grpc::Status UpdateOne(Call& call, const std::string& instance,
                       const reapi::BatchUpdateBlobsRequest::Request& one) {
  if (auto failure = CheckDigest("digest", one.digest())) {
    return ToStatus(*failure);
  }
  if (one.compressor() != reapi::Compressor::IDENTITY) {
    return ToStatus({"BAD_REQUEST", "compressor: only IDENTITY is offered"});
  }
  if (one.digest().size_bytes() != static_cast<int64_t>(one.data().size())) {
    return ToStatus({"BLOB_WRONG", "data is not of the digest's size"});
  }
  absl::Status status =
      WriteBlob(call.parts().blobs,
                {Space::kBlob, one.digest().hash(), instance}, one.data());
  if (status.ok()) return grpc::Status::OK;
  return ToStatus(BlobFailure(status, BlobText(one.digest())));
}

grpc::Status TooLarge(const char* field, int64_t limit) {
  return ToStatus({"MESSAGE_TOO_LARGE",
                   std::string(field) +
                       ": the blobs are too large for one batch; use "
                       "google.bytestream",
                   {{"limit_bytes", std::to_string(limit)}}});
}

}  // namespace

absl::Status WriteBlob(BlobCache* blobs, const Key& key,
                       const std::string& bytes) {
  if (IsEmptyBlob(key)) return absl::OkStatus();
  auto writer = blobs->Create(key, static_cast<int64_t>(bytes.size()));
  if (!writer.ok()) return writer.status();
  absl::Status status = (*writer)->Append(bytes);
  if (status.ok()) status = (*writer)->Finish();
  return status;
}

int64_t MaxBatchBytes(const Config& config) {
  return std::max<int64_t>(config.max_message_bytes - kBatchOverheadBytes,
                           config.max_message_bytes / 2);
}

grpc::Status FindMissingBlobs(Call& call,
                              const reapi::FindMissingBlobsRequest& request,
                              reapi::FindMissingBlobsResponse* response) {
  if (auto failure = CheckFunction(request.digest_function())) {
    return ToStatus(*failure);
  }
  std::vector<Key> keys;
  std::map<std::string, int64_t> sizes;
  for (int i = 0; i < request.blob_digests_size(); ++i) {
    const Digest& digest = request.blob_digests(i);
    std::string field = "blob_digests[" + std::to_string(i) + "]";
    if (auto failure = CheckDigest(field, digest)) return ToStatus(*failure);
    bool fresh = sizes.try_emplace(digest.hash(), digest.size_bytes()).second;
    if (fresh) {
      keys.push_back({Space::kBlob, digest.hash(), request.instance_name()});
    }
  }
  for (const Key& key : call.parts().blobs->Missing(keys)) {
    Digest* missing = response->add_missing_blob_digests();
    missing->set_hash(key.hash);
    missing->set_size_bytes(sizes[key.hash]);
  }
  return grpc::Status::OK;
}

grpc::Status BatchUpdateBlobs(Call& call,
                              const reapi::BatchUpdateBlobsRequest& request,
                              reapi::BatchUpdateBlobsResponse* response) {
  if (auto failure = CheckFunction(request.digest_function())) {
    return ToStatus(*failure);
  }
  for (const auto& one : request.requests()) {
    auto* out = response->add_responses();
    *out->mutable_digest() = one.digest();
    *out->mutable_status() =
        StatusMessage(UpdateOne(call, request.instance_name(), one));
  }
  return grpc::Status::OK;
}

grpc::Status BatchReadBlobs(Call& call,
                            const reapi::BatchReadBlobsRequest& request,
                            reapi::BatchReadBlobsResponse* response) {
  if (auto failure = CheckFunction(request.digest_function())) {
    return ToStatus(*failure);
  }
  int64_t limit = MaxBatchBytes(*call.parts().config);
  int64_t total = 0;
  for (int i = 0; i < request.digests_size(); ++i) {
    std::string field = "digests[" + std::to_string(i) + "]";
    if (auto failure = CheckDigest(field, request.digests(i))) {
      return ToStatus(*failure);
    }
    if (request.digests(i).size_bytes() > limit - total) {
      return TooLarge("digests", limit);
    }
    total += request.digests(i).size_bytes();
  }
  // The answer lies in memory until it is sent.
  if (!call.HoldBytes(total)) {
    return ToStatus(
        {"BYTES_IN_FLIGHT", "requests in the server hold too many bytes"});
  }
  for (const Digest& digest : request.digests()) {
    auto* out = response->add_responses();
    *out->mutable_digest() = digest;
    auto bytes =
        ReadBlob(call.parts().blobs,
                 {Space::kBlob, digest.hash(), request.instance_name()},
                 digest.size_bytes());
    if (bytes.ok()) {
      out->set_data(std::move(*bytes));
    } else {
      *out->mutable_status() = StatusMessage(
          ToStatus(BlobFailure(bytes.status(), BlobText(digest))));
    }
  }
  return grpc::Status::OK;
}

namespace {

// A directory more deeply nested or wider than this is no input of ours.
constexpr size_t kMaxDirectories = 10'000;
constexpr int64_t kMaxDirectoryBytes = 1 << 20;
constexpr int32_t kPageDirectories = 100;

// Sends a page a message. The token of a page is the number of directories
// before it, in the order of a walk in breadth.
class TreeHandler : public CallHandler {
 public:
  explicit TreeHandler(Call* call) : call_(call) {}

  void OnMessage(grpc::ByteBuffer* message) override {
    if (!ParseMessage(message, &request_)) {
      return call_->Fail(NotOneMessage("cannot be parsed"));
    }
    auto failure = CheckFunction(request_.digest_function());
    if (!failure) failure = CheckDigest("root_digest", request_.root_digest());
    if (!failure && request_.page_size() < 0) {
      failure = Failure{"BAD_REQUEST", "page_size: must not be negative"};
    }
    if (!failure && !ReadToken()) {
      failure = Failure{"BAD_REQUEST", "page_token: is none of this server's"};
    }
    if (failure) return call_->Fail(*failure);
    if (!call_->Admit(request_.instance_name())) return;
    queue_ = {request_.root_digest()};
    page_ = request_.page_size() > 0
                ? std::min(request_.page_size(), kPageDirectories)
                : kPageDirectories;
    call_->Run([this] { SendPage(); });
  }
  void OnHalfClose() override { call_->Fail(NotOneMessage("is missing")); }
  void OnWritten() override {
    call_->Run([this] { SendPage(); });
  }

 private:
  bool ReadToken() {
    for (char c : request_.page_token()) {
      if (c < '0' || c > '9' || skip_ > kMaxDirectories) return false;
      skip_ = skip_ * 10 + static_cast<size_t>(c - '0');
    }
    return true;
  }

  void SendPage() {
    reapi::GetTreeResponse response;
    while (next_ < queue_.size() && response.directories_size() < page_) {
      Digest digest = queue_[next_++];
      reapi::Directory directory;
      if (auto failure = ReadDirectory(digest, &directory)) {
        return call_->Fail(*failure);
      }
      for (const auto& child : directory.directories()) {
        if (seen_.insert(child.digest().hash()).second) {
          queue_.push_back(child.digest());
        }
      }
      if (queue_.size() > kMaxDirectories) {
        return call_->Fail(
            {"BAD_REQUEST", "root_digest: the tree has too many directories"});
      }
      if (next_ > skip_) *response.add_directories() = std::move(directory);
    }
    if (next_ == queue_.size()) return call_->WriteAndEnd(response);
    response.set_next_page_token(std::to_string(next_));
    call_->Write(response);
  }

  std::optional<Failure> ReadDirectory(const Digest& digest,
                                       reapi::Directory* directory) {
    if (auto failure = CheckDigest("directories", digest)) return failure;
    if (digest.size_bytes() > kMaxDirectoryBytes) {
      return Failure{"BAD_REQUEST",
                     "directories: " + BlobText(digest) + " is too large"};
    }
    auto bytes =
        ReadBlob(call_->parts().blobs,
                 {Space::kBlob, digest.hash(), request_.instance_name()},
                 digest.size_bytes());
    if (!bytes.ok()) return BlobFailure(bytes.status(), BlobText(digest));
    if (!directory->ParseFromString(*bytes)) {
      return Failure{"BAD_REQUEST",
                     "directories: " + BlobText(digest) + " is none"};
    }
    return std::nullopt;
  }

  Call* const call_;
  reapi::GetTreeRequest request_;
  size_t skip_ = 0;
  int32_t page_ = 0;
  std::vector<Digest> queue_;
  std::set<std::string> seen_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<CallHandler> MakeGetTree(Call* call) {
  return std::make_unique<TreeHandler>(call);
}

}  // namespace fold
