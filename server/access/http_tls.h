// TLS of the HTTP port, with OpenSSL itself: cpp-httplib leaves that to us.
#ifndef FOLD_SERVER_ACCESS_HTTP_TLS_H_
#define FOLD_SERVER_ACCESS_HTTP_TLS_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "openssl/types.h"
#include "server/access/certificate_source.h"

namespace fold {

// TLS 1.2 or later, with what the source holds at each handshake. Clients may
// have a certificate if there are authorities for them (tls_client_ca); one
// that is given is verified. Whether they must have one is the gatekeeper's
// question, since the probes are open to all.
class HttpTls {
 public:
  explicit HttpTls(std::shared_ptr<const CertificateSource> source);
  ~HttpTls();

  // Makes `context` ask this object, which must outlive it. False: OpenSSL
  // refuses.
  bool SetUp(SSL_CTX* context);

 private:
  struct Loaded;  // a bundle, as OpenSSL's objects
  static int OnHandshake(SSL* connection, void* self);
  std::shared_ptr<const Loaded> Current();

  const std::shared_ptr<const CertificateSource> source_;
  std::mutex mutex_;
  std::shared_ptr<const Loaded> loaded_;
};

// Of the verified certificate at the other end: SAN URIs, DNS names, then the
// common name. Empty without one.
std::vector<std::string> PeerIdentities(const SSL* connection);

// The same of a certificate, in that order; names with a zero byte are left
// out.
std::vector<std::string> IdentitiesOf(const X509* certificate);

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_HTTP_TLS_H_
