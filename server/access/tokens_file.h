// The tokens file: who has which static token or client certificate.
//
//   { "tokens": [ { "name": "ci", "role": "compile",
//                   "instances": ["", "team-a"], "sha256": "HASH OF THE TOKEN",
//                   "expires": "2027-01-01T00:00:00Z" } ],
//     "certificates": [ { "identity": "spiffe://example.org/ci",
//                         "name": "ci", "role": "compile",
//                         "instances": ["*"] } ] }
//
// `expires` is a UTC time or "never"; `identity` is a SAN URI, a DNS name or a
// common name. Nothing has a default; either list may be left out.
#ifndef FOLD_SERVER_ACCESS_TOKENS_FILE_H_
#define FOLD_SERVER_ACCESS_TOKENS_FILE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "server/access/principal.h"

namespace fold {

inline constexpr int64_t kNeverExpires = std::numeric_limits<int64_t>::max();

struct TokenRow {
  Principal principal;
  std::string sha256;               // of the token
  int64_t expires = kNeverExpires;  // seconds since 1970
};

struct CertificateRow {
  Principal principal;
  std::string identity;
};

struct TokensFile {
  std::vector<TokenRow> tokens;
  std::vector<CertificateRow> certificates;
};

// Returns what is wrong, with the field's path, or "".
std::string ParseTokensFile(std::string_view text, TokensFile* out);

// A row of "tokens", to be pasted into the file.
std::string TokenRowJson(const TokenRow& row);

// "2027-01-01T00:00:00Z" or "never"; false for anything else.
bool ParseExpiry(const std::string& text, int64_t* seconds);

// The row of a token, nullptr if there is none. Looks at every row, each in a
// time that does not depend on the bytes.
const TokenRow* FindToken(const TokensFile& file, std::string_view token);

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_TOKENS_FILE_H_
