#include "server/config.h"

#include <charconv>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <sstream>
#include <thread>
#include <variant>
#include <vector>

#include "compiler/api/flags.h"
#include "compiler/base/nearest_name.h"
#include "compiler/sandbox/walls.h"
#include "nlohmann/json.hpp"

namespace fold {
namespace {

constexpr int64_t kMany = int64_t{1} << 50;
constexpr int64_t kMostSeconds = int64_t{10} * 366 * 86400;

struct TextField {
  std::string Config::*field;
  std::vector<std::string_view> choices = {};  // empty: any text
};
struct SwitchField {
  bool Config::*field;
};
struct NumberField {
  int64_t Config::*field;
  int64_t lowest;
  int64_t highest;
  bool or_unlimited = false;  // -1 is a value too
};

struct RatioField {  // from 0 to 1
  double Config::*field;
};

struct Row {
  std::string_view name;  // key of the file; the flag has '-' for '_'
  std::string_view value;
  std::string_view help;
  std::variant<TextField, NumberField, SwitchField, RatioField> field;
};

const Row kRows[] = {
    {"listen", "ADDRESS:PORT", "where gRPC listens; port 0: a free one",
     TextField{&Config::listen}},
    {"http", "ADDRESS:PORT", "where HTTP listens; empty: nowhere",
     TextField{&Config::http}},
    {"data", "FOLDER", "cache and running jobs", TextField{&Config::data}},
    {"workers", "N", "compiles at the same time",
     NumberField{&Config::workers, 1, 1024}},
    {"queue_length", "N", "compiles that wait; more are refused",
     NumberField{&Config::queue_length, 0, 1 << 20}},
    {"queue_seconds", "SECONDS", "that a compile may wait",
     NumberField{&Config::queue_seconds, 1, 1 << 20}},
    {"compiler_path", "FILE", "the compiler (default: foldc beside foldd)",
     TextField{&Config::compiler_path}},
    {"targets_folder", "FOLDER", "more targets, *.textproto",
     TextField{&Config::targets_folder}},
    {"cache_bytes", "BYTES", "cache on disk",
     NumberField{&Config::cache_bytes, 1 << 16, kMany}},
    {"memory_cache_bytes", "BYTES", "cache in memory",
     NumberField{&Config::memory_cache_bytes, 0, kMany}},
    {"max_blob_bytes", "BYTES", "one blob",
     NumberField{&Config::max_blob_bytes, 1 << 16, kMany}},
    {"blob_lease_seconds", "SECONDS", "that a blob is kept for its sender",
     NumberField{&Config::blob_lease_seconds, 0, kMostSeconds}},
    {"max_uploads", "N", "uploads under way",
     NumberField{&Config::max_uploads, 1, 1 << 20}},
    {"upload_idle_seconds", "SECONDS", "that an upload may rest",
     NumberField{&Config::upload_idle_seconds, 1, kMostSeconds}},
    {"operation_retention_seconds", "SECONDS", "that what ended is kept",
     NumberField{&Config::operation_retention_seconds, 1, kMostSeconds}},
    {"max_operations", "N", "operations that are kept once they ended",
     NumberField{&Config::max_operations, 0, 1 << 30}},
    {"cache", "URL", "a shared cache: grpc(s)://HOST:PORT[/INSTANCE]",
     TextField{&Config::cache}},
    {"cache_ca_file", "FILE", "who signs the shared cache's certificate",
     TextField{&Config::cache_ca_file}},
    {"cache_token_file", "FILE", "bearer token for the shared cache",
     TextField{&Config::cache_token_file}},
    {"remote_timeout_milliseconds", "MS",
     "a lookup's wait for the shared cache",
     NumberField{&Config::remote_timeout_milliseconds, 1, 600'000}},
    {"remote_queue_bytes", "BYTES", "results that wait to be shared",
     NumberField{&Config::remote_queue_bytes, 0, kMany}},
    {"scrub_bytes_per_second", "BYTES", "background check of the disk; 0: none",
     NumberField{&Config::scrub_bytes_per_second, 0, kMany}},
    {"min_free_bytes", "BYTES", "free disk below which foldd is not ready",
     NumberField{&Config::min_free_bytes, 0, kMany}},
    {"max_message_bytes", "BYTES", "one message; more comes in pieces",
     NumberField{&Config::max_message_bytes, 1 << 16, 2147483647}},
    {"inflight_bytes", "BYTES", "all messages of callers at one time",
     NumberField{&Config::inflight_bytes, 1 << 16, kMany}},
    {"max_calls", "N", "calls at one time",
     NumberField{&Config::max_calls, 1, 1 << 20}},
    {"stall_seconds", "SECONDS", "for a caller to send or to read",
     NumberField{&Config::stall_seconds, 1, 1 << 20}},
    {"inflight_wait_seconds", "SECONDS", "for bytes of inflight_bytes",
     NumberField{&Config::inflight_wait_seconds, 0, 1 << 20}},
    {"job_memory_bytes", "BYTES", "address space of a compile",
     NumberField{&Config::job_memory_bytes, 1 << 26, kMany}},
    {"job_cpu_seconds", "SECONDS", "processor time of a compile",
     NumberField{&Config::job_cpu_seconds, 1, 1 << 20}},
    {"job_wall_seconds", "SECONDS", "wall time of a compile",
     NumberField{&Config::job_wall_seconds, 1, 1 << 20}},
    {"job_file_bytes", "BYTES", "one file that a compile writes",
     NumberField{&Config::job_file_bytes, 1 << 16, kMany}},
    {"job_open_files", "N", "descriptors of a compile",
     NumberField{&Config::job_open_files, 16, 1 << 16}},
    {"sandbox_minimum", "LEVEL",
     "walls that must stand: none, limits, seccomp or full",
     TextField{&Config::sandbox_minimum,
               {"none", "limits", "seccomp", "full"}}},
    {"crash_limit", "N", "crashes that refuse a model; 0: never",
     NumberField{&Config::crash_limit, 0, 1 << 20}},
    {"crash_refusal_seconds", "SECONDS", "how long it is refused",
     NumberField{&Config::crash_refusal_seconds, 1, 1 << 20}},
    {"reproducer_count", "N", "reproducer bundles kept; 0: none",
     NumberField{&Config::reproducer_count, 0, 1 << 20}},
    {"reproducer_bytes", "BYTES", "all reproducer bundles",
     NumberField{&Config::reproducer_bytes, 1 << 16, kMany}},
    {"dispatch_stall_seconds", "SECONDS",
     "that dispatch may stand still before foldd is not ready",
     NumberField{&Config::dispatch_stall_seconds, 1, 1 << 20}},
    {"drain_seconds", "SECONDS", "for running compiles when stopped",
     NumberField{&Config::drain_seconds, 0, 1 << 20}},
    {"salt", "TEXT", "parts this generation of results from others",
     TextField{&Config::salt}},
    {"tls_certificate", "FILE", "PEM: TLS with this certificate",
     TextField{&Config::tls_certificate}},
    {"tls_key", "FILE", "PEM: its key", TextField{&Config::tls_key}},
    {"tls_client_ca", "FILE", "PEM: the authorities of clients' certificates",
     TextField{&Config::tls_client_ca}},
    {"tls_client_auth", "HOW", "clients' certificates: none, request, require",
     TextField{&Config::tls_client_auth, {"none", "request", "require"}}},
    {"unmapped_certificate_role", "ROLE",
     "of a certificate without a row: none, read, compile, administer",
     TextField{&Config::unmapped_certificate_role,
               {"none", "read", "compile", "administer"}}},
    {"tokens_file", "FILE", "JSON: static tokens and certificates",
     TextField{&Config::tokens_file}},
    {"jwt_keys_file", "FILE", "JSON Web Keys: take tokens that they sign",
     TextField{&Config::jwt_keys_file}},
    {"jwt_issuer", "TEXT", "their iss", TextField{&Config::jwt_issuer}},
    {"jwt_audience", "TEXT", "their aud", TextField{&Config::jwt_audience}},
    {"insecure_without_authentication", "WORDS",
     "'anyone may do anything': serve a network without authentication",
     TextField{&Config::insecure_without_authentication}},
    {"insecure_tokens_in_plaintext", "WORDS",
     "'tokens may be read on the wire': take tokens off loopback without TLS",
     TextField{&Config::insecure_tokens_in_plaintext}},
    {"http_metrics_open", "true|false", "/metrics for everybody",
     SwitchField{&Config::http_metrics_open}},
    {"quota_requests_per_second", "N", "of each caller; -1: unlimited",
     NumberField{&Config::quota_requests_per_second, 1, kMany, true}},
    {"quota_inflight_bytes", "BYTES", "of each caller; -1: unlimited",
     NumberField{&Config::quota_inflight_bytes, 1 << 16, kMany, true}},
    {"quota_compiles", "N", "of each caller, waiting or running; -1: unlimited",
     NumberField{&Config::quota_compiles, 1, kMany, true}},
    {"audit_log", "FOLDER", "the audit log (default: DATA/audit)",
     TextField{&Config::audit_log}},
    {"log_level", "LEVEL", "debug, info, warn or error",
     TextField{&Config::log_level, {"debug", "info", "warn", "error"}}},
    {"log_format", "FORM", "text, json, or auto: text on a terminal",
     TextField{&Config::log_format, {"text", "json", "auto"}}},
    {"otlp_endpoint", "URL", "collector of traces (OTLP); empty: none",
     TextField{&Config::otlp_endpoint}},
    {"otlp_file", "FILE", "file for traces (OTLP, JSON); empty: none",
     TextField{&Config::otlp_file}},
    {"trace_ratio", "0..1", "part of the traces begun here that is recorded",
     RatioField{&Config::trace_ratio}},
};

std::string SetNumber(const NumberField& field, int64_t value, Config* config) {
  bool unlimited = field.or_unlimited && value == -1;
  if (!unlimited && (value < field.lowest || value > field.highest)) {
    return std::to_string(value) + " is not from " +
           std::to_string(field.lowest) + " to " +
           std::to_string(field.highest) +
           (field.or_unlimited ? ", nor -1 (unlimited)" : "");
  }
  config->*field.field = value;
  return "";
}

std::string SetSwitchText(const SwitchField& field, std::string_view value,
                          Config* config) {
  if (value != "true" && value != "false") return "must be true or false";
  config->*field.field = value == "true";
  return "";
}

std::string SetRatio(const RatioField& field, double value, Config* config) {
  if (!(value >= 0 && value <= 1)) return "is not from 0 to 1";
  config->*field.field = value;
  return "";
}

std::string RatioFromText(const RatioField& field, std::string_view text,
                          Config* config) {
  double value = -1;
  const char* end = text.data() + text.size();
  auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) value = -1;
  return SetRatio(field, value, config);
}

// The fields whose text is one of a few, and those that exclude each other.
std::string CheckWhole(const Config& config) {
  for (const Row& row : kRows) {
    const auto* text = std::get_if<TextField>(&row.field);
    if (text == nullptr || text->choices.empty()) continue;
    const std::string& value = config.*text->field;
    std::string choices;
    bool good = false;
    for (std::string_view choice : text->choices) {
      good |= choice == value;
      choices += (choices.empty() ? "" : ", ") + std::string(choice);
    }
    if (!good) {
      std::string fault(row.name);
      return fault.append(": '")
          .append(value)
          .append("' is none of ")
          .append(choices);
    }
  }
  if (!config.otlp_endpoint.empty() && !config.otlp_file.empty()) {
    return "otlp_endpoint and otlp_file: give one of them";
  }
  return "";
}

std::vector<Flag> FlagTable(Config* config, std::string* config_path,
                            bool* help) {
  std::vector<Flag> flags;
  for (const Row& row : kRows) {
    std::string name = "--" + std::string(row.name);
    for (char& c : name) c = c == '_' ? '-' : c;
    Flag flag = {name, std::string(row.value), std::string(row.help), nullptr};
    if (const auto* text = std::get_if<TextField>(&row.field)) {
      flag.set = [=](std::string_view value) {
        config->*text->field = std::string(value);
        return std::string();
      };
    } else if (const auto* choice = std::get_if<SwitchField>(&row.field)) {
      flag.set = [=](std::string_view value) {
        return SetSwitchText(*choice, value, config);
      };
    } else if (const auto* ratio = std::get_if<RatioField>(&row.field)) {
      flag.set = [=](std::string_view value) {
        return RatioFromText(*ratio, value, config);
      };
    } else {
      const auto* number = std::get_if<NumberField>(&row.field);
      flag.set = [=](std::string_view value) {
        int64_t parsed = 0;
        int64_t lowest = number->or_unlimited ? -1 : number->lowest;
        std::string error = SetInteger(&parsed, lowest, number->highest)(value);
        return error.empty() ? SetNumber(*number, parsed, config) : error;
      };
    }
    flags.push_back(std::move(flag));
  }
  flags.push_back({"--config", "FILE", "a JSON file with these fields",
                   SetText(config_path)});
  flags.push_back({"--help", "", "print this", SetSwitch(help)});
  return flags;
}

std::string SetFromJson(const Row& row, const nlohmann::json& value,
                        Config* config) {
  std::string name(row.name);
  if (const auto* text = std::get_if<TextField>(&row.field)) {
    if (!value.is_string()) return name + ": must be a string";
    config->*text->field = value.get<std::string>();
    return "";
  }
  if (const auto* choice = std::get_if<SwitchField>(&row.field)) {
    if (!value.is_boolean()) return name + ": must be true or false";
    config->*choice->field = value.get<bool>();
    return "";
  }
  if (const auto* ratio = std::get_if<RatioField>(&row.field)) {
    if (!value.is_number()) return name + ": must be a number";
    std::string error = SetRatio(*ratio, value.get<double>(), config);
    return error.empty() ? "" : name + ": " + error;
  }
  if (!value.is_number_integer()) return name + ": must be a whole number";
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > static_cast<uint64_t>(kMany)) {
    return name + ": is too large";
  }
  std::string error =
      SetNumber(std::get<NumberField>(row.field), value.get<int64_t>(), config);
  return error.empty() ? "" : name + ": " + error;
}

}  // namespace

int64_t Config::DefaultWorkers() {
  return std::max(1U, std::thread::hardware_concurrency());
}

std::string ParseConfigJson(std::string_view text, Config* config) {
  auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false,
                                    /*ignore_comments=*/true);
  if (json.is_discarded()) return "is not valid JSON";
  if (!json.is_object()) return "must be one JSON object";
  std::vector<std::string_view> names;
  for (const Row& row : kRows) names.push_back(row.name);
  for (const auto& [key, value] : json.items()) {
    const Row* found = nullptr;
    for (const Row& row : kRows) {
      if (row.name == key) found = &row;
    }
    if (found == nullptr) {
      return "unknown key '" + key + "'" + DidYouMean(key, names);
    }
    std::string error = SetFromJson(*found, value, config);
    if (!error.empty()) return error;
  }
  return CheckWhole(*config);
}

