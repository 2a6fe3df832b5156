// The HTTP port: /metrics, the probes /livez and /readyz, and blobs by digest,
// GET /v1/blobs/HASH, with ETag, Range and If-None-Match.
#ifndef FOLD_SERVER_HTTP_PORT_H_
#define FOLD_SERVER_HTTP_PORT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/cache/store.h"

namespace fold {

struct HttpHandlers {
  std::function<std::string()> metrics;  // Prometheus' text
  std::function<absl::Status()> ready;   // OK, or why not
  // What /readyz says beside "ready", a line each; may be null.
  std::function<std::string()> about;
  Store* blobs = nullptr;
};

class HttpPort {
 public:
  // `address` as "HOST:PORT"; port 0 takes a free one.
  static absl::StatusOr<std::unique_ptr<HttpPort>> Start(
      const std::string& address, HttpHandlers handlers);
  ~HttpPort();
  int port() const;

 private:
  struct Parts;
  explicit HttpPort(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Splits "HOST:PORT" or "[::1]:PORT"; false if it is neither.
bool SplitAddress(const std::string& address, std::string* host, int* port);

}  // namespace fold

#endif  // FOLD_SERVER_HTTP_PORT_H_
