// The server's certificate, its key and the authorities of its clients, as
// files that may change while it runs.
#ifndef FOLD_SERVER_ACCESS_CERTIFICATE_SOURCE_H_
#define FOLD_SERVER_ACCESS_CERTIFICATE_SOURCE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/access/file_watch.h"
#include "server/metrics.h"

namespace fold {

// Whether clients are asked for certificates. Those given are verified in any
// case.
enum class ClientAuth { kNone, kRequest, kRequire };

struct CertificatePaths {
  std::string certificate;  // PEM: the server's, then those above it
  std::string key;          // PEM, without a passphrase
  std::string client_ca;    // PEM; empty: no client certificates
};

// What the files held when they last fitted together.
struct CertificateBundle {
  std::string certificate, key, client_ca;  // PEM
  int64_t not_after = 0;                    // seconds since 1970
};

// INVALID_ARGUMENT says which file is at fault: one that cannot be read, holds
// no PEM, a key that is not the certificate's.
absl::StatusOr<CertificateBundle> CheckCertificates(
    const CertificatePaths& paths, const WatchedFiles& files);

class CertificateSource {
 public:
  // Reads the files now and whenever they change. A change that does not fit
  // together (half of a new pair, say) is logged and counted, and what was
  // there before stays in use. `listeners` are labels of the metric of the
  // certificate's end.
  static absl::StatusOr<std::unique_ptr<CertificateSource>> Open(
      CertificatePaths paths, std::vector<std::string> listeners,
      Metrics* metrics,
      std::chrono::milliseconds interval = kFileWatchInterval);

  // Never null. A new bundle is a new pointer.
  std::shared_ptr<const CertificateBundle> current() const;

 private:
  CertificateSource(CertificatePaths paths, std::vector<std::string> listeners,
                    Metrics* metrics);
  void Use(CertificateBundle bundle);
  void Reload(const WatchedFiles& files);

  const CertificatePaths paths_;
  const std::vector<std::string> listeners_;
  Metrics* const metrics_;
  mutable std::mutex mutex_;
  std::shared_ptr<const CertificateBundle> current_;
  std::unique_ptr<FileWatch> watch_;
};

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_CERTIFICATE_SOURCE_H_
