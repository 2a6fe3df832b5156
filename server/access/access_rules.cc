#include "server/access/access_rules.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <optional>

namespace fold {
namespace {

std::string HostOf(const std::string& address) {
  std::string host = address.substr(0, address.rfind(':'));
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  return host;
}

std::string CheckTls(const Config& config) {
  if (config.tls_certificate.empty() != config.tls_key.empty()) {
    return "tls_key: tls_certificate and tls_key go together";
  }
  bool asks = config.tls_client_auth != "none";
  if (asks && config.tls_certificate.empty()) {
    return "tls_client_auth: needs tls_certificate and tls_key";
  }
  if (asks && config.tls_client_ca.empty()) {
    return "tls_client_auth: needs tls_client_ca, the authorities of clients";
  }
  if (!asks && !config.tls_client_ca.empty()) {
    return "tls_client_ca: does nothing while tls_client_auth is none";
  }
  return "";
}

std::string CheckIdentities(const Config& config) {
  bool jwt = !config.jwt_keys_file.empty();
  if (jwt && config.jwt_issuer.empty()) {
    return "jwt_issuer: must be set with jwt_keys_file";
  }
  if (jwt && config.jwt_audience.empty()) {
    return "jwt_audience: must be set with jwt_keys_file";
  }
  if (config.tls_client_auth != "none" && config.tokens_file.empty() && !jwt &&
      config.unmapped_certificate_role == "none") {
    return "unmapped_certificate_role: nobody could do anything: name the "
           "role of verified certificates here, or list them in tokens_file";
  }
  return "";
}

std::string CheckListener(const Config& config, const std::string& field,
                          const std::string& address) {
  if (address.empty() || IsLoopback(address)) return "";
  if (!HasAuthentication(config) &&
      config.insecure_without_authentication != kWithoutAuthenticationWords) {
    return field + ": '" + address +
           "' is not on loopback, and nobody would have to say who they are. "
           "Set tokens_file, jwt_keys_file, or tls_client_auth to require; or, "
           "in a network where anyone may compile, read and delete, set "
           "insecure_without_authentication to '" +
           kWithoutAuthenticationWords + "'";
  }
  bool tokens = !config.tokens_file.empty() || !config.jwt_keys_file.empty();
  if (tokens && !HasTls(config) &&
      config.insecure_tokens_in_plaintext != kPlaintextTokensWords) {
    return field + ": '" + address +
           "' is not on loopback, and tokens would cross the network "
           "unencrypted. Set tls_certificate and tls_key; or, behind something "
           "that encrypts, set insecure_tokens_in_plaintext to '" +
           kPlaintextTokensWords + "'";
  }
  return "";
}

std::string CheckWords(const std::string& field, const std::string& value,
                       const std::string& words) {
  if (value.empty() || value == words) return "";
  return field + ": must be exactly '" + words + "', or left out";
}

}  // namespace

std::string CheckAccess(const Config& config) {
  std::string fault = CheckWords("insecure_without_authentication",
                                 config.insecure_without_authentication,
                                 kWithoutAuthenticationWords);
  if (fault.empty()) {
    fault =
        CheckWords("insecure_tokens_in_plaintext",
                   config.insecure_tokens_in_plaintext, kPlaintextTokensWords);
  }
  if (fault.empty()) fault = CheckTls(config);
  if (fault.empty()) fault = CheckIdentities(config);
  if (fault.empty()) fault = CheckListener(config, "listen", config.listen);
  if (fault.empty()) fault = CheckListener(config, "http", config.http);
  return fault;
}

bool IsLoopback(const std::string& address) {
  std::string host = HostOf(address);
  in_addr four;
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) {
    return ntohl(four.s_addr) >> 24 == 127;
  }
  in6_addr six;
  if (inet_pton(AF_INET6, host.c_str(), &six) == 1) {
    return IN6_IS_ADDR_LOOPBACK(&six);
  }
  return host == "localhost";
}

bool HasAuthentication(const Config& config) {
  // A certificate that is only asked for can be left out: that alone keeps
  // nobody away, but the gatekeeper then refuses who has none.
  return !config.tokens_file.empty() || !config.jwt_keys_file.empty() ||
         config.tls_client_auth != "none";
}

bool HasTls(const Config& config) { return !config.tls_certificate.empty(); }

ClientAuth ConfiguredClientAuth(const Config& config) {
  if (config.tls_client_auth == "require") return ClientAuth::kRequire;
  if (config.tls_client_auth == "request") return ClientAuth::kRequest;
  return ClientAuth::kNone;
}

GatekeeperOptions ConfiguredGatekeeper(const Config& config) {
  GatekeeperOptions options;
  options.tokens_file = config.tokens_file;
  options.jwt_keys_file = config.jwt_keys_file;
  options.jwt_rules = {config.jwt_issuer, config.jwt_audience};
  options.certificates = config.tls_client_auth != "none";
  options.unmapped_certificate_role =
      ParseRole(config.unmapped_certificate_role);
  return options;
}

}  // namespace fold
