// A tokens file, or a set of JSON Web Keys, of any bytes is read or refused
// with a reason. Rows that were read are in order, and their text is read
// again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "server/access/json_web_keys.h"
#include "server/access/tokens_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<fold::JsonWebKey> keys;
  if (fold::ParseJsonWebKeys(text, &keys).empty()) {
    for (const fold::JsonWebKey& key : keys) {
      if (key.key == nullptr) std::abort();
      (void)fold::VerifySignature(key, text, text);
    }
  }
  fold::TokensFile file;
  if (!fold::ParseTokensFile(text, &file).empty()) return 0;
  for (const fold::TokenRow& row : file.tokens) {
    if (!fold::IsPrincipalName(row.principal.name)) std::abort();
    fold::TokensFile again;
    const std::string json = R"({"tokens":[)" + fold::TokenRowJson(row) + "]}";
    if (!fold::ParseTokensFile(json, &again).empty()) std::abort();
    if (again.tokens.size() != 1 || again.tokens[0].sha256 != row.sha256 ||
        again.tokens[0].expires != row.expires ||
        again.tokens[0].principal.instances != row.principal.instances) {
      std::abort();
    }
  }
  return 0;
}
