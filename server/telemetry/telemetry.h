// Traces as the configuration wants them: the tracer, and what exports its
// spans.
#ifndef FOLD_SERVER_TELEMETRY_TELEMETRY_H_
#define FOLD_SERVER_TELEMETRY_TELEMETRY_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/telemetry/span_exporter.h"
#include "server/telemetry/trace.h"

namespace fold {

struct TelemetryOptions {
  std::string endpoint;  // of a collector (otlp_http.h), or
  std::string file;      // (otlp_file.h), or neither: spans are not recorded
  double ratio = 1;      // of the traces that begin here
  std::string version;   // of the server
};

class Telemetry {
 public:
  // INVALID_ARGUMENT or UNAVAILABLE: the endpoint or file cannot be used. A
  // collector that is down is no error.
  static absl::StatusOr<std::unique_ptr<Telemetry>> Start(
      const TelemetryOptions& options, ExportObserver observe);

  Tracer* tracer() { return &tracer_; }
  // Sends what is left, at most so long. Whether nothing was lost.
  bool Stop(std::chrono::milliseconds limit);

 private:
  Telemetry(bool record, double ratio);
  Tracer tracer_;
  std::unique_ptr<SpanExporter> exporter_;  // null: nothing is recorded
};

}  // namespace fold

#endif  // FOLD_SERVER_TELEMETRY_TELEMETRY_H_
