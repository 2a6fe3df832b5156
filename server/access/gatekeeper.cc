#include "server/access/gatekeeper.h"

#include <ctime>

#include "absl/strings/match.h"
#include "spdlog/spdlog.h"

namespace fold {
namespace {

constexpr char kScheme[] = "Bearer ";

// Values of the metrics' labels.
constexpr char kToken[] = "token";
constexpr char kJsonWebToken[] = "jwt";
constexpr char kCertificate[] = "certificate";
constexpr char kNone[] = "none";

bool HasScheme(const std::string& authorization) {
  return absl::StartsWithIgnoreCase(authorization, kScheme);
}

}  // namespace

Gatekeeper::Gatekeeper(GatekeeperOptions options, Metrics* metrics)
    : options_(std::move(options)),
      metrics_(metrics),
      tables_(std::make_shared<const Tables>()) {}

absl::StatusOr<std::unique_ptr<Gatekeeper>> Gatekeeper::Open(
    GatekeeperOptions options, Metrics* metrics) {
  if (!options.now) {
    options.now = [] { return static_cast<int64_t>(std::time(nullptr)); };
  }
  std::unique_ptr<Gatekeeper> keeper(
      new Gatekeeper(std::move(options), metrics));
  const GatekeeperOptions& use = keeper->options_;
  std::vector<std::string> paths = {use.tokens_file, use.jwt_keys_file};
  keeper->seen_ = ReadWatchedFiles(paths);
  std::string fault = keeper->TakeTokens(keeper->seen_[0]);
  if (fault.empty()) fault = keeper->TakeKeys(keeper->seen_[1]);
  if (!fault.empty()) return absl::InvalidArgumentError(fault);
  if (!use.tokens_file.empty() || !use.jwt_keys_file.empty()) {
    keeper->watch_ = std::make_unique<FileWatch>(
        std::move(paths), keeper->seen_, use.interval,
        [raw = keeper.get()](const auto& files) { raw->Reload(files); });
  }
  return keeper;
}

bool Gatekeeper::open() const {
  return options_.tokens_file.empty() && options_.jwt_keys_file.empty() &&
         !options_.certificates;
}

std::shared_ptr<const Gatekeeper::Tables> Gatekeeper::tables() const {
  std::lock_guard lock(mutex_);
  return tables_;
}

std::string Gatekeeper::TakeTokens(const WatchedFile& file) {
  if (options_.tokens_file.empty()) return "";
  Tables next = *tables();
  std::string fault = file.error.empty()
                          ? ParseTokensFile(file.bytes, &next.tokens)
                          : file.error;
  if (fault.empty()) {
    spdlog::info("{}: {} tokens, {} certificates", options_.tokens_file,
                 next.tokens.tokens.size(), next.tokens.certificates.size());
    std::lock_guard lock(mutex_);
    tables_ = std::make_shared<const Tables>(std::move(next));
  } else {
    fault = "tokens_file: " + options_.tokens_file + ": " + fault;
  }
  metrics_->Count(Metric::kAccessReloads,
                  {"tokens", fault.empty() ? "loaded" : "refused"});
  return fault;
}

std::string Gatekeeper::TakeKeys(const WatchedFile& file) {
  if (options_.jwt_keys_file.empty()) return "";
  Tables next = *tables();
  std::string fault = file.error.empty()
                          ? ParseJsonWebKeys(file.bytes, &next.keys)
                          : file.error;
  if (fault.empty()) {
    spdlog::info("{}: {} keys", options_.jwt_keys_file, next.keys.size());
    std::lock_guard lock(mutex_);
    tables_ = std::make_shared<const Tables>(std::move(next));
  } else {
    fault = "jwt_keys_file: " + options_.jwt_keys_file + ": " + fault;
  }
  metrics_->Count(Metric::kAccessReloads,
                  {"jwt_keys", fault.empty() ? "loaded" : "refused"});
  return fault;
}

void Gatekeeper::Reload(const WatchedFiles& files) {
  std::string faults[2];
  if (files[0] != seen_[0]) faults[0] = TakeTokens(files[0]);
  if (files[1] != seen_[1]) faults[1] = TakeKeys(files[1]);
  seen_ = files;
  for (const std::string& fault : faults) {
    if (!fault.empty()) spdlog::warn("a change is not used: {}", fault);
  }
}

std::optional<Failure> Gatekeeper::Identify(const PeerFacts& peer,
                                            Principal* out) const {
  if (open()) {
    *out = {kAnonymous, Role::kAdminister, {kAllInstances}};
    metrics_->Count(Metric::kAuthentications, {kNone, "open"});
    return std::nullopt;
  }
  if (!peer.authorization.empty()) {
    return IdentifyToken(peer.authorization, out);
  }
  if (!peer.identities.empty()) {
    auto failure = IdentifyCertificate(peer, out);
    metrics_->Count(Metric::kAuthentications,
                    {kCertificate, failure ? "refused" : "accepted"});
    return failure;
  }
  metrics_->Count(Metric::kAuthentications, {kNone, "refused"});
  return Failure{"NO_CREDENTIALS",
                 options_.certificates
                     ? "send a bearer token or a client certificate"
                     : "send a bearer token"};
}

std::optional<Failure> Gatekeeper::IdentifyToken(
    const std::string& authorization, Principal* out) const {
  auto count = [&](const char* method, const std::optional<Failure>& failure) {
    metrics_->Count(Metric::kAuthentications,
                    {method, failure ? "refused" : "accepted"});
    return failure;
  };
  if (!HasScheme(authorization)) {
    return count(kToken,
                 Failure{"BAD_TOKEN", "the authorization is no bearer token"});
  }
  std::string token = authorization.substr(std::size(kScheme) - 1);
  std::shared_ptr<const Tables> tables = this->tables();
  if (tables->keys.empty() || !LooksLikeJsonWebToken(token)) {
    return count(kToken, IdentifyStaticToken(*tables, token, out));
  }
  std::string why;
  switch (VerifyJsonWebToken(token, tables->keys, options_.jwt_rules,
                             options_.now(), out, &why)) {
    case TokenVerdict::kGood:
      return count(kJsonWebToken, std::nullopt);
    case TokenVerdict::kExpired:
      return count(kJsonWebToken,
                   Failure{"TOKEN_EXPIRED", "the bearer token: " + why});
    case TokenVerdict::kBad:
      break;
  }
  return count(kJsonWebToken,
               Failure{"BAD_TOKEN", "the bearer token is not valid: " + why});
}

std::optional<Failure> Gatekeeper::IdentifyStaticToken(const Tables& tables,
                                                       const std::string& token,
                                                       Principal* out) const {
  const TokenRow* row = FindToken(tables.tokens, token);
  if (row == nullptr) {
    return Failure{"BAD_TOKEN", "the bearer token is not valid"};
  }
  if (row->expires <= options_.now()) {
    return Failure{"TOKEN_EXPIRED", "the bearer token has expired"};
  }
  *out = row->principal;
  return std::nullopt;
}

std::optional<Failure> Gatekeeper::IdentifyCertificate(const PeerFacts& peer,
                                                       Principal* out) const {
  std::shared_ptr<const Tables> tables = this->tables();
  for (const std::string& identity : peer.identities) {
    for (const CertificateRow& row : tables->tokens.certificates) {
      if (row.identity != identity) continue;
      *out = row.principal;
      return std::nullopt;
    }
  }
  const std::string& name = peer.identities.front();
  if (options_.unmapped_certificate_role && IsPrincipalName(name)) {
    *out = {name, *options_.unmapped_certificate_role, {""}};
    return std::nullopt;
  }
  return Failure{"UNKNOWN_CERTIFICATE",
                 "no row is for a name of the client certificate",
                 {{"identity", name}}};
}

std::optional<Failure> Gatekeeper::Admit(const Principal& principal,
                                         Role needed,
                                         const std::string& instance) const {
  // One answer for all of it: an instance that is not the caller's looks the
  // same whether it is there or not.
  if (principal.role >= needed && MayUseInstance(principal, instance)) {
    return std::nullopt;
  }
  return Failure{
      "NOT_ALLOWED",
      principal.name + " may not do this here: it needs the role " +
          std::string(RoleName(needed)) + " in this instance",
      {{"principal", principal.name}, {"role", std::string(RoleName(needed))}}};
}

}  // namespace fold
