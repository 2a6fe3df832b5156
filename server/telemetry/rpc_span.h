// The span of an RPC that we serve, with the attributes that OpenTelemetry's
// conventions name.
#ifndef FOLD_SERVER_TELEMETRY_RPC_SPAN_H_
#define FOLD_SERVER_TELEMETRY_RPC_SPAN_H_

#include <string>
#include <string_view>

#include "server/telemetry/trace.h"

namespace fold {

// `traceparent` and `tracestate` are the call's metadata, "" if absent.
Span StartRpcSpan(Tracer* tracer, const std::string& service,
                  const std::string& method, std::string_view traceparent,
                  std::string_view tracestate);

// Ends it with the call's gRPC code and message. The span counts as failed if
// the code says that the server is at fault.
void EndRpcSpan(Span* span, int code, const std::string& message);

}  // namespace fold

#endif  // FOLD_SERVER_TELEMETRY_RPC_SPAN_H_
