#include "server/access/audit_chain.h"

#include <fstream>

#include "absl/time/time.h"
#include "compiler/api/sha256.h"
#include "nlohmann/json.hpp"

namespace fold {
namespace {

using Json = nlohmann::ordered_json;

// Of values that callers choose.
constexpr size_t kMaxValueBytes = 512;
// No line of ours is longer.
constexpr size_t kMaxLineBytes = 64 << 10;

std::string FormatTime(std::chrono::system_clock::time_point time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromChrono(time),
                          absl::UTCTimeZone());
}

std::string Cut(const std::string& text) {
  return text.substr(0, kMaxValueBytes);
}

std::string NextLine(Json json, AuditHead* head) {
  json["previous"] = head->hash;
  std::string line =
      json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  ++head->lines;
  head->hash = Sha256Hex(line);
  return line + "\n";
}

// What is wrong with a line behind `head`; "" if it is the next one.
std::string CheckLine(const std::string& line, const AuditHead& head) {
  Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return "is no JSON object";
  auto sequence = json.find("sequence");
  if (sequence == json.end() || !sequence->is_number_integer() ||
      sequence->get<int64_t>() != head.lines + 1) {
    return "has another sequence number";
  }
  auto previous = json.find("previous");
  if (previous == json.end() || !previous->is_string() ||
      previous->get<std::string>() != head.hash) {
    return head.lines == 0 ? "is no beginning of a chain"
                           : "does not follow the line before";
  }
  return "";
}

}  // namespace

std::string AuditStartLine(const AuditStart& start, AuditHead* head) {
  Json json;
  json["sequence"] = head->lines + 1;
  json["time"] = FormatTime(start.time);
  json["follows"] = start.follows;
  json["follows_hash"] = start.follows_hash;
  json["why"] = start.why;
  return NextLine(std::move(json), head);
}

std::string AuditRecordLine(const AuditRecord& record, int64_t lost,
                            AuditHead* head) {
  Json json;
  json["sequence"] = head->lines + 1;
  json["time"] = FormatTime(record.time);
  json["principal"] = Cut(record.principal);
  json["peer"] = Cut(record.peer);
  json["method"] = Cut(record.method);
  json["instance"] = Cut(record.instance);
  json["action_digest"] = Cut(record.action_digest);
  json["decision"] = Cut(record.decision);
  json["reason"] = Cut(record.reason);
  if (lost > 0) json["lost_before"] = lost;
  return NextLine(std::move(json), head);
}

AuditCheck VerifyAuditFile(const std::string& path) {
  AuditCheck check;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    check.fault = "cannot open '" + path + "'";
    return check;
  }
  std::string line;
  auto fault = [&](const std::string& message) {
    check.fault =
        "line " + std::to_string(check.head.lines + 1) + ": " + message;
  };
  while (check.fault.empty() && std::getline(file, line)) {
    // getline takes what stands behind the last newline for a line too.
    if (file.eof()) {
      fault("ends in the middle");
    } else if (line.size() > kMaxLineBytes) {
      fault("is too long");
    } else if (std::string message = CheckLine(line, check.head);
               !message.empty()) {
      fault(message);
    } else {
      ++check.head.lines;
      check.head.hash = Sha256Hex(line);
    }
  }
  if (check.fault.empty() && check.head.lines == 0) fault("is missing");
  return check;
}

}  // namespace fold
