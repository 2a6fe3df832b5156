#include "server/metrics.h"

#include <cassert>
#include <map>
#include <mutex>
#include <optional>

#include "prometheus/counter.h"
#include "prometheus/family.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"
#include "prometheus/text_serializer.h"

namespace fold {
namespace {

enum class Type { Counter, Gauge, Seconds, Bytes };

struct Row {
  Type type;
  const char* name;
  const char* labels;
  const char* help;
};

constexpr Row kRows[] = {
#define FOLD_METRIC(id, type, name, labels, help) \
  {Type::type, name, labels, help},
#include "server/metrics.def"
#undef FOLD_METRIC
};
constexpr size_t kMetrics = std::size(kRows);

const prometheus::Histogram::BucketBoundaries kSecondBuckets = {
    0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3,
    1,      3,      10,    30,    100,  300,  1000};
const prometheus::Histogram::BucketBoundaries kByteBuckets = {
    1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30, 4.0 * (1 << 30)};

std::vector<std::string> SplitNames(const char* labels) {
  std::vector<std::string> names;
  std::string name;
  for (const char* c = labels; *c != '\0'; ++c) {
    if (*c == ',') {
      names.push_back(std::move(name));
      name.clear();
    } else {
      name += *c;
    }
  }
  if (!name.empty()) names.push_back(name);
  return names;
}

}  // namespace

struct Metrics::Families {
  prometheus::Registry registry;
  std::mutex raise_mutex;
  std::array<std::vector<std::string>, kMetrics> labels;
  std::array<prometheus::Family<prometheus::Counter>*, kMetrics> counters{};
  std::array<prometheus::Family<prometheus::Gauge>*, kMetrics> gauges{};
  std::array<prometheus::Family<prometheus::Histogram>*, kMetrics> histograms{};

  // The labels with their values; nullopt if their number is wrong.
  std::optional<prometheus::Labels> Named(size_t at,
                                          const Values& values) const {
    if (labels[at].size() != values.size()) return std::nullopt;
    prometheus::Labels out;
    for (size_t i = 0; i < values.size(); ++i) out[labels[at][i]] = values[i];
    return out;
  }
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {
  for (size_t i = 0; i < kMetrics; ++i) {
    const Row& row = kRows[i];
    families_->labels[i] = SplitNames(row.labels);
    recorded_[i] = false;
    auto& registry = families_->registry;
    switch (row.type) {
      case Type::Counter:
        families_->counters[i] =
            &prometheus::BuildCounter().Name(row.name).Help(row.help).Register(
                registry);
        break;
      case Type::Gauge:
        families_->gauges[i] =
            &prometheus::BuildGauge().Name(row.name).Help(row.help).Register(
                registry);
        break;
      case Type::Seconds:
      case Type::Bytes:
        families_->histograms[i] = &prometheus::BuildHistogram()
                                        .Name(row.name)
                                        .Help(row.help)
                                        .Register(registry);
        break;
    }
  }
}

Metrics::~Metrics() = default;

void Metrics::Count(Metric metric, const Values& labels, double by) {
  auto at = static_cast<size_t>(metric);
  auto named = families_->Named(at, labels);
  assert(named && families_->counters[at]);
  if (!named || families_->counters[at] == nullptr) return;
  families_->counters[at]->Add(*named).Increment(by);
  recorded_[at] = true;
}

void Metrics::Raise(Metric metric, const Values& labels, double to) {
  auto at = static_cast<size_t>(metric);
  auto named = families_->Named(at, labels);
  assert(named && families_->counters[at]);
  if (!named || families_->counters[at] == nullptr) return;
  prometheus::Counter& counter = families_->counters[at]->Add(*named);
  // Two that read the same value must not both add to it.
  std::lock_guard lock(families_->raise_mutex);
  if (to > counter.Value()) counter.Increment(to - counter.Value());
  recorded_[at] = true;
}

void Metrics::Set(Metric metric, const Values& labels, double value) {
  auto at = static_cast<size_t>(metric);
  auto named = families_->Named(at, labels);
  assert(named && families_->gauges[at]);
  if (!named || families_->gauges[at] == nullptr) return;
  families_->gauges[at]->Add(*named).Set(value);
  recorded_[at] = true;
}

void Metrics::Add(Metric metric, const Values& labels, double by) {
  auto at = static_cast<size_t>(metric);
  auto named = families_->Named(at, labels);
  assert(named && families_->gauges[at]);
  if (!named || families_->gauges[at] == nullptr) return;
  families_->gauges[at]->Add(*named).Increment(by);
  recorded_[at] = true;
}

void Metrics::Observe(Metric metric, const Values& labels, double value) {
  auto at = static_cast<size_t>(metric);
  auto named = families_->Named(at, labels);
  assert(named && families_->histograms[at]);
  if (!named || families_->histograms[at] == nullptr) return;
  const auto& buckets =
      kRows[at].type == Type::Bytes ? kByteBuckets : kSecondBuckets;
  families_->histograms[at]->Add(*named, buckets).Observe(value);
  recorded_[at] = true;
}

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

std::vector<std::string> Metrics::NeverRecorded() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < kMetrics; ++i) {
    if (!recorded_[i]) names.emplace_back(kRows[i].name);
  }
  return names;
}

}  // namespace fold
