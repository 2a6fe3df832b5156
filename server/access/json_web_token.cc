#include "server/access/json_web_token.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "nlohmann/json.hpp"
#include "server/access/base64url.h"

namespace fold {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxTokenBytes = 8192;

struct TokenParts {
  std::string_view header, claims, signature;
  std::string_view signed_bytes;  // header and claims, as they came
};

std::optional<TokenParts> Split(std::string_view token) {
  size_t first = token.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  size_t second = token.find('.', first + 1);
  if (second == std::string_view::npos ||
      token.find('.', second + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  return TokenParts{token.substr(0, first),
                    token.substr(first + 1, second - first - 1),
                    token.substr(second + 1), token.substr(0, second)};
}

// The object in a part; discarded if there is none.
Json ReadPart(std::string_view part) {
  Json none(Json::value_t::discarded);
  std::optional<std::string> text = DecodeBase64Url(part);
  if (!text) return none;
  Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json : none;
}

std::string TextOf(const Json& json, const char* name) {
  auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>()
                                                   : "";
}

// A time claim; nothing if it is not there or no number.
std::optional<double> TimeOf(const Json& json, const char* name) {
  auto found = json.find(name);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  double seconds = found->get<double>();
  if (!std::isfinite(seconds)) return std::nullopt;
  return seconds;
}

// The key that the header names; nullptr with `why` if it names none of ours.
const JsonWebKey* ChooseKey(const Json& header,
                            std::span<const JsonWebKey> keys,
                            std::string* why) {
  const JsonWebKey* chosen = nullptr;
  if (header.contains("kid")) {
    std::string id = TextOf(header, "kid");
    for (const JsonWebKey& key : keys) {
      if (!id.empty() && key.id == id) chosen = &key;
    }
  } else if (keys.size() == 1) {
    chosen = &keys[0];
  }
  if (chosen == nullptr) {
    *why = "its kid names no key of the key file";
  } else if (TextOf(header, "alg") != AlgorithmName(chosen->algorithm)) {
    // "none" and HMAC with a public key as the secret end here.
    *why = "its alg is not that of its key";
    chosen = nullptr;
  }
  return chosen;
}

bool HasAudience(const Json& claims, const std::string& wanted) {
  auto found = claims.find("aud");
  if (found == claims.end()) return false;
  if (found->is_string()) return found->get<std::string>() == wanted;
  return found->is_array() &&
         std::any_of(found->begin(), found->end(), [&](const Json& one) {
           return one.is_string() && one.get<std::string>() == wanted;
         });
}

std::string ReadPrincipal(const Json& claims, Principal* out) {
  out->name = TextOf(claims, "sub");
  if (!IsPrincipalName(out->name)) return "its sub is no name";
  std::optional<Role> role = ParseRole(TextOf(claims, "foldd_role"));
  if (!role) return "its foldd_role is none of read, compile, administer";
  out->role = *role;
  auto found = claims.find("foldd_instances");
  if (found == claims.end() || !found->is_array() || found->empty()) {
    return "its foldd_instances is not a list of names";
  }
  out->instances.clear();
  for (const Json& name : *found) {
    if (!name.is_string()) return "its foldd_instances is not a list of names";
    out->instances.push_back(name.get<std::string>());
    const std::string& instance = out->instances.back();
    if (instance != kAllInstances && !IsInstanceName(instance)) {
      return "its foldd_instances has a name that is no instance's";
    }
  }
  return "";
}

TokenVerdict CheckTimes(const Json& claims, int64_t now, std::string* why) {
  auto time = static_cast<double>(now);
  std::optional<double> expires = TimeOf(claims, "exp");
  if (!expires) {
    *why = "it has no exp";
    return TokenVerdict::kBad;
  }
  if (claims.contains("nbf")) {
    std::optional<double> begins = TimeOf(claims, "nbf");
    if (!begins || *begins > time + kClockSkewSeconds) {
      *why = "its nbf is not reached";
      return TokenVerdict::kBad;
    }
  }
  if (*expires <= time - kClockSkewSeconds) {
    *why = "it has expired";
    return TokenVerdict::kExpired;
  }
  return TokenVerdict::kGood;
}

}  // namespace

bool LooksLikeJsonWebToken(std::string_view token) {
  return Split(token).has_value();
}

TokenVerdict VerifyJsonWebToken(std::string_view token,
                                std::span<const JsonWebKey> keys,
                                const TokenRules& rules, int64_t now,
                                Principal* out, std::string* why) {
  auto bad = [&](const char* reason) {
    *why = reason;
    return TokenVerdict::kBad;
  };
  if (token.size() > kMaxTokenBytes) return bad("it is too long");
  std::optional<TokenParts> parts = Split(token);
  if (!parts) return bad("it is no JSON Web Token");
  Json header = ReadPart(parts->header);
  if (!header.is_object()) return bad("its header cannot be read");
  // Extensions that must be understood: we understand none.
  if (header.contains("crit")) return bad("its crit is not understood");
  const JsonWebKey* key = ChooseKey(header, keys, why);
  if (key == nullptr) return TokenVerdict::kBad;
  std::optional<std::string> signature = DecodeBase64Url(parts->signature);
  if (!signature || !VerifySignature(*key, parts->signed_bytes, *signature)) {
    return bad("its signature is not that of its key");
  }
  Json claims = ReadPart(parts->claims);
  if (!claims.is_object()) return bad("its claims cannot be read");
  if (rules.issuer.empty() || TextOf(claims, "iss") != rules.issuer) {
    return bad("its iss is another issuer");
  }
  if (rules.audience.empty() || !HasAudience(claims, rules.audience)) {
    return bad("its aud is another server");
  }
  TokenVerdict verdict = CheckTimes(claims, now, why);
  if (verdict != TokenVerdict::kGood) return verdict;
  Principal principal;
  *why = ReadPrincipal(claims, &principal);
  if (!why->empty()) return TokenVerdict::kBad;
  *out = std::move(principal);
  return TokenVerdict::kGood;
}

}  // namespace fold
