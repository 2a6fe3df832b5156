#include "server/telemetry/log.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "nlohmann/json.hpp"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace fold {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxValueBytes = 256;
constexpr size_t kMaxMessageBytes = 2048;
constexpr std::string_view kCut = "...";
constexpr std::string_view kBearer = "bearer ";

// Fields of the scopes that are open in this thread, outermost first.
thread_local std::vector<LogField> scope_fields;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }

// Puts *** in the place of each word that follows "Bearer ".
std::string WithoutTokens(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    auto found =
        std::search(text.begin(), text.end(), kBearer.begin(), kBearer.end(),
                    [](char a, char b) { return Lower(a) == b; });
    size_t at = static_cast<size_t>(found - text.begin());
    out += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty()) break;
    out += text.substr(0, kBearer.size());
    out += "***";
    text.remove_prefix(kBearer.size());
    size_t end = text.find_first_of(" \t\r\n\"',;");
    text.remove_prefix(std::min(end, text.size()));
  }
  return out;
}

// At most `limit` bytes of it, and no half of a character at the end.
std::string Cut(std::string_view text, size_t limit) {
  std::string safe = WithoutTokens(text.substr(0, limit + kBearer.size()));
  if (text.size() <= limit) return safe;
  size_t end = std::min(safe.size(), limit - kCut.size());
  while (end > 0 && (static_cast<unsigned char>(safe[end]) & 0xc0) == 0x80) {
    --end;
  }
  return safe.substr(0, end) + std::string(kCut);
}

// As a JSON string, which is one line whatever is in it.
std::string Quoted(std::string_view text, size_t limit) {
  return Json(Cut(text, limit))
      .dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

std::string Time(spdlog::log_clock::time_point time) {
  auto micros = std::chrono::duration_cast<std::chrono::microseconds>(
                    time.time_since_epoch())
                    .count();
  std::time_t seconds = micros / 1'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[48];
  size_t size = std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + size, sizeof(text) - size, ".%06dZ",
                static_cast<int>(micros % 1'000'000));
  return text;
}

std::string ValueText(const LogField& field) {
  if (const auto* text = std::get_if<std::string>(&field.value)) {
    return Quoted(*text, kMaxValueBytes);
  }
  if (const auto* number = std::get_if<int64_t>(&field.value)) {
    return std::to_string(*number);
  }
  return Json(std::get<double>(field.value)).dump();
}

// The fields of the line; of two with one name the inner one, in its place.
std::vector<LogField> FieldsNow() {
  std::vector<LogField> fields;
  for (const LogField& field : scope_fields) {
    auto same = std::find_if(
        fields.begin(), fields.end(),
        [&](const LogField& have) { return have.name == field.name; });
    if (same != fields.end()) {
      *same = field;
    } else {
      fields.push_back(field);
    }
  }
  return fields;
}

std::string_view Level(spdlog::level::level_enum level) {
  auto name = spdlog::level::to_string_view(level);
  std::string_view text(name.data(), name.size());
  return text == "warning" ? "warn" : text;
}

class LineFormatter : public spdlog::formatter {
 public:
  explicit LineFormatter(LogFormat format) : format_(format) {}

  void format(const spdlog::details::log_msg& message,
              spdlog::memory_buf_t& out) override {
    std::string_view payload(message.payload.data(), message.payload.size());
    std::string line = format_ == LogFormat::kJson ? JsonLine(message, payload)
                                                   : TextLine(message, payload);
    line += '\n';
    out.append(line.data(), line.data() + line.size());
  }

  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<LineFormatter>(format_);
  }

 private:
  static std::string JsonLine(const spdlog::details::log_msg& message,
                              std::string_view payload) {
    std::string line = "{\"time\":\"" + Time(message.time) + "\",\"level\":\"";
    line += Level(message.level);
    line += "\",\"message\":" + Quoted(payload, kMaxMessageBytes);
    for (const LogField& field : FieldsNow()) {
      line += ',' + Quoted(field.name, kMaxValueBytes) + ':' + ValueText(field);
    }
    return line + '}';
  }

  static std::string TextLine(const spdlog::details::log_msg& message,
                              std::string_view payload) {
    std::string line = Time(message.time) + ' ';
    line += Level(message.level);
    // The message reads better without quotes, but escaped like the rest.
    std::string quoted = Quoted(payload, kMaxMessageBytes);
    line += ' ' + quoted.substr(1, quoted.size() - 2);
    for (const LogField& field : FieldsNow()) {
      line += ' ' + field.name + '=' + ValueText(field);
    }
    return line;
  }

  const LogFormat format_;
};

}  // namespace

LogFormat ChooseLogFormat(const std::string& word) {
  if (word == "text") return LogFormat::kText;
  if (word == "json") return LogFormat::kJson;
  return isatty(STDERR_FILENO) == 1 ? LogFormat::kText : LogFormat::kJson;
}

void SetUpLog(const std::string& level, LogFormat format) {
  auto logger = std::make_shared<spdlog::logger>(
      "foldd", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(MakeLogFormatter(format));
  logger->set_level(spdlog::level::from_str(level));
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

LogScope::LogScope(std::vector<LogField> fields) : outer_(scope_fields.size()) {
  for (LogField& field : fields) {
    const auto* text = std::get_if<std::string>(&field.value);
    if (text != nullptr && text->empty()) continue;
    scope_fields.push_back(std::move(field));
  }
}

LogScope::~LogScope() { scope_fields.resize(outer_); }

std::vector<LogField> TraceFields(const TraceContext& context) {
  if (!context.valid()) return {};
  return {{"trace_id", context.trace_id}, {"span_id", context.span_id}};
}

void LogCall(const CallLog& call) {
  LogScope scope({{"service", call.service},
                  {"method", call.method},
                  {"code", call.code},
                  {"reason", call.reason},
                  {"duration_ms", call.duration_milliseconds},
                  {"principal", call.principal},
                  {"peer", call.peer},
                  {"instance", call.instance},
                  {"request_id", call.request_id},
                  {"action_digest", call.action_digest},
                  {"request_bytes", call.request_bytes},
                  {"response_bytes", call.response_bytes}});
  LogScope trace(TraceFields(call.trace));
  bool at_fault = call.code == "UNKNOWN" || call.code == "INTERNAL" ||
                  call.code == "DATA_LOSS";
  spdlog::log(at_fault ? spdlog::level::warn : spdlog::level::info, "call");
}

std::unique_ptr<spdlog::formatter> MakeLogFormatter(LogFormat format) {
  return std::make_unique<LineFormatter>(format);
}

}  // namespace fold
