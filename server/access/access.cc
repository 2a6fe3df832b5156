#include "server/access/access.h"

#include "server/access/access_rules.h"
#include "server/access/credentials.h"
#include "spdlog/spdlog.h"

namespace fold {
namespace {

absl::Status OpenTls(const Config& config, Metrics* metrics, Access* access) {
  if (!HasTls(config)) {
    access->credentials = grpc::InsecureServerCredentials();
    return absl::OkStatus();
  }
  std::vector<std::string> listeners = {"grpc"};
  if (!config.http.empty()) listeners.push_back("http");
  auto source = CertificateSource::Open(
      {config.tls_certificate, config.tls_key, config.tls_client_ca},
      std::move(listeners), metrics);
  if (!source.ok()) return source.status();
  access->certificates = std::move(*source);
  access->credentials =
      TlsCredentials(access->certificates, ConfiguredClientAuth(config));
  return absl::OkStatus();
}

void Announce(const Config& config) {
  if (HasAuthentication(config)) return;
  if (IsLoopback(config.listen)) {
    spdlog::info("no authentication: everybody on this machine administers");
  } else {
    spdlog::warn("no authentication: {}", kWithoutAuthenticationWords);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Access>> OpenAccess(const Config& config,
                                                   const std::string& data,
                                                   Metrics* metrics) {
  std::string fault = CheckAccess(config);
  if (!fault.empty()) return absl::InvalidArgumentError(fault);
  auto access = std::make_unique<Access>();
  absl::Status status = OpenTls(config, metrics, access.get());
  if (!status.ok()) return status;
  auto gatekeeper = Gatekeeper::Open(ConfiguredGatekeeper(config), metrics);
  if (!gatekeeper.ok()) return gatekeeper.status();
  access->gatekeeper = std::move(*gatekeeper);
  access->quota = std::make_unique<Quota>(
      QuotaLimits{config.quota_requests_per_second, config.quota_inflight_bytes,
                  config.quota_compiles},
      metrics);
  auto audit = AuditLog::Open(
      config.audit_log.empty() ? data + "/audit" : config.audit_log, metrics);
  if (!audit.ok()) return audit.status();
  access->audit = std::move(*audit);
  Announce(config);
  return access;
}

}  // namespace fold
