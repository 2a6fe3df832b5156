#include "client/blob_transfer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <thread>

#include "compiler/api/action.h"
#include "compiler/api/error_table.h"
#include "compiler/api/sha256.h"
#include "grpcpp/grpcpp.h"

namespace fold {
namespace {

namespace reapi = build::bazel::remote::execution::v2;
namespace bytestream = google::bytestream;

constexpr size_t kPieceBytes = 256 << 10;
// Blobs up to this size travel several in one message.
constexpr int64_t kSmallBytes = 1 << 20;
constexpr int64_t kBatchBytes = 3 << 20;
constexpr int kBatchDigests = 10'000;
constexpr std::chrono::milliseconds kPause{200};
// Of a transfer in which nothing moves any more.
constexpr std::chrono::minutes kCallLimit{60};

class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  // Up to `size` bytes at `offset`; "" at the end, or with errno set.
  std::string Read(int64_t offset, size_t size) const {
    std::string bytes(size, '\0');
    errno = 0;
    ssize_t got = pread(fd_, bytes.data(), size, offset);
    bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return bytes;
  }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_;
};

// Whether trying again may help: the connection broke, or the server is busy.
bool MayTryAgain(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::ABORTED:
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::DATA_LOSS:
    case grpc::StatusCode::OUT_OF_RANGE:
      return true;
    default:
      return false;
  }
}

void Wait(const grpc::Status& status, int attempt) {
  ClientError error = ReadStatus(status);
  auto pause = std::max(std::chrono::milliseconds(error.retry_milliseconds),
                        kPause * (1 << std::min(attempt, 5)));
  std::this_thread::sleep_for(pause);
}

void SetLimit(grpc::ClientContext* context) {
  context->set_deadline(std::chrono::system_clock::now() + kCallLimit);
}

std::string PieceOf(const LocalBlob& blob, const OpenFile* file,
                    int64_t offset) {
  if (file != nullptr) return file->Read(offset, kPieceBytes);
  return blob.bytes.substr(static_cast<size_t>(offset), kPieceBytes);
}

}  // namespace

std::string NewUuid() {
  std::random_device random;
  std::string digits;
  for (int i = 0; i < 32; ++i) digits += "0123456789abcdef"[random() % 16];
  digits[12] = '4';
  digits[16] = "89ab"[random() % 4];
  for (size_t at : {size_t{8}, size_t{13}, size_t{18}, size_t{23}}) {
    digits.insert(at, "-");
  }
  return digits;
}

std::string ReadLocalBlob(const std::string& path, LocalBlob* blob) {
  OpenFile file(path);
  if (!file.valid())
    return "cannot open '" + path + "': " + std::strerror(errno);
  Sha256 hash;
  int64_t size = 0;
  for (;;) {
    std::string piece = file.Read(size, kPieceBytes);
    if (piece.empty()) break;
    hash.Update(piece);
    size += static_cast<int64_t>(piece.size());
  }
  if (errno != 0) return "cannot read '" + path + "': " + std::strerror(errno);
  blob->path = path;
  blob->digest.set_hash(hash.Finish());
  blob->digest.set_size_bytes(size);
  return "";
}

BlobTransfer::BlobTransfer(const std::shared_ptr<grpc::Channel>& channel,
                           std::string instance, int attempts)
    : instance_(std::move(instance)),
      attempts_(attempts),
      cas_(reapi::ContentAddressableStorage::NewStub(channel)),
      stream_(bytestream::ByteStream::NewStub(channel)) {}

