#include "server/telemetry/rpc_span.h"

#include <algorithm>
#include <iterator>

namespace fold {
namespace {

// By the conventions, of a server's span: UNKNOWN, DEADLINE_EXCEEDED,
// UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS.
constexpr int kServerAtFault[] = {2, 4, 12, 13, 14, 15};

}  // namespace

Span StartRpcSpan(Tracer* tracer, const std::string& service,
                  const std::string& method, std::string_view traceparent,
                  std::string_view tracestate) {
  auto parent = ParseTraceparent(traceparent, tracestate);
  Span span = StartSpan(tracer, service + "/" + method,
                        parent.value_or(TraceContext()), SpanKind::kServer);
  span.Set("rpc.system", "grpc");
  span.Set("rpc.service", service);
  span.Set("rpc.method", method);
  return span;
}

void EndRpcSpan(Span* span, int code, const std::string& message) {
  span->Set("rpc.grpc.status_code", static_cast<int64_t>(code));
  bool failed = std::find(std::begin(kServerAtFault), std::end(kServerAtFault),
                          code) != std::end(kServerAtFault);
  if (failed) span->SetStatus(SpanStatus::kError, message);
  span->End();
}

}  // namespace fold
