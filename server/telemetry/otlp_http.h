// Sends spans to an OpenTelemetry collector: POST ENDPOINT/v1/traces.
#ifndef FOLD_SERVER_TELEMETRY_OTLP_HTTP_H_
#define FOLD_SERVER_TELEMETRY_OTLP_HTTP_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/telemetry/span_exporter.h"

namespace fold {

class OtlpHttpSender : public SpanSender {
 public:
  // `endpoint` as http://HOST:PORT or https://HOST:PORT, with or without a
  // path before /v1/traces. A certificate is checked against the system's
  // authorities, or those of the environment's SSL_CERT_FILE. Connects with
  // the first request. INVALID_ARGUMENT: what is wrong with the endpoint.
  static absl::StatusOr<std::unique_ptr<OtlpHttpSender>> Make(
      const std::string& endpoint);
  ~OtlpHttpSender() override;

  // Worth another try: no connection, too slow, and what OTLP names: 429, 502,
  // 503, 504 (with Retry-After).
  SendResult Send(const std::string& request,
                  std::chrono::milliseconds limit) override;
  void Abort() override;

 private:
  struct Parts;
  explicit OtlpHttpSender(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace fold

#endif  // FOLD_SERVER_TELEMETRY_OTLP_HTTP_H_
