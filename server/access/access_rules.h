// Which configurations of access foldd serves at all.
#ifndef FOLD_SERVER_ACCESS_ACCESS_RULES_H_
#define FOLD_SERVER_ACCESS_ACCESS_RULES_H_

#include <string>

#include "server/access/certificate_source.h"
#include "server/access/gatekeeper.h"
#include "server/config.h"

namespace fold {

// The words that let foldd listen off loopback without authentication, and
// those that let it take tokens there without TLS. Anything else in their
// fields but "" is refused: nobody turns a wall off by a typing error.
inline constexpr char kWithoutAuthenticationWords[] = "anyone may do anything";
inline constexpr char kPlaintextTokensWords[] =
    "tokens may be read on the wire";

// What is wrong with the fields of access as a whole, by field; "": nothing.
// Looks at the configuration alone and opens no file.
std::string CheckAccess(const Config& config);

// Whether "HOST:PORT" can be reached from this machine alone. Host names other
// than localhost are taken for reachable from elsewhere.
bool IsLoopback(const std::string& address);

// Of a configuration that CheckAccess has passed.
bool HasAuthentication(const Config& config);
bool HasTls(const Config& config);
ClientAuth ConfiguredClientAuth(const Config& config);
GatekeeperOptions ConfiguredGatekeeper(const Config& config);

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_ACCESS_RULES_H_
