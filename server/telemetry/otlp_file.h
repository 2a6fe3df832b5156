// Writes spans to a file, one ExportTraceServiceRequest in JSON a line, as
// OpenTelemetry's file exporter does. At its limit the file is renamed to
// PATH.1, in place of an older one, and begun anew: both together are bounded.
#ifndef FOLD_SERVER_TELEMETRY_OTLP_FILE_H_
#define FOLD_SERVER_TELEMETRY_OTLP_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/telemetry/span_exporter.h"

namespace fold {

class OtlpFileSender : public SpanSender {
 public:
  // Goes on behind what the file holds. An error: it cannot be written.
  static absl::StatusOr<std::unique_ptr<OtlpFileSender>> Open(
      const std::string& path, int64_t limit_bytes);
  ~OtlpFileSender() override;

  // Refused, if it cannot be written: no line is left half written.
  SendResult Send(const std::string& request,
                  std::chrono::milliseconds limit) override;
  void Abort() override {}  // a write ends by itself

 private:
  OtlpFileSender(std::string path, int64_t limit_bytes)
      : path_(std::move(path)), limit_bytes_(limit_bytes) {}
  absl::Status Reopen();
  absl::Status Rotate();
  absl::Status Write(const std::string& line);

  const std::string path_;
  const int64_t limit_bytes_;
  int fd_ = -1;
  int64_t size_ = 0;
};

}  // namespace fold

#endif  // FOLD_SERVER_TELEMETRY_OTLP_FILE_H_
