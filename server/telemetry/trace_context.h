// W3C Trace Context: which trace a piece of work belongs to, as the headers
// `traceparent` and `tracestate` carry it.
#ifndef FOLD_SERVER_TELEMETRY_TRACE_CONTEXT_H_
#define FOLD_SERVER_TELEMETRY_TRACE_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fold {

struct TraceContext {
  static constexpr uint8_t kSampled = 1;

  std::string trace_id;    // 32 lower-case hexadecimal digits; empty: no trace
  std::string span_id;     // 16 of them: the span that the work is done for
  uint8_t flags = 0;       // bit 0: the trace is recorded
  std::string tracestate;  // of other vendors, handed on as it came

  bool valid() const { return !trace_id.empty(); }
  bool sampled() const { return (flags & kSampled) != 0; }
};

// Reads the two headers. nullopt: `traceparent` is absent or wrong, and a new
// trace begins. A version above 00 is read as far as 00 goes. A `tracestate`
// that breaks its grammar is dropped alone; a long one loses entries until at
// most 512 bytes are left: first those above 128 bytes, then the last ones.
std::optional<TraceContext> ParseTraceparent(std::string_view traceparent,
                                             std::string_view tracestate = "");

// The header `traceparent` in version 00; "" without a trace.
std::string FormatTraceparent(const TraceContext& context);

// The same trace with a span id of its own.
TraceContext NewChild(const TraceContext& parent);

// A new trace. Ids come from the kernel's random numbers and are never zero.
TraceContext NewTrace(bool sampled);

// Whether a new trace is recorded, of which `ratio` (0 to 1) are: a function
// of its id, so that all servers decide alike.
bool SampleTrace(const std::string& trace_id, double ratio);

}  // namespace fold

#endif  // FOLD_SERVER_TELEMETRY_TRACE_CONTEXT_H_
