// The whole server: stores, compiler, scheduler, gRPC and HTTP, wired together
// and taken apart in the right order. main.cc runs one.
#ifndef FOLD_SERVER_SERVER_H_
#define FOLD_SERVER_SERVER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/config.h"

namespace fold {

class Server {
 public:
  // Serves when it returns. An error says what in the configuration or on the
  // machine is in the way.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Config& config);
  ~Server();

  int grpc_port() const;
  int http_port() const;  // 0 without HTTP
  // OK while the server can take work.
  absl::Status Readiness() const;
  // Not ready from now on; compiles that run are finished within
  // drain_seconds, the rest is killed; then the ports close. Whether all of
  // them ended by themselves.
  bool Drain();

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace fold

#endif  // FOLD_SERVER_SERVER_H_
