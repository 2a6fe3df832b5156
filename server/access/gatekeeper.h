// Who a caller is, and whether it may do what it asks for.
#ifndef FOLD_SERVER_ACCESS_GATEKEEPER_H_
#define FOLD_SERVER_ACCESS_GATEKEEPER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/access/file_watch.h"
#include "server/access/json_web_token.h"
#include "server/access/principal.h"
#include "server/access/tokens_file.h"
#include "server/failure.h"
#include "server/metrics.h"

namespace fold {

struct PeerFacts {
  std::string authorization;  // value of the header, "" if absent
  // Of a verified client certificate: SAN URIs, DNS names, then the common
  // name; empty without one.
  std::vector<std::string> identities;
  std::string address;
};

struct GatekeeperOptions {
  std::string tokens_file;    // "": no static tokens, no mapped certificates
  std::string jwt_keys_file;  // "": no JSON Web Tokens
  TokenRules jwt_rules;
  // Clients may have certificates.
  bool certificates = false;
  // What a verified certificate without a row may do, in the default instance;
  // nullopt: nothing.
  std::optional<Role> unmapped_certificate_role;
  std::chrono::milliseconds interval = kFileWatchInterval;
  // Seconds since 1970.
  std::function<int64_t()> now;  // empty: the system's clock
};

// All methods from any thread.
class Gatekeeper {
 public:
  // Reads the files now and whenever they change; a change that is at fault is
  // logged and counted, and what was there before stays in force.
  // INVALID_ARGUMENT names the file and the field. Without tokens, keys and
  // certificates everybody is kAnonymous and may do everything.
  static absl::StatusOr<std::unique_ptr<Gatekeeper>> Open(
      GatekeeperOptions options, Metrics* metrics);

  // Whether nobody has to say who they are.
  bool open() const;

  // A bearer token decides if there is one, even if the connection has a
  // certificate; a bad one is refused, never passed over. Otherwise the first
  // of the certificate's identities that has a row. NO_CREDENTIALS, BAD_TOKEN,
  // TOKEN_EXPIRED, UNKNOWN_CERTIFICATE.
  std::optional<Failure> Identify(const PeerFacts& peer, Principal* out) const;

  // NOT_ALLOWED, in words that do not tell whether the instance exists.
  std::optional<Failure> Admit(const Principal& principal, Role needed,
                               const std::string& instance) const;

 private:
  struct Tables {
    TokensFile tokens;
    std::vector<JsonWebKey> keys;
  };

  Gatekeeper(GatekeeperOptions options, Metrics* metrics);
  // Each replaces its table, or says why not.
  std::string TakeTokens(const WatchedFile& file);
  std::string TakeKeys(const WatchedFile& file);
  void Reload(const WatchedFiles& files);
  std::shared_ptr<const Tables> tables() const;

  std::optional<Failure> IdentifyToken(const std::string& authorization,
                                       Principal* out) const;
  std::optional<Failure> IdentifyStaticToken(const Tables& tables,
                                             const std::string& token,
                                             Principal* out) const;
  std::optional<Failure> IdentifyCertificate(const PeerFacts& peer,
                                             Principal* out) const;

  const GatekeeperOptions options_;
  Metrics* const metrics_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Tables> tables_;
  WatchedFiles seen_;  // of the two files; in the watch's thread
  std::unique_ptr<FileWatch> watch_;
};

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_GATEKEEPER_H_
