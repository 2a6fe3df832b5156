// The one-algorithm interface of OpenSSL is deprecated, but linking it pulls in
// this hash alone; the general one pulls all of libcrypto into a static foldc.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "compiler/api/sha256.h"

#include <openssl/sha.h>

#include <algorithm>
#include <new>

namespace fold {
namespace {

SHA256_CTX* Context(unsigned char* state) {
  return std::launder(reinterpret_cast<SHA256_CTX*>(state));
}

}  // namespace

Sha256::Sha256() {
  static_assert(sizeof(SHA256_CTX) <= sizeof(state_));
  SHA256_Init(new (state_) SHA256_CTX);
}

void Sha256::Update(std::string_view bytes) {
  SHA256_Update(Context(state_), bytes.data(), bytes.size());
}

std::string Sha256::Finish() {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256_Final(digest, Context(state_));
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * sizeof(digest));
  for (unsigned char byte : digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Finish();
}

bool IsSha256Hex(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace fold
