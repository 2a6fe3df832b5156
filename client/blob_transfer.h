// Blobs to and from a server's CAS: only what is missing is sent, and what
// breaks goes on where it was.
#ifndef FOLD_CLIENT_BLOB_TRANSFER_H_
#define FOLD_CLIENT_BLOB_TRANSFER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/client.h"
#include "compiler/api/action.h"
#include "proto/build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "proto/google/bytestream/bytestream.grpc.pb.h"

namespace fold {

// A blob that the client has: a file, or bytes.
struct LocalBlob {
  Digest digest;
  std::string path;  // empty: `bytes`
  std::string bytes;
};

// A file as a blob; read once, in pieces. Returns what went wrong, or "".
std::string ReadLocalBlob(const std::string& path, LocalBlob* blob);

class BlobTransfer {
 public:
  // `attempts`: how often one transfer may break without getting any further.
  BlobTransfer(const std::shared_ptr<grpc::Channel>& channel,
               std::string instance, int attempts = 5);

  // Sends those of `blobs` that the server does not have.
  std::optional<ClientError> Upload(std::span<const LocalBlob> blobs);
  // Hands the blob's bytes to `sink` in order, each once, and checks them
  // against the digest; `sink` says "" or what went wrong.
  std::optional<ClientError> Download(
      const Digest& digest,
      const std::function<std::string(std::string_view)>& sink);

  int64_t sent_bytes() const { return sent_bytes_; }
  int64_t resumed() const { return resumed_; }

 private:
  std::optional<ClientError> FindMissing(std::span<const LocalBlob> blobs,
                                         std::vector<const LocalBlob*>* out);
  std::optional<ClientError> SendBatch(std::span<const LocalBlob* const> blobs);
  std::optional<ClientError> SendLarge(const LocalBlob& blob);
  // One call from `offset` on; OK once the server has all of it.
  grpc::Status WriteFrom(const LocalBlob& blob, const std::string& name,
                         int64_t offset);
  // Where a broken upload goes on.
  int64_t CommittedSize(const std::string& name);
  std::string Prefix() const {
    return instance_.empty() ? "" : instance_ + "/";
  }

  const std::string instance_;
  const int attempts_;
  int64_t sent_bytes_ = 0;
  int64_t resumed_ = 0;
  std::unique_ptr<
      build::bazel::remote::execution::v2::ContentAddressableStorage::Stub>
      cas_;
  std::unique_ptr<google::bytestream::ByteStream::Stub> stream_;
};

// A random UUID (version 4), as text.
std::string NewUuid();

}  // namespace fold

#endif  // FOLD_CLIENT_BLOB_TRANSFER_H_
