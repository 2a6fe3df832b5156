#include "server/telemetry/trace_context.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <vector>

namespace fold {
namespace {

constexpr size_t kTraceDigits = 32, kSpanDigits = 16;
// "00-" + trace + "-" + span + "-01"
constexpr size_t kVersion0Bytes = 3 + kTraceDigits + 1 + kSpanDigits + 3;
constexpr size_t kMaxStateBytes = 512, kMaxStateEntries = 32;
constexpr size_t kLongEntryBytes = 128;
constexpr size_t kMaxKeyBytes = 256, kMaxValueBytes = 256;
// Of a trace id, the part that is random by the specification.
constexpr int kRandomBits = 56;

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

bool IsZero(std::string_view text) {
  return text.find_first_not_of('0') == std::string_view::npos;
}

std::string RandomHex(size_t digits) {
  std::array<unsigned char, kTraceDigits / 2> bytes{};
  std::string text;
  do {
    // Up to 256 bytes come whole and without a wait once the machine is up.
    while (getrandom(bytes.data(), digits / 2, 0) < 0) {
    }
    text.clear();
    for (size_t i = 0; i < digits / 2; ++i) {
      constexpr char kDigits[] = "0123456789abcdef";
      text += kDigits[bytes[i] >> 4];
      text += kDigits[bytes[i] & 15];
    }
  } while (IsZero(text));
  return text;
}

bool IsKey(std::string_view key) {
  if (key.empty() || key.size() > kMaxKeyBytes) return false;
  auto alnum = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  return alnum(key[0]) && std::count(key.begin(), key.end(), '@') <= 1 &&
         std::all_of(key.begin(), key.end(), [&](char c) {
           return alnum(c) ||
                  std::string_view("_-*/@").find(c) != std::string_view::npos;
         });
}

bool IsValue(std::string_view value) {
  return !value.empty() && value.size() <= kMaxValueBytes &&
         std::all_of(value.begin(), value.end(), [](char c) {
           return c >= 0x20 && c <= 0x7e && c != ',' && c != '=';
         });
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

size_t JoinedBytes(const std::vector<std::string_view>& entries) {
  size_t bytes = entries.empty() ? 0 : entries.size() - 1;
  for (std::string_view entry : entries) bytes += entry.size();
  return bytes;
}

// The list within its limits; "" if it breaks the grammar.
std::string ReadTracestate(std::string_view text) {
  std::vector<std::string_view> entries;
  std::set<std::string_view> keys;
  while (!text.empty()) {
    size_t comma = text.find(',');
    std::string_view entry = Trim(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size()
                                                       : comma + 1);
    if (entry.empty()) continue;  // allowed
    size_t equals = entry.find('=');
    if (equals == std::string_view::npos || !IsKey(entry.substr(0, equals)) ||
        !IsValue(entry.substr(equals + 1)) ||
        !keys.insert(entry.substr(0, equals)).second ||
        keys.size() > kMaxStateEntries) {
      return "";
    }
    entries.push_back(entry);
  }
  for (size_t i = entries.size();
       i-- > 0 && JoinedBytes(entries) > kMaxStateBytes;) {
    if (entries[i].size() > kLongEntryBytes) {
      entries.erase(entries.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  while (JoinedBytes(entries) > kMaxStateBytes) entries.pop_back();
  std::string out;
  for (std::string_view entry : entries) {
    if (!out.empty()) out += ',';
    out += entry;
  }
  return out;
}

}  // namespace

std::optional<TraceContext> ParseTraceparent(std::string_view traceparent,
                                             std::string_view tracestate) {
  std::string_view text = Trim(traceparent);
  if (text.size() < kVersion0Bytes) return std::nullopt;
  std::string_view version = text.substr(0, 2);
  std::string_view trace_id = text.substr(3, kTraceDigits);
  std::string_view span_id = text.substr(4 + kTraceDigits, kSpanDigits);
  std::string_view flags = text.substr(kVersion0Bytes - 2, 2);
  bool dashes = text[2] == '-' && text[3 + kTraceDigits] == '-' &&
                text[4 + kTraceDigits + kSpanDigits] == '-';
  if (!dashes || !IsHex(version) || version == "ff" || !IsHex(trace_id) ||
      IsZero(trace_id) || !IsHex(span_id) || IsZero(span_id) || !IsHex(flags)) {
    return std::nullopt;
  }
  // Later versions may add fields behind a dash.
  if (text.size() > kVersion0Bytes &&
      (version == "00" || text[kVersion0Bytes] != '-')) {
    return std::nullopt;
  }
  TraceContext context;
  context.trace_id = trace_id;
  context.span_id = span_id;
  std::from_chars(flags.data(), flags.data() + 2, context.flags, 16);
  // What later versions mean by the other bits is not known here.
  context.flags &= TraceContext::kSampled;
  context.tracestate = ReadTracestate(tracestate);
  return context;
}

std::string FormatTraceparent(const TraceContext& context) {
  if (!context.valid()) return "";
  return "00-" + context.trace_id + "-" + context.span_id +
         (context.sampled() ? "-01" : "-00");
}

TraceContext NewChild(const TraceContext& parent) {
  TraceContext child = parent;
  child.span_id = RandomHex(kSpanDigits);
  return child;
}

TraceContext NewTrace(bool sampled) {
  TraceContext context;
  context.trace_id = RandomHex(kTraceDigits);
  context.span_id = RandomHex(kSpanDigits);
  context.flags = sampled ? TraceContext::kSampled : 0;
  return context;
}

bool SampleTrace(const std::string& trace_id, double ratio) {
  if (trace_id.size() != kTraceDigits) return false;
  uint64_t random = 0;
  const char* end = trace_id.data() + trace_id.size();
  std::from_chars(end - kRandomBits / 4, end, random, 16);
  // Close to its end a double cannot tell the largest ids from 1.
  if (ratio >= 1) return true;
  return static_cast<double>(random) < std::ldexp(ratio, kRandomBits);
}

}  // namespace fold
