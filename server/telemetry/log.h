// The log: one line an event on stderr, as JSON for machines or as text for
// people. Both carry fields: those of the line, and those of the LogScopes
// around it in its thread, so that plain spdlog calls have them too.
//
//   {"time":"2026-11-29T12:00:00.123456Z","level":"info","message":"call",
//    "method":"Compile","code":"OK","duration_ms":12.5,"trace_id":"4bf9…"}
//
// Strings come from clients and models: in every line control characters are
// escaped, bytes that are no UTF-8 replaced, values cut at 256 bytes (messages
// at 2,048), and what follows the word Bearer is not shown.
#ifndef FOLD_SERVER_TELEMETRY_LOG_H_
#define FOLD_SERVER_TELEMETRY_LOG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/telemetry/trace_context.h"
#include "spdlog/formatter.h"

namespace fold {

enum class LogFormat { kText, kJson };

// "text", "json" or "auto": text if stderr is a terminal, otherwise JSON.
LogFormat ChooseLogFormat(const std::string& word);

// Makes spdlog's default logger write to stderr in this form. `level` is
// debug, info, warn or error.
void SetUpLog(const std::string& level, LogFormat format);

struct LogField {
  std::string name;  // of the fields that docs/operations.md lists
  std::variant<std::string, int64_t, double> value;
};

// While it lives, each line of this thread has these fields; empty strings are
// left out. Scopes nest; the inner one wins.
class LogScope {
 public:
  explicit LogScope(std::vector<LogField> fields);
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

 private:
  size_t outer_;  // number of fields before this scope
};

// trace_id and span_id of a context; none without a trace.
std::vector<LogField> TraceFields(const TraceContext& context);

// One RPC that has ended: the access log has one line for each.
struct CallLog {
  std::string service;    // "foldd.v1.Compiler"
  std::string method;     // "Compile"
  std::string code;       // "OK", "NOT_FOUND" …
  std::string reason;     // of the failure, a row of error_table.def
  std::string principal;  // name of who called; never a token
  std::string peer;       // address
  std::string instance;   // instance_name
  std::string request_id;
  std::string action_digest;
  TraceContext trace;
  double duration_milliseconds = 0;
  int64_t request_bytes = 0;
  int64_t response_bytes = 0;
};

// At level info; at warn if the code says that the server is at fault (UNKNOWN,
// INTERNAL, DATA_LOSS).
void LogCall(const CallLog& call);

// Formats a line; for SetUpLog and tests.
std::unique_ptr<spdlog::formatter> MakeLogFormatter(LogFormat format);

}  // namespace fold

#endif  // FOLD_SERVER_TELEMETRY_LOG_H_
