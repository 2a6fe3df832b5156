// Takes ended spans from a Tracer in batches and sends them; a thread of its
// own. Nobody who makes spans ever waits for it.
#ifndef FOLD_SERVER_TELEMETRY_SPAN_EXPORTER_H_
#define FOLD_SERVER_TELEMETRY_SPAN_EXPORTER_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "server/telemetry/otlp_json.h"
#include "server/telemetry/trace.h"
#include "server/worker_pool.h"

namespace fold {

// How sending went.
struct SendResult {
  enum class Kind { kSent, kTryAgain, kRefused };
  Kind kind = Kind::kSent;
  int64_t rejected = 0;             // spans of it that the other side refused
  std::chrono::milliseconds after;  // for kTryAgain: as asked for; 0: nothing
  std::string why;                  // if it was not simply sent
};

// Where requests go.
class SpanSender {
 public:
  virtual ~SpanSender() = default;
  // Sends one request (OtlpJson); blocks at most `limit`. One at a time.
  virtual SendResult Send(const std::string& request,
                          std::chrono::milliseconds limit) = 0;
  // From another thread: a Send under way ends at once, and later ones fail.
  virtual void Abort() = 0;
};

struct ExporterOptions {
  size_t batch_spans = 512;
  std::chrono::milliseconds interval{2'000};  // between small batches
  std::chrono::milliseconds request_limit{5'000};
  // Pauses before a request is repeated: the first, doubled each time up to
  // the largest, each shortened by a random part of up to a half.
  std::chrono::milliseconds first_pause{500};
  std::chrono::milliseconds largest_pause{30'000};
  int attempts = 6;  // of one batch
};

// What came of spans, for metrics: "sent", "rejected" (by the other side),
// "lost" (could not be sent) or "dropped" (the tracer's buffer was full).
using ExportObserver =
    std::function<void(const std::string& result, int64_t spans)>;

class SpanExporter {
 public:
  SpanExporter(Tracer* tracer, TelemetryResource resource,
               std::unique_ptr<SpanSender> sender, ExporterOptions options,
               ExportObserver observe);
  ~SpanExporter();  // Stop(0)

  // Closes the tracer and sends what it still has, at most so long; the rest
  // is lost, and counted. Whether all was sent.
  bool Stop(std::chrono::milliseconds limit);

 private:
  void Loop();
  void SendBatch(const std::vector<SpanRecord>& batch);
  // Waits between two attempts; false if there is no more time.
  bool Pause(std::chrono::milliseconds pause);
  bool out_of_time() const;

  Tracer* const tracer_;
  const TelemetryResource resource_;
  const std::unique_ptr<SpanSender> sender_;
  const ExporterOptions options_;
  const ExportObserver observe_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool aborted_ = false;
  bool ended_ = false;
  bool clean_ = true;  // nothing was lost since Stop
  std::unique_ptr<LoopThread> thread_;
};

}  // namespace fold

#endif  // FOLD_SERVER_TELEMETRY_SPAN_EXPORTER_H_