std::string ParseServerLine(std::span<const std::string> arguments,
                            Config* config, bool* help) {
  // Once to find the file, once more so that flags win over it.
  std::string path;
  Config line_only;
  ParsedLine line = ParseLine(arguments, FlagTable(&line_only, &path, help));
  if (!line.error.empty()) return line.error;
  if (!line.positional.empty()) {
    return "what is '" + line.positional[0] + "'?";
  }
  if (!path.empty()) {
    std::ifstream file(path);
    if (!file) return "cannot open '" + path + "'";
    std::stringstream text;
    text << file.rdbuf();
    std::string error = ParseConfigJson(text.str(), config);
    if (!error.empty()) return path + ": " + error;
  }
  (void)ParseLine(arguments, FlagTable(config, &path, help));
  return CheckWhole(*config);
}

std::string ConfigJson(const Config& config) {
  nlohmann::ordered_json json;
  for (const Row& row : kRows) {
    if (const auto* text = std::get_if<TextField>(&row.field)) {
      json[std::string(row.name)] = config.*text->field;
    } else if (const auto* choice = std::get_if<SwitchField>(&row.field)) {
      json[std::string(row.name)] = config.*choice->field;
    } else if (const auto* ratio = std::get_if<RatioField>(&row.field)) {
      json[std::string(row.name)] = config.*ratio->field;
    } else {
      json[std::string(row.name)] =
          config.*std::get<NumberField>(row.field).field;
    }
  }
  return json.dump(2) + "\n";
}

std::string ServerHelp() {
  Config defaults;
  std::string path;
  bool help = false;
  std::vector<Flag> flags = FlagTable(&defaults, &path, &help);
  auto json = nlohmann::json::parse(ConfigJson(defaults));
  for (size_t i = 0; i < std::size(kRows); ++i) {
    const auto& value = json[std::string(kRows[i].name)];
    if (value != "") flags[i].help += " [" + value.dump() + "]";
  }
  return "foldd: the compile server for quantized neural networks\n"
         "usage: foldd [flags]\n" +
         FlagHelp(flags);
}

}  // namespace fold
