// base64url without padding (RFC 4648 section 5), as JWT and JWK have it.
#ifndef FOLD_SERVER_ACCESS_BASE64URL_H_
#define FOLD_SERVER_ACCESS_BASE64URL_H_

#include <optional>
#include <string>
#include <string_view>

namespace fold {

std::string EncodeBase64Url(std::string_view bytes);

// Nothing for padding, blanks or any other character outside the alphabet, and
// for spare bits that are not zero: each value has one form.
std::optional<std::string> DecodeBase64Url(std::string_view text);

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_BASE64URL_H_
