// A bearer token of any bytes. Where they begin with 's', the rest is claims
// with a good signature (and a line before them a header), so that what lies
// behind the signature is reached; otherwise they are the token, which nobody
// signed, and must not be taken.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "server/access/base64url.h"
#include "server/access/json_web_token.h"
#include "server/access/testing/certificates.h"

namespace {

constexpr int64_t kNow = 1'800'000'000;

struct Signed {
  fold::TestSigner signer{"EdDSA", "d"};
  std::vector<fold::JsonWebKey> keys;
  Signed() {
    const std::string set = R"({"keys":[)" + signer.Jwk() + "]}";
    if (!fold::ParseJsonWebKeys(set, &keys).empty()) std::abort();
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Signed by;
  if (size == 0) return 0;
  const std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  auto decoded = fold::DecodeBase64Url(rest);
  if (decoded && fold::EncodeBase64Url(*decoded) != rest) std::abort();
  const bool is_signed = data[0] == 's';
  std::string token = rest;
  if (is_signed) {
    const size_t line = rest.find('\n');
    token = line == std::string::npos
                ? by.signer.Sign(rest)
                : by.signer.Sign(rest.substr(0, line), rest.substr(line + 1));
  }
  fold::Principal principal;
  std::string why;
  const auto verdict = fold::VerifyJsonWebToken(
      token, by.keys, {"https://issuer", "foldd"}, kNow, &principal, &why);
  if (verdict == fold::TokenVerdict::kGood) {
    if (!is_signed || !fold::IsPrincipalName(principal.name)) std::abort();
  } else if (why.empty() || !principal.name.empty()) {
    std::abort();
  }
  return 0;
}
