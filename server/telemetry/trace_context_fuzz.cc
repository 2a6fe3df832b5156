// The headers traceparent and tracestate (behind the first newline) of any
// bytes. What is taken is written so that it is taken again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "server/telemetry/trace_context.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t line = text.find('\n');
  const std::string_view state =
      line == std::string_view::npos ? "" : text.substr(line + 1);
  auto context = fold::ParseTraceparent(text.substr(0, line), state);
  if (!context) return 0;
  if (!context->valid() || context->tracestate.size() > 512) std::abort();
  auto again = fold::ParseTraceparent(fold::FormatTraceparent(*context),
                                      context->tracestate);
  if (!again || again->trace_id != context->trace_id ||
      again->span_id != context->span_id || again->flags != context->flags ||
      again->tracestate != context->tracestate) {
    std::abort();
  }
  return 0;
}
