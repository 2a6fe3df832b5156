// Every metric of the server, declared in one table (metrics.def).
#ifndef FOLD_SERVER_METRICS_H_
#define FOLD_SERVER_METRICS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace fold {

enum class Metric : size_t {
#define FOLD_METRIC(id, type, name, labels, help) id,
#include "server/metrics.def"
#undef FOLD_METRIC
  kCount
};

class Metrics {
 public:
  Metrics();
  ~Metrics();

  using Values = std::vector<std::string>;  // of the labels, in order

  // Each is a fault of ours (and ignored) on a metric of another type or with
  // another number of labels.
  void Count(Metric metric, const Values& labels = {}, double by = 1);
  // Brings a counter that the system keeps to its value; it never falls.
  void Raise(Metric metric, const Values& labels, double to);
  void Set(Metric metric, const Values& labels, double value);
  void Add(Metric metric, const Values& labels, double by);
  void Observe(Metric metric, const Values& labels, double value);

  // All metrics in Prometheus' text format.
  std::string Text() const;
  // Names of the metrics that were never recorded.
  std::vector<std::string> NeverRecorded() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
  std::array<std::atomic<bool>, static_cast<size_t>(Metric::kCount)> recorded_;
};

}  // namespace fold

#endif  // FOLD_SERVER_METRICS_H_
