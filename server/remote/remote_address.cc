#include "server/remote/remote_address.h"

#include <charconv>
#include <string_view>

namespace fold {
namespace {

constexpr std::string_view kPlain = "grpc://";
constexpr std::string_view kTls = "grpcs://";

absl::Status Bad(const std::string& text) {
  return absl::InvalidArgumentError(
      "'" + text + "' is not grpc://HOST:PORT[/INSTANCE] or grpcs://…");
}

bool IsPort(std::string_view text) {
  int port = 0;
  auto parsed = std::from_chars(text.data(), text.data() + text.size(), port);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() &&
         port > 0 && port < 65536;
}

}  // namespace

absl::StatusOr<RemoteAddress> ParseRemoteAddress(const std::string& text) {
  RemoteAddress address;
  std::string_view rest = text;
  if (rest.substr(0, kPlain.size()) == kPlain) {
    rest.remove_prefix(kPlain.size());
  } else if (rest.substr(0, kTls.size()) == kTls) {
    address.tls = true;
    rest.remove_prefix(kTls.size());
  } else {
    return Bad(text);
  }
  size_t slash = rest.find('/');
  if (slash != rest.npos) {
    address.instance = std::string(rest.substr(slash + 1));
    rest = rest.substr(0, slash);
  }
  for (char c : address.instance) {
    auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte > 0x7e) return Bad(text);
  }
  size_t colon = rest.rfind(':');
  if (colon == rest.npos || colon == 0 || !IsPort(rest.substr(colon + 1))) {
    return Bad(text);
  }
  address.host_and_port = std::string(rest);
  return address;
}

std::string RemoteInstance(const RemoteAddress& address,
                           const std::string& instance) {
  if (address.instance.empty() || instance.empty()) {
    return address.instance + instance;
  }
  return address.instance + "-" + instance;
}

}  // namespace fold
