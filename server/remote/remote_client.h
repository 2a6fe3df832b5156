// Calls to a server that speaks the Remote Execution API's cache. Each blocks
// until its deadline at most. A blob or an action that is not there is
// NOT_FOUND, in whatever words the server says so; UNAVAILABLE and
// DEADLINE_EXCEEDED are what the server is to blame for, as a whole.
#ifndef FOLD_SERVER_REMOTE_REMOTE_CLIENT_H_
#define FOLD_SERVER_REMOTE_REMOTE_CLIENT_H_

#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/grpcpp.h"
#include "proto/build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "proto/google/bytestream/bytestream.grpc.pb.h"
#include "server/cache/blob_stream.h"
#include "server/remote/remote_address.h"

namespace fold {

struct RemoteClientOptions {
  RemoteAddress address;
  std::string ca_file;     // PEM; empty: the system's roots
  std::string token_file;  // a bearer token; empty: none
};

class RemoteClient {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  using Digest = build::bazel::remote::execution::v2::Digest;
  using ActionResult = build::bazel::remote::execution::v2::ActionResult;

  // Connects with the first call. An error says which file cannot be read.
  static absl::StatusOr<std::unique_ptr<RemoteClient>> Make(
      const RemoteClientOptions& options);

  // Instances below are the server's.
  absl::StatusOr<build::bazel::remote::execution::v2::ServerCapabilities>
  GetCapabilities(const std::string& instance, Deadline deadline);
  absl::StatusOr<ActionResult> GetActionResult(const std::string& instance,
                                               const Digest& action,
                                               Deadline deadline);
  absl::Status UpdateActionResult(const std::string& instance,
                                  const Digest& action,
                                  const ActionResult& result,
                                  Deadline deadline);
  absl::StatusOr<std::vector<Digest>> FindMissing(
      const std::string& instance, const std::vector<Digest>& digests,
      Deadline deadline);
  // Appends a blob's bytes to `into` and finishes it. DATA_LOSS: they are not
  // the blob's.
  absl::Status Read(const std::string& instance, const Digest& digest,
                    Deadline deadline, BlobWriter* into);
  // Sends a blob, read to its end from `from`.
  absl::Status Write(const std::string& instance, const Digest& digest,
                     Deadline deadline, BlobReader* from);

  // Ends what is under way, and all later calls, with CANCELLED.
  void CancelAll();

 private:
  class Call;
  RemoteClient(std::shared_ptr<grpc::Channel> channel, std::string token);
  absl::Status ReadSmall(const std::string& instance, const Digest& digest,
                         Deadline deadline, BlobWriter* into);
  absl::Status ReadStream(const std::string& instance, const Digest& digest,
                          Deadline deadline, BlobWriter* into);
  absl::Status WriteSmall(const std::string& instance, const Digest& digest,
                          Deadline deadline, BlobReader* from);
  absl::Status WriteStream(const std::string& instance, const Digest& digest,
                           Deadline deadline, BlobReader* from);

  const std::shared_ptr<grpc::Channel> channel_;
  const std::string token_;
  const std::unique_ptr<build::bazel::remote::execution::v2::Capabilities::Stub>
      capabilities_;
  const std::unique_ptr<build::bazel::remote::execution::v2::ActionCache::Stub>
      actions_;
  const std::unique_ptr<
      build::bazel::remote::execution::v2::ContentAddressableStorage::Stub>
      blobs_;
  const std::unique_ptr<google::bytestream::ByteStream::Stub> stream_;
  std::mutex mutex_;
  bool cancelled_ = false;
  std::set<grpc::ClientContext*> under_way_;
};

}  // namespace fold

#endif  // FOLD_SERVER_REMOTE_REMOTE_CLIENT_H_
