// Spans as OTLP's ExportTraceServiceRequest in JSON: ids in hexadecimal,
// 64-bit numbers as strings, enumerations as numbers.
#ifndef FOLD_SERVER_TELEMETRY_OTLP_JSON_H_
#define FOLD_SERVER_TELEMETRY_OTLP_JSON_H_

#include <span>
#include <string>

#include "server/telemetry/trace.h"

namespace fold {

// Who sends the spans: attributes of the resource.
struct TelemetryResource {
  std::string service_version;
  std::string instance_id;  // of this run of the server, e.g. a random UUID
};

// One request, on one line. Bytes that are no UTF-8 are replaced.
std::string OtlpJson(const TelemetryResource& resource,
                     std::span<const SpanRecord> spans);

// How many spans an answer to such a request says were refused; 0 if it says
// nothing. `message` is what it says of them.
int64_t RejectedSpans(const std::string& response, std::string* message);

}  // namespace fold

#endif  // FOLD_SERVER_TELEMETRY_OTLP_JSON_H_
