#include "server/access/tokens_file.h"

#include <algorithm>
#include <ctime>
#include <set>

#include "absl/time/time.h"
#include "compiler/api/sha256.h"
#include "compiler/base/nearest_name.h"
#include "nlohmann/json.hpp"
#include "server/access/token.h"

namespace fold {
namespace {

using Json = nlohmann::json;

constexpr char kTimeFormat[] = "%Y-%m-%dT%H:%M:%SZ";
constexpr char kNever[] = "never";

// Reads one object of a list. Remembers the first fault.
class RowReader {
 public:
  RowReader(std::string path, const Json& row, std::string* fault)
      : path_(std::move(path)), row_(row), fault_(fault) {}

  bool Keys(std::vector<std::string_view> known) {
    if (!row_.is_object()) {
      Fault("", "must be an object");
      return false;
    }
    for (const auto& [key, value] : row_.items()) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        Fault("." + key, "is an unknown key" + DidYouMean(key, known));
      }
    }
    return fault_->empty();
  }
  std::string Text(const std::string& key) {
    auto found = row_.find(key);
    if (found == row_.end()) {
      Fault("." + key, "is missing");
    } else if (!found->is_string()) {
      Fault("." + key, "must be a string");
    } else {
      return found->get<std::string>();
    }
    return "";
  }
  void ReadPrincipal(Principal* principal) {
    principal->name = Text("name");
    Check(IsPrincipalName(principal->name), ".name",
          "must be 1 to 128 printable characters without blanks");
    std::optional<Role> role = ParseRole(Text("role"));
    Check(role.has_value(), ".role", "is none of read, compile, administer");
    principal->role = role.value_or(Role::kRead);
    ReadInstances(&principal->instances);
  }
  void Check(bool good, const std::string& key, const std::string& message) {
    if (!good) Fault(key, message);
  }

 private:
  void ReadInstances(std::vector<std::string>* instances) {
    auto found = row_.find("instances");
    if (found == row_.end()) return Fault(".instances", "is missing");
    if (!found->is_array() || found->empty()) {
      return Fault(".instances", "must be a list of names, not empty");
    }
    for (size_t i = 0; i < found->size(); ++i) {
      std::string at = ".instances[" + std::to_string(i) + "]";
      const Json& name = (*found)[i];
      if (!name.is_string()) return Fault(at, "must be a string");
      instances->push_back(name.get<std::string>());
      Check(instances->back() == kAllInstances ||
                IsInstanceName(instances->back()),
            at, "is no instance's name");
    }
  }
  void Fault(const std::string& key, const std::string& message) {
    if (fault_->empty()) *fault_ = path_ + key + ": " + message;
  }

  const std::string path_;
  const Json& row_;
  std::string* const fault_;
};

// The list under `key`: nullptr if it is not there.
const Json* FindList(const Json& json, const char* key, std::string* fault) {
  auto found = json.find(key);
  if (found == json.end()) return nullptr;
  if (found->is_array()) return &*found;
  *fault = std::string(key) + ": must be a list";
  return nullptr;
}

void ReadTokens(const Json& list, TokensFile* out, std::string* fault) {
  std::set<std::string> seen;
  for (size_t i = 0; i < list.size() && fault->empty(); ++i) {
    RowReader reader("tokens[" + std::to_string(i) + "]", list[i], fault);
    if (!reader.Keys({"name", "role", "instances", "sha256", "expires"})) {
      return;
    }
    TokenRow row;
    reader.ReadPrincipal(&row.principal);
    row.sha256 = reader.Text("sha256");
    reader.Check(IsSha256Hex(row.sha256), ".sha256",
                 "must be 64 lower-case hexadecimal digits");
    reader.Check(seen.insert(row.sha256).second, ".sha256",
                 "is that of an earlier row");
    reader.Check(row.sha256 != TokenHash(""), ".sha256",
                 "is that of an empty token");
    reader.Check(ParseExpiry(reader.Text("expires"), &row.expires), ".expires",
                 "must be a time as 2027-01-01T00:00:00Z, or \"never\"");
    out->tokens.push_back(std::move(row));
  }
}

void ReadCertificates(const Json& list, TokensFile* out, std::string* fault) {
  std::set<std::string> seen;
  for (size_t i = 0; i < list.size() && fault->empty(); ++i) {
    RowReader reader("certificates[" + std::to_string(i) + "]", list[i], fault);
    if (!reader.Keys({"identity", "name", "role", "instances"})) return;
    CertificateRow row;
    row.identity = reader.Text("identity");
    reader.Check(!row.identity.empty(), ".identity", "is empty");
    reader.Check(seen.insert(row.identity).second, ".identity",
                 "is that of an earlier row");
    reader.ReadPrincipal(&row.principal);
    out->certificates.push_back(std::move(row));
  }
}

}  // namespace

std::string ParseTokensFile(std::string_view text, TokensFile* out) {
  *out = {};
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return "is not valid JSON";
  if (!json.is_object()) return "must be one JSON object";
  std::vector<std::string_view> known = {"tokens", "certificates"};
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return key + ": is an unknown key" + DidYouMean(key, known);
    }
  }
  std::string fault;
  if (const Json* list = FindList(json, "tokens", &fault)) {
    ReadTokens(*list, out, &fault);
  }
  if (const Json* list = FindList(json, "certificates", &fault)) {
    if (fault.empty()) ReadCertificates(*list, out, &fault);
  }
  if (fault.empty() && out->tokens.empty() && out->certificates.empty()) {
    return "tokens: lets nobody in: there is no row";
  }
  return fault;
}

std::string TokenRowJson(const TokenRow& row) {
  nlohmann::ordered_json json;
  json["name"] = row.principal.name;
  json["role"] = std::string(RoleName(row.principal.role));
  json["instances"] = row.principal.instances;
  json["sha256"] = row.sha256;
  json["expires"] =
      row.expires == kNeverExpires
          ? kNever
          : absl::FormatTime(kTimeFormat, absl::FromUnixSeconds(row.expires),
                             absl::UTCTimeZone());
  return json.dump();
}

bool ParseExpiry(const std::string& text, int64_t* seconds) {
  if (text == kNever) {
    *seconds = kNeverExpires;
    return true;
  }
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(kTimeFormat, text, absl::UTCTimeZone(), &time, &error)) {
    return false;
  }
  *seconds = absl::ToUnixSeconds(time);
  return true;
}

const TokenRow* FindToken(const TokensFile& file, std::string_view token) {
  std::string hash = TokenHash(token);
  const TokenRow* found = nullptr;
  for (const TokenRow& row : file.tokens) {
    if (SameHash(row.sha256, hash)) found = &row;
  }
  return found;
}

}  // namespace fold