std::optional<ClientError> BlobTransfer::FindMissing(
    std::span<const LocalBlob> blobs, std::vector<const LocalBlob*>* out) {
  for (size_t at = 0; at < blobs.size(); at += kBatchDigests) {
    auto part =
        blobs.subspan(at, std::min(blobs.size() - at, size_t{kBatchDigests}));
    reapi::FindMissingBlobsRequest request;
    request.set_instance_name(instance_);
    for (const LocalBlob& blob : part) {
      *request.add_blob_digests() = blob.digest;
    }
    reapi::FindMissingBlobsResponse response;
    grpc::Status status;
    for (int attempt = 0; attempt < attempts_; ++attempt) {
      grpc::ClientContext context;
      SetLimit(&context);
      status = cas_->FindMissingBlobs(&context, request, &response);
      if (status.ok() || !MayTryAgain(status)) break;
      Wait(status, attempt);
    }
    if (!status.ok()) return ReadStatus(status);
    for (const Digest& missing : response.missing_blob_digests()) {
      for (const LocalBlob& blob : part) {
        if (blob.digest.hash() == missing.hash()) {
          out->push_back(&blob);
          break;
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<ClientError> BlobTransfer::Upload(
    std::span<const LocalBlob> blobs) {
  std::vector<const LocalBlob*> missing;
  if (auto error = FindMissing(blobs, &missing)) return error;
  std::vector<const LocalBlob*> batch;
  int64_t batch_bytes = 0;
  for (const LocalBlob* blob : missing) {
    int64_t size = blob->digest.size_bytes();
    if (size > kSmallBytes) {
      if (auto error = SendLarge(*blob)) return error;
      continue;
    }
    if (batch_bytes + size > kBatchBytes) {
      if (auto error = SendBatch(batch)) return error;
      batch.clear();
      batch_bytes = 0;
    }
    batch.push_back(blob);
    batch_bytes += size;
  }
  return batch.empty() ? std::nullopt : SendBatch(batch);
}

std::optional<ClientError> BlobTransfer::SendBatch(
    std::span<const LocalBlob* const> blobs) {
  reapi::BatchUpdateBlobsRequest request;
  request.set_instance_name(instance_);
  for (const LocalBlob* blob : blobs) {
    auto* one = request.add_requests();
    *one->mutable_digest() = blob->digest;
    if (blob->path.empty()) {
      one->set_data(blob->bytes);
      continue;
    }
    OpenFile file(blob->path);
    // A file that changed meanwhile is refused by the server, by its hash.
    one->set_data(file.Read(0, static_cast<size_t>(blob->digest.size_bytes())));
  }
  for (int attempt = 0;; ++attempt) {
    grpc::ClientContext context;
    SetLimit(&context);
    reapi::BatchUpdateBlobsResponse response;
    grpc::Status status = cas_->BatchUpdateBlobs(&context, request, &response);
    for (const auto& one : response.responses()) {
      if (status.ok() && one.status().code() != 0) {
        status = {static_cast<grpc::StatusCode>(one.status().code()),
                  one.status().message(), one.status().SerializeAsString()};
      }
    }
    if (status.ok()) {
      for (const LocalBlob* blob : blobs) {
        sent_bytes_ += blob->digest.size_bytes();
      }
      return std::nullopt;
    }
    if (attempt + 1 >= attempts_ || !MayTryAgain(status)) {
      return ReadStatus(status);
    }
    Wait(status, attempt);
  }
}

std::optional<ClientError> BlobTransfer::SendLarge(const LocalBlob& blob) {
  std::string name = Prefix() + "uploads/" + NewUuid() + "/blobs/" +
                     blob.digest.hash() + "/" +
                     std::to_string(blob.digest.size_bytes());
  int64_t offset = 0;
  for (int attempt = 0;;) {
    grpc::Status status = WriteFrom(blob, name, offset);
    if (status.ok()) return std::nullopt;
    if (!MayTryAgain(status)) return ReadStatus(status);
    Wait(status, attempt);
    int64_t committed = CommittedSize(name);
    // As long as it gets further it may break as often as it likes.
    attempt = committed > offset ? 0 : attempt + 1;
    if (attempt >= attempts_) return ReadStatus(status);
    offset = committed;
    ++resumed_;
  }
}

grpc::Status BlobTransfer::WriteFrom(const LocalBlob& blob,
                                     const std::string& name, int64_t offset) {
  std::optional<OpenFile> file;
  if (!blob.path.empty()) file.emplace(blob.path);
  grpc::ClientContext context;
  SetLimit(&context);
  bytestream::WriteResponse response;
  auto writer = stream_->Write(&context, &response);
  bytestream::WriteRequest request;
  request.set_resource_name(name);
  const int64_t size = blob.digest.size_bytes();
  do {
    std::string piece = PieceOf(blob, file ? &*file : nullptr, offset);
    if (piece.empty() && offset < size) {
      context.TryCancel();
      (void)writer->Finish();
      return {grpc::StatusCode::FAILED_PRECONDITION,
              "'" + blob.path + "' became shorter while it was sent"};
    }
    request.set_write_offset(offset);
    offset += static_cast<int64_t>(piece.size());
    sent_bytes_ += static_cast<int64_t>(piece.size());
    request.set_data(std::move(piece));
    request.set_finish_write(offset >= size);
    // It may end early: another was faster, or it has failed.
    if (!writer->Write(request)) break;
    request.clear_resource_name();
  } while (offset < size);
  writer->WritesDone();
  grpc::Status status = writer->Finish();
  if (status.ok() && response.committed_size() != size) {
    return {grpc::StatusCode::UNAVAILABLE, "the upload is not complete"};
  }
  return status;
}

int64_t BlobTransfer::CommittedSize(const std::string& name) {
  grpc::ClientContext context;
  SetLimit(&context);
  bytestream::QueryWriteStatusRequest request;
  bytestream::QueryWriteStatusResponse response;
  request.set_resource_name(name);
  // Who cannot tell is sent all of it again.
  bool ok = stream_->QueryWriteStatus(&context, request, &response).ok();
  return ok ? response.committed_size() : 0;
}

std::optional<ClientError> BlobTransfer::Download(
    const Digest& digest,
    const std::function<std::string(std::string_view)>& sink) {
  Sha256 hash;
  int64_t offset = 0;
  for (int attempt = 0;;) {
    grpc::ClientContext context;
    SetLimit(&context);
    bytestream::ReadRequest request;
    request.set_resource_name(Prefix() + BlobText(digest));
    request.set_read_offset(offset);
    auto reader = stream_->Read(&context, request);
    bytestream::ReadResponse response;
    int64_t before = offset;
    while (reader->Read(&response)) {
      hash.Update(response.data());
      offset += static_cast<int64_t>(response.data().size());
      std::string error = sink(response.data());
      if (!error.empty()) {
        context.TryCancel();
        (void)reader->Finish();
        return ClientError{kExitInternal, "LOCAL_STORAGE", error, {}, 0};
      }
    }
    grpc::Status status = reader->Finish();
    if (status.ok() && offset == digest.size_bytes()) break;
    attempt = offset > before ? 0 : attempt + 1;
    if (!status.ok() && (!MayTryAgain(status) || attempt >= attempts_ ||
                         status.error_code() == grpc::StatusCode::DATA_LOSS)) {
      return ReadStatus(status);
    }
    if (offset > digest.size_bytes()) break;
    if (attempt >= attempts_) break;
    Wait(status, attempt);
    ++resumed_;
  }
  if (offset == digest.size_bytes() && hash.Finish() == digest.hash()) {
    return std::nullopt;
  }
  return ClientError{kExitInternal,
                     "PROTOCOL",
                     "the blob that came is not the one that was asked for",
                     {},
                     0};
}

}  // namespace fold
