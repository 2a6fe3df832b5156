// All of access, opened from the configuration.
#ifndef FOLD_SERVER_ACCESS_ACCESS_H_
#define FOLD_SERVER_ACCESS_ACCESS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "grpcpp/security/server_credentials.h"
#include "server/access/audit_log.h"
#include "server/access/certificate_source.h"
#include "server/access/gatekeeper.h"
#include "server/access/quota.h"
#include "server/config.h"
#include "server/metrics.h"

namespace fold {

// None is null but `certificates`: null without TLS. Keep it until the ports
// are closed.
struct Access {
  std::shared_ptr<const CertificateSource> certificates;
  std::shared_ptr<grpc::ServerCredentials> credentials;  // of the gRPC port
  std::unique_ptr<Gatekeeper> gatekeeper;
  std::unique_ptr<Quota> quota;
  std::unique_ptr<AuditLog> audit;
};

// `data` is the data folder. INVALID_ARGUMENT: a field is at fault, with its
// name; also what CheckAccess refuses.
absl::StatusOr<std::unique_ptr<Access>> OpenAccess(const Config& config,
                                                   const std::string& data,
                                                   Metrics* metrics);

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_ACCESS_H_
