#include "server/access/credentials.h"

#include <mutex>
#include <string>
#include <vector>

#include "grpc/grpc.h"
#include "grpc/grpc_security.h"
#include "spdlog/spdlog.h"

namespace fold {
namespace {

grpc_ssl_client_certificate_request_type RequestType(ClientAuth auth) {
  switch (auth) {
    case ClientAuth::kRequest:
      return GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY;
    case ClientAuth::kRequire:
      return GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
    case ClientAuth::kNone:
      break;
  }
  return GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
}

// What gRPC asks at each handshake. Its address is gRPC's for as long as any of
// its connections lives, and gRPC does not say when that ends: so it is never
// freed, and does not keep the source.
class ConfigFetcher {
 public:
  static ConfigFetcher* Make(std::weak_ptr<const CertificateSource> source) {
    static std::mutex mutex;
    static auto* all = new std::vector<std::unique_ptr<ConfigFetcher>>;
    std::lock_guard lock(mutex);
    all->emplace_back(new ConfigFetcher(std::move(source)));
    return all->back().get();
  }

  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config) {
    return static_cast<ConfigFetcher*>(self)->FetchNew(config);
  }

 private:
  explicit ConfigFetcher(std::weak_ptr<const CertificateSource> source)
      : source_(std::move(source)) {}

  grpc_ssl_certificate_config_reload_status FetchNew(
      grpc_ssl_server_certificate_config** config) {
    auto source = source_.lock();
    if (source == nullptr) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_FAIL;
    std::shared_ptr<const CertificateBundle> bundle = source->current();
    std::lock_guard lock(mutex_);
    if (bundle == given_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    grpc_ssl_pem_key_cert_pair pair = {bundle->key.c_str(),
                                       bundle->certificate.c_str()};
    // gRPC insists on authorities, also where it asks for no certificate.
    const std::string& authorities =
        bundle->client_ca.empty() ? bundle->certificate : bundle->client_ca;
    *config = grpc_ssl_server_certificate_config_create(authorities.c_str(),
                                                        &pair, 1);
    if (*config == nullptr) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_FAIL;
    given_ = std::move(bundle);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const std::weak_ptr<const CertificateSource> source_;
  std::mutex mutex_;
  std::shared_ptr<const CertificateBundle> given_;  // to gRPC, last
};

// gRPC 1.51 has two ways to change certificates. With
// FileWatcherCertificateProvider (experimental) every handshake fails from the
// moment at which the key and the certificate do not fit until they do: it
// drops the old pair before it tries the new one. This is the other way, in the
// C interface alone: gRPC asks at each handshake, and keeps what it has until
// what it is given works.
class ReloadingCredentials final : public grpc::ServerCredentials {
 public:
  ReloadingCredentials(std::shared_ptr<const CertificateSource> source,
                       ClientAuth auth)
      : source_(std::move(source)),
        credentials_(grpc_ssl_server_credentials_create_with_options(
            grpc_ssl_server_credentials_create_options_using_config_fetcher(
                RequestType(auth), ConfigFetcher::Fetch,
                ConfigFetcher::Make(source_)))) {}
  ~ReloadingCredentials() override {
    grpc_server_credentials_release(credentials_);
  }

  void SetAuthMetadataProcessor(
      const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {
    spdlog::error("a metadata processor is not taken: the gatekeeper decides");
  }

 private:
  int AddPortToServer(const std::string& address,
                      grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_);
  }

  const std::shared_ptr<const CertificateSource> source_;
  grpc_server_credentials* const credentials_;
};

std::string ToText(const grpc::string_ref& text) {
  return {text.data(), text.size()};
}

}  // namespace

std::shared_ptr<grpc::ServerCredentials> TlsCredentials(
    std::shared_ptr<const CertificateSource> certificates, ClientAuth auth) {
  return std::make_shared<ReloadingCredentials>(std::move(certificates), auth);
}

PeerFacts FactsOf(const grpc::ServerContextBase& context) {
  PeerFacts facts;
  facts.address = context.peer();
  // Two of them make one that means nothing, as HTTP joins them.
  auto [at, end] = context.client_metadata().equal_range("authorization");
  for (; at != end; ++at) {
    if (!facts.authorization.empty()) facts.authorization += ", ";
    facts.authorization += ToText(at->second);
  }
  auto peer = context.auth_context();
  if (peer == nullptr || !peer->IsPeerAuthenticated()) return facts;
  for (const char* property : {"peer_uri", "peer_dns", "x509_common_name"}) {
    for (const auto& value : peer->FindPropertyValues(property)) {
      facts.identities.push_back(ToText(value));
    }
  }
  return facts;
}

}  // namespace fold
