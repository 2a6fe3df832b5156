#include "server/access/token.h"

#include <array>

#include "compiler/api/sha256.h"
#include "openssl/crypto.h"
#include "openssl/rand.h"
#include "server/access/base64url.h"

namespace fold {

std::string NewToken() {
  std::array<unsigned char, 32> bytes;
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return "";
  return "foldd_" +
         EncodeBase64Url({reinterpret_cast<char*>(bytes.data()), bytes.size()});
}

std::string TokenHash(std::string_view token) { return Sha256Hex(token); }

bool SameHash(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace fold
