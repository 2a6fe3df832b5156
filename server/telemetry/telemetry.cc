#include "server/telemetry/telemetry.h"

#include "server/telemetry/otlp_file.h"
#include "server/telemetry/otlp_http.h"

namespace fold {
namespace {

constexpr size_t kBufferSpans = 8192;
constexpr int64_t kFileBytes = int64_t{64} << 20;

// A random UUID, version 4.
std::string NewInstanceId() {
  std::string digits = NewTrace(false).trace_id;
  digits[12] = '4';
  digits[16] = "89ab"[digits[16] & 3];
  return digits.substr(0, 8) + "-" + digits.substr(8, 4) + "-" +
         digits.substr(12, 4) + "-" + digits.substr(16, 4) + "-" +
         digits.substr(20);
}

absl::StatusOr<std::unique_ptr<SpanSender>> MakeSender(
    const TelemetryOptions& options) {
  if (!options.endpoint.empty()) {
    auto sender = OtlpHttpSender::Make(options.endpoint);
    if (!sender.ok()) return sender.status();
    return std::unique_ptr<SpanSender>(std::move(*sender));
  }
  auto sender = OtlpFileSender::Open(options.file, kFileBytes);
  if (!sender.ok()) return sender.status();
  return std::unique_ptr<SpanSender>(std::move(*sender));
}

}  // namespace

Telemetry::Telemetry(bool record, double ratio)
    : tracer_(record, ratio, kBufferSpans) {}

absl::StatusOr<std::unique_ptr<Telemetry>> Telemetry::Start(
    const TelemetryOptions& options, ExportObserver observe) {
  bool record = !options.endpoint.empty() || !options.file.empty();
  std::unique_ptr<Telemetry> telemetry(new Telemetry(record, options.ratio));
  if (!record) return telemetry;
  auto sender = MakeSender(options);
  if (!sender.ok()) return sender.status();
  telemetry->exporter_ = std::make_unique<SpanExporter>(
      &telemetry->tracer_, TelemetryResource{options.version, NewInstanceId()},
      std::move(*sender), ExporterOptions{}, std::move(observe));
  return telemetry;
}

bool Telemetry::Stop(std::chrono::milliseconds limit) {
  return exporter_ == nullptr || exporter_->Stop(limit);
}

}  // namespace fold
