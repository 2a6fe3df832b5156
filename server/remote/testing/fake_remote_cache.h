// A server of the Remote Execution API's cache for tests, which can be told to
// misbehave.
#ifndef FOLD_SERVER_REMOTE_TESTING_FAKE_REMOTE_CACHE_H_
#define FOLD_SERVER_REMOTE_TESTING_FAKE_REMOTE_CACHE_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "grpcpp/grpcpp.h"
#include "proto/build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"

namespace fold {

class FakeRemoteCache {
 public:
  FakeRemoteCache();
  ~FakeRemoteCache();

  std::string address() const;  // grpc://127.0.0.1:PORT
  // Ends all connections; Start takes the same port again.
  void Stop();
  void Start();

  // Blobs and actions by "INSTANCE/HASH".
  std::map<std::string, std::string> Blobs() const;
  std::map<std::string, build::bazel::remote::execution::v2::ActionResult>
  Actions() const;
  void Clear();

  std::atomic<bool> wrong_bytes{false};  // of blobs that are read
  std::atomic<bool> hang{false};         // answers nothing until told off
  std::atomic<int> missing_code{static_cast<int>(grpc::StatusCode::NOT_FOUND)};
  std::atomic<bool> takes_updates{true};
  std::atomic<int> update_code{0};  // instead of keeping an action; 0: kept
  std::atomic<int> calls{0};

 private:
  struct Services;
  const std::unique_ptr<Services> services_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

}  // namespace fold

#endif  // FOLD_SERVER_REMOTE_TESTING_FAKE_REMOTE_CACHE_H_
