// gRPC's side of TLS and of who is at the other end.
#ifndef FOLD_SERVER_ACCESS_CREDENTIALS_H_
#define FOLD_SERVER_ACCESS_CREDENTIALS_H_

#include <memory>

#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_context.h"
#include "server/access/certificate_source.h"
#include "server/access/gatekeeper.h"

namespace fold {

// TLS 1.2 or later with what `certificates` holds at each handshake: a new
// certificate is that of new connections, and those that are open stay. Keeps
// `certificates`; whoever builds the server keeps the result until that has
// shut down.
std::shared_ptr<grpc::ServerCredentials> TlsCredentials(
    std::shared_ptr<const CertificateSource> certificates, ClientAuth auth);

// What a call says of its caller. Good on any server context, before the
// request is read too.
PeerFacts FactsOf(const grpc::ServerContextBase& context);

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_CREDENTIALS_H_
