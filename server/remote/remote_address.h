// Where a remote cache is: grpc://HOST:PORT[/INSTANCE], or grpcs:// with TLS.
#ifndef FOLD_SERVER_REMOTE_REMOTE_ADDRESS_H_
#define FOLD_SERVER_REMOTE_REMOTE_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace fold {

struct RemoteAddress {
  std::string host_and_port;
  bool tls = false;
  std::string instance;  // "": the default one
};

// INVALID_ARGUMENT says what is wrong.
absl::StatusOr<RemoteAddress> ParseRemoteAddress(const std::string& text);

// The instance that stands there for one of ours: instances that are apart
// here are apart there. Empty for both: the default one.
std::string RemoteInstance(const RemoteAddress& address,
                           const std::string& instance);

}  // namespace fold

#endif  // FOLD_SERVER_REMOTE_REMOTE_ADDRESS_H_
