// A JSON Web Key Set (RFC 7517): the public keys of who signs tokens.
#ifndef FOLD_SERVER_ACCESS_JSON_WEB_KEYS_H_
#define FOLD_SERVER_ACCESS_JSON_WEB_KEYS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "openssl/types.h"

namespace fold {

// The signatures that are taken. Each belongs to one type of key, so that a
// token cannot choose how its signature is read.
enum class SignatureAlgorithm { kRs256, kEs256, kEdDsa };

// "RS256", "ES256", "EdDSA".
std::string_view AlgorithmName(SignatureAlgorithm algorithm);

struct JsonWebKey {
  std::string id;  // "kid"; may be empty
  SignatureAlgorithm algorithm;
  std::shared_ptr<EVP_PKEY> key;
};

// Keys of other uses, types or algorithms are passed over. Returns what is
// wrong, with the field's path, or "". Secret and private keys are refused: the
// file is for public ones, and whoever can read a secret key can sign.
std::string ParseJsonWebKeys(std::string_view text,
                             std::vector<JsonWebKey>* out);

// Whether `signature`, as a JWS has it, is the key's over `bytes`.
bool VerifySignature(const JsonWebKey& key, std::string_view bytes,
                     std::string_view signature);

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_JSON_WEB_KEYS_H_
