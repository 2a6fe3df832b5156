#include "server/access/base64url.h"

#include "absl/strings/escaping.h"

namespace fold {

std::string EncodeBase64Url(std::string_view bytes) {
  std::string out;
  absl::WebSafeBase64Escape(absl::string_view(bytes.data(), bytes.size()),
                            &out);
  return out;
}

std::optional<std::string> DecodeBase64Url(std::string_view text) {
  std::string out;
  if (!absl::WebSafeBase64Unescape(absl::string_view(text.data(), text.size()),
                                   &out) ||
      EncodeBase64Url(out) != text) {
    return std::nullopt;
  }
  return out;
}

}  // namespace fold
