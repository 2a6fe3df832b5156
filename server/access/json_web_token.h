// Bearer tokens that another party signs: JSON Web Tokens (RFC 7519, 8725).
//
// Header: `alg` RS256, ES256 or EdDSA, and that of the key; `kid` names the
// key, and may be left out where the file has one key. Claims: `sub` (the
// principal's name), `iss` and `aud` as configured, `exp`, `nbf` if there,
// `foldd_role` ("read", "compile" or "administer") and `foldd_instances` (a
// list of names, or ["*"]).
#ifndef FOLD_SERVER_ACCESS_JSON_WEB_TOKEN_H_
#define FOLD_SERVER_ACCESS_JSON_WEB_TOKEN_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "server/access/json_web_keys.h"
#include "server/access/principal.h"

namespace fold {

// Between the signer's clock and ours.
inline constexpr int64_t kClockSkewSeconds = 60;

struct TokenRules {
  std::string issuer;    // "iss"
  std::string audience;  // "aud", or one of it
};

enum class TokenVerdict { kGood, kBad, kExpired };

// Three parts with dots between: no static token looks so.
bool LooksLikeJsonWebToken(std::string_view token);

// Checks the signature before it reads any claim. `now` in seconds since 1970.
// `why` says what is wrong, and nothing of the token's content.
TokenVerdict VerifyJsonWebToken(std::string_view token,
                                std::span<const JsonWebKey> keys,
                                const TokenRules& rules, int64_t now,
                                Principal* out, std::string* why);

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_JSON_WEB_TOKEN_H_
