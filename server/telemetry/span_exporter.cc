#include "server/telemetry/span_exporter.h"

#include <algorithm>
#include <random>

#include "spdlog/spdlog.h"

namespace fold {
namespace {

using std::chrono::milliseconds;

// Anything up to half of it less, so that many servers do not come at once.
milliseconds Jitter(milliseconds pause) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  std::uniform_int_distribution<int64_t> half(0, pause.count() / 2);
  return pause - milliseconds(half(random));
}

}  // namespace

SpanExporter::SpanExporter(Tracer* tracer, TelemetryResource resource,
                           std::unique_ptr<SpanSender> sender,
                           ExporterOptions options, ExportObserver observe)
    : tracer_(tracer),
      resource_(std::move(resource)),
      sender_(std::move(sender)),
      options_(options),
      observe_(std::move(observe)),
      thread_(std::make_unique<LoopThread>([this] { Loop(); })) {}

SpanExporter::~SpanExporter() { Stop(milliseconds(0)); }

bool SpanExporter::Stop(milliseconds limit) {
  if (thread_ == nullptr) return clean_;
  tracer_->Close();
  {
    std::unique_lock lock(mutex_);
    changed_.notify_all();
    changed_.wait_for(lock, limit, [this] { return ended_; });
    aborted_ = true;
    changed_.notify_all();
  }
  sender_->Abort();
  thread_.reset();
  return clean_;
}

void SpanExporter::Loop() {
  int64_t dropped = 0;
  for (;;) {
    bool last = tracer_->closed();
    std::vector<SpanRecord> batch =
        tracer_->Take(options_.batch_spans, options_.interval);
    if (!batch.empty()) SendBatch(batch);
    int64_t now_dropped = tracer_->dropped();
    if (now_dropped > dropped) observe_("dropped", now_dropped - dropped);
    dropped = now_dropped;
    if (batch.empty() && last) break;
  }
  std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void SpanExporter::SendBatch(const std::vector<SpanRecord>& batch) {
  auto count = static_cast<int64_t>(batch.size());
  std::string request = OtlpJson(resource_, batch);
  milliseconds pause = options_.first_pause;
  SendResult result;
  for (int attempt = 1;; ++attempt) {
    if (out_of_time()) {
      result.why = "the server is shutting down";
      break;
    }
    result = sender_->Send(request, options_.request_limit);
    if (result.kind == SendResult::Kind::kSent) {
      int64_t rejected = std::clamp<int64_t>(result.rejected, 0, count);
      if (rejected < count) observe_("sent", count - rejected);
      if (rejected > 0) observe_("rejected", rejected);
      if (!result.why.empty()) spdlog::warn("traces: {}", result.why);
      return;
    }
    if (result.kind == SendResult::Kind::kRefused ||
        attempt >= options_.attempts ||
        !Pause(std::max(Jitter(pause), result.after))) {
      break;
    }
    pause = std::min(pause * 2, options_.largest_pause);
  }
  observe_("lost", count);
  spdlog::warn("traces: {} spans are lost: {}", count, result.why);
  std::lock_guard lock(mutex_);
  clean_ = false;
}

bool SpanExporter::Pause(milliseconds pause) {
  std::unique_lock lock(mutex_);
  // What the other side asks for is bounded as well.
  changed_.wait_for(lock, std::min(pause, options_.largest_pause),
                    [this] { return aborted_; });
  return !aborted_;
}

bool SpanExporter::out_of_time() const {
  std::lock_guard lock(mutex_);
  return aborted_;
}

}  // namespace fold
