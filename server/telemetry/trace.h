// Spans: what was done, from when to when, and for which trace. A Tracer makes
// them and keeps the ended ones until an exporter takes them.
//
//   Span span = StartSpan(tracer, "job", parent);
//   span.Set("foldd.reason", "DONE");
//   … StartSpan(tracer, "pass", span.context()) …
//   span.End();
#ifndef FOLD_SERVER_TELEMETRY_TRACE_H_
#define FOLD_SERVER_TELEMETRY_TRACE_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/telemetry/trace_context.h"

namespace fold {

// Values are numbered as OTLP numbers them.
enum class SpanKind { kInternal = 1, kServer = 2 };
enum class SpanStatus { kUnset = 0, kOk = 1, kError = 2 };

struct SpanAttribute {
  std::string name;
  std::variant<std::string, int64_t, double, bool> value;
};

struct SpanEvent {
  int64_t time_nanos = 0;  // since the epoch, as all times here
  std::string name;
  std::vector<SpanAttribute> attributes;
};

// A span that has ended.
struct SpanRecord {
  TraceContext context;
  std::string parent_span_id;  // empty: the first of its trace
  std::string name;
  SpanKind kind = SpanKind::kInternal;
  int64_t start_nanos = 0;
  int64_t end_nanos = 0;
  std::vector<SpanAttribute> attributes;
  std::vector<SpanEvent> events;
  std::vector<TraceContext> links;
  SpanStatus status = SpanStatus::kUnset;
  std::string status_message;
  // What did not fit (the limits are in trace.cc).
  int64_t dropped_attributes = 0, dropped_events = 0, dropped_links = 0;
};

// Makes spans and holds the ended ones, bounded. All of it from any thread.
class Tracer {
 public:
  // `record`: whether somebody takes the spans; otherwise only ids are made.
  // `ratio` (0 to 1) of the traces that begin here are recorded; traces that
  // come from a caller are recorded if the caller records them.
  Tracer(bool record, double ratio, size_t buffer_spans);

  // The context of a new span below `parent`, or of a new trace without one.
  TraceContext NewContext(const TraceContext& parent) const;

  // Keeps a span, or drops and counts it: the buffer is full, or closed.
  void Keep(SpanRecord span);
  // Waits until `count` spans are there, or `limit` has passed, or the buffer
  // is closed; then hands out at most `count`, the oldest first.
  std::vector<SpanRecord> Take(size_t count, std::chrono::milliseconds limit);
  // Ends the waits of Take; spans that are kept later are dropped.
  void Close();
  bool closed() const;

  bool records() const { return record_; }
  int64_t dropped() const { return dropped_; }  // since the start

 private:
  const bool record_;
  const double ratio_;
  const size_t buffer_spans_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  std::vector<SpanRecord> spans_;
  std::atomic<int64_t> dropped_{0};
};

// Nanoseconds since the epoch.
int64_t NowNanos();

// A span under way; one thread at a time. It ends with End or its destructor.
// One whose trace is not recorded has a context and keeps nothing.
class Span {
 public:
  Span() = default;
  Span(Span&& other) noexcept { *this = std::move(other); }
  Span& operator=(Span&& other) noexcept;
  ~Span() { End(); }

  // For children, logs and links; without a trace in a default-made Span.
  const TraceContext& context() const { return context_; }
  bool recording() const { return record_ != nullptr; }

  void Set(std::string_view name, std::string_view value);
  void Set(std::string_view name, const char* value) {
    Set(name, std::string_view(value));
  }
  void Set(std::string_view name, int64_t value);
  void Set(std::string_view name, double value);
  void Set(std::string_view name, bool value);
  void AddEvent(std::string_view name,
                std::vector<SpanAttribute> attributes = {});
  // Points to a span of another trace that this one depends on.
  void AddLink(const TraceContext& to);
  void SetStatus(SpanStatus status, std::string_view message = "");

  // Ends it now. What is called after that has no effect.
  void End();
  // Ends it as a span of a known past, e.g. of another process.
  void EndAt(int64_t start_nanos, int64_t end_nanos);

 private:
  friend Span StartSpan(Tracer* tracer, std::string_view name,
                        const TraceContext& parent, SpanKind kind);
  void SetValue(std::string_view name,
                std::variant<std::string, int64_t, double, bool> value);

  Tracer* tracer_ = nullptr;
  TraceContext context_;
  std::unique_ptr<SpanRecord> record_;
};

// Starts a span below `parent`, or a new trace if `parent` is without one.
// Null `tracer`: a Span that does nothing.
Span StartSpan(Tracer* tracer, std::string_view name,
               const TraceContext& parent, SpanKind kind = SpanKind::kInternal);

}  // namespace fold

#endif  // FOLD_SERVER_TELEMETRY_TRACE_H_
