#include "server/telemetry/trace.h"

#include <algorithm>
#include <utility>

namespace fold {
namespace {

constexpr size_t kMaxAttributes = 64;
constexpr size_t kMaxEvents = 128;
constexpr size_t kMaxLinks = 32;
constexpr size_t kMaxTextBytes = 256;

std::string Cut(std::string_view text) {
  return std::string(text.substr(0, kMaxTextBytes));
}

// Adds within the limit, and counts what does not fit.
template <typename T>
void AddBounded(std::vector<T>* to, T what, size_t limit, int64_t* dropped) {
  if (to->size() < limit) {
    to->push_back(std::move(what));
  } else {
    ++*dropped;
  }
}

}  // namespace

int64_t NowNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Tracer::Tracer(bool record, double ratio, size_t buffer_spans)
    : record_(record), ratio_(ratio), buffer_spans_(buffer_spans) {}

TraceContext Tracer::NewContext(const TraceContext& parent) const {
  if (parent.valid()) return NewChild(parent);
  TraceContext context = NewTrace(false);
  if (record_ && SampleTrace(context.trace_id, ratio_)) {
    context.flags |= TraceContext::kSampled;
  }
  return context;
}

void Tracer::Keep(SpanRecord span) {
  std::lock_guard lock(mutex_);
  if (!record_) return;
  if (closed_ || spans_.size() >= buffer_spans_) {
    ++dropped_;
    return;
  }
  spans_.push_back(std::move(span));
  changed_.notify_one();
}

std::vector<SpanRecord> Tracer::Take(size_t count,
                                     std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit,
                    [&] { return closed_ || spans_.size() >= count; });
  auto end =
      spans_.begin() + static_cast<ptrdiff_t>(std::min(count, spans_.size()));
  std::vector<SpanRecord> taken(std::make_move_iterator(spans_.begin()),
                                std::make_move_iterator(end));
  spans_.erase(spans_.begin(), end);
  return taken;
}

void Tracer::Close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

bool Tracer::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

Span& Span::operator=(Span&& other) noexcept {
  if (this == &other) return *this;
  End();
  tracer_ = std::exchange(other.tracer_, nullptr);
  context_ = std::move(other.context_);
  record_ = std::move(other.record_);
  return *this;
}

void Span::SetValue(std::string_view name,
                    std::variant<std::string, int64_t, double, bool> value) {
  if (record_ == nullptr) return;
  for (SpanAttribute& have : record_->attributes) {
    if (have.name == name) {
      have.value = std::move(value);
      return;
    }
  }
  AddBounded(&record_->attributes,
             SpanAttribute{std::string(name), std::move(value)}, kMaxAttributes,
             &record_->dropped_attributes);
}

void Span::Set(std::string_view name, std::string_view value) {
  SetValue(name, Cut(value));
}
void Span::Set(std::string_view name, int64_t value) { SetValue(name, value); }
void Span::Set(std::string_view name, double value) { SetValue(name, value); }
void Span::Set(std::string_view name, bool value) { SetValue(name, value); }

void Span::AddEvent(std::string_view name,
                    std::vector<SpanAttribute> attributes) {
  if (record_ == nullptr) return;
  for (SpanAttribute& attribute : attributes) {
    auto* text = std::get_if<std::string>(&attribute.value);
    if (text != nullptr) *text = Cut(*text);
  }
  AddBounded(&record_->events,
             SpanEvent{NowNanos(), Cut(name), std::move(attributes)},
             kMaxEvents, &record_->dropped_events);
}

void Span::AddLink(const TraceContext& to) {
  if (record_ == nullptr || !to.valid()) return;
  AddBounded(&record_->links, to, kMaxLinks, &record_->dropped_links);
}

void Span::SetStatus(SpanStatus status, std::string_view message) {
  if (record_ == nullptr) return;
  record_->status = status;
  record_->status_message = Cut(message);
}

void Span::End() {
  if (record_ != nullptr) EndAt(record_->start_nanos, NowNanos());
}

void Span::EndAt(int64_t start_nanos, int64_t end_nanos) {
  if (record_ == nullptr) return;
  record_->start_nanos = start_nanos;
  // The clock may have been set back meanwhile.
  record_->end_nanos = std::max(start_nanos, end_nanos);
  tracer_->Keep(std::move(*record_));
  record_.reset();
}

Span StartSpan(Tracer* tracer, std::string_view name,
               const TraceContext& parent, SpanKind kind) {
  Span span;
  if (tracer == nullptr) return span;
  span.tracer_ = tracer;
  span.context_ = tracer->NewContext(parent);
  if (!span.context_.sampled() || !tracer->records()) return span;
  span.record_ = std::make_unique<SpanRecord>();
  span.record_->context = span.context_;
  if (parent.valid()) span.record_->parent_span_id = parent.span_id;
  span.record_->name = Cut(name);
  span.record_->kind = kind;
  span.record_->start_nanos = NowNanos();
  return span;
}

}  // namespace fold
