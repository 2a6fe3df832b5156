// The HTTP port: /metrics, the probes /livez and /readyz, and blobs by digest,
// GET /v1/blobs/HASH or /v1/INSTANCE/blobs/HASH, with ETag, Range and
// If-None-Match. The probes are for everybody; metrics and blobs are for whom
// the gatekeeper lets in, blobs for the role read in their instance. Whoever
// may not use an instance gets the same answer whether it has the blob or not.
#ifndef FOLD_SERVER_HTTP_PORT_H_
#define FOLD_SERVER_HTTP_PORT_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/access/certificate_source.h"
#include "server/access/gatekeeper.h"
#include "server/cache/store.h"

namespace fold {

struct HttpHandlers {
  std::function<std::string()> metrics;  // Prometheus' text
  std::function<absl::Status()> ready;   // OK, or why not
  // What /readyz says beside "ready", a line each; may be null.
  std::function<std::string()> about;
  Store* blobs = nullptr;
  const Gatekeeper* gatekeeper = nullptr;  // never null in a request
  bool metrics_open = false;               // without the gatekeeper
  // Null: no TLS.
  std::shared_ptr<const CertificateSource> certificates;
};

class HttpPort {
 public:
  // `address` as "HOST:PORT"; port 0 takes a free one. Owns none of the
  // handlers' parts.
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
