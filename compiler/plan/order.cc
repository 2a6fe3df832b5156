#include "compiler/plan/order.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace fold {
namespace {

// Who writes and who reads, looked up once.
class Flow {
 public:
  explicit Flow(const Dataflow& dataflow)
      : dataflow_(dataflow),
        writer_(dataflow.tensors.size(), -1),
        readers_(dataflow.tensors.size()),
        before_(dataflow.operations.size()),
        after_(dataflow.operations.size()) {
    const auto count = static_cast<int>(dataflow.operations.size());
    for (int op = 0; op < count && sound_; ++op) {
      for (int tensor : dataflow.operations[op].writes) {
        if (!Known(tensor)) return;
        sound_ = sound_ && std::exchange(writer_[tensor], op) < 0;
      }
    }
    for (int op = 0; op < count && sound_; ++op) {
      for (int tensor : dataflow.operations[op].reads) {
        if (!Known(tensor)) return;
        if (readers_[tensor].empty() || readers_[tensor].back() != op) {
          readers_[tensor].push_back(op);
        }
        if (writer_[tensor] >= 0) before_[op].push_back(writer_[tensor]);
      }
    }
    for (int op = 0; op < count; ++op) {
      std::sort(before_[op].begin(), before_[op].end());
      before_[op].erase(std::unique(before_[op].begin(), before_[op].end()),
                        before_[op].end());
      for (int earlier : before_[op]) after_[earlier].push_back(op);
    }
  }

  // No index out of range, no tensor written twice.
  bool sound() const { return sound_; }
  int count() const { return static_cast<int>(before_.size()); }
  const std::vector<int>& before(int op) const { return before_[op]; }
  const std::vector<int>& after(int op) const { return after_[op]; }

  // Bytes that live before the first operation.
  int64_t StartBytes() const {
    int64_t bytes = 0;
    for (size_t i = 0; i < writer_.size(); ++i) {
      const bool used = !readers_[i].empty() || dataflow_.tensors[i].output;
      if (writer_[i] < 0 && used) bytes += dataflow_.tensors[i].size;
    }
    return bytes;
  }

  // Bytes that come to live with `op`, and those that die after it if all that
  // `ran` says true for, and `op`, have run.
  template <typename Ran>
  std::pair<int64_t, int64_t> Change(int op, const Ran& ran) const {
    const Dataflow::Operation& operation = dataflow_.operations[op];
    int64_t born = 0, dead = 0;
    const auto dies = [&](int tensor) {
      if (dataflow_.tensors[tensor].output) return false;
      const auto& readers = readers_[tensor];
      return std::all_of(readers.begin(), readers.end(), [&](int reader) {
        return reader == op || ran(reader);
      });
    };
    for (int tensor : operation.writes) {
      born += dataflow_.tensors[tensor].size;
      if (dies(tensor)) dead += dataflow_.tensors[tensor].size;
    }
    for (size_t i = 0; i < operation.reads.size(); ++i) {
      const int tensor = operation.reads[i];
      const auto first =
          std::find(operation.reads.begin(), operation.reads.end(), tensor);
      if (first != operation.reads.begin() + static_cast<std::ptrdiff_t>(i)) {
        continue;
      }
      if (dies(tensor)) dead += dataflow_.tensors[tensor].size;
    }
    return {born, dead};
  }

  int64_t scratch(int op) const { return dataflow_.operations[op].scratch; }

  // No order has a lower peak: what one operation needs around itself.
  int64_t LowerBound() const {
    int64_t bound = StartBytes();
    for (const auto& operation : dataflow_.operations) {
      std::vector<int> tensors = operation.reads;
      tensors.insert(tensors.end(), operation.writes.begin(),
                     operation.writes.end());
      std::sort(tensors.begin(), tensors.end());
      tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
      int64_t bytes = operation.scratch;
      for (int tensor : tensors) bytes += dataflow_.tensors[tensor].size;
      bound = std::max(bound, bytes);
    }
    return bound;
  }

 private:
  bool Known(int tensor) {
    sound_ = sound_ && tensor >= 0 &&
             tensor < static_cast<int>(dataflow_.tensors.size());
    return sound_;
  }

  const Dataflow& dataflow_;
  bool sound_ = true;
  std::vector<int> writer_;                // of each tensor, -1 for inputs
  std::vector<std::vector<int>> readers_;  // of each tensor, each once
  std::vector<std::vector<int>> before_;   // operations, of each operation
  std::vector<std::vector<int>> after_;
};

// A run of operations so far.
struct Progress {
  int64_t live = 0, peak = 0;

  void Step(const Flow& flow, int op, std::pair<int64_t, int64_t> change) {
    peak = std::max(peak, live + change.first + flow.scratch(op));
    live += change.first - change.second;
  }
};

int64_t Peak(const Flow& flow, const std::vector<int>& order) {
  std::vector<bool> done(order.size());
  Progress progress{flow.StartBytes(), flow.StartBytes()};
  for (int op : order) {
    progress.Step(flow, op,
                  flow.Change(op, [&](int other) { return done[other]; }));
    done[op] = true;
  }
  return progress.peak;
}

bool IsTopological(const Flow& flow, const std::vector<int>& order) {
  std::vector<bool> done(order.size());
  for (int op : order) {
    for (int earlier : flow.before(op)) {
      if (!done[earlier]) return false;
    }
    done[op] = true;
  }
  return true;
}

// The ready operation that leaves the fewest bytes, then needs the fewest,
// then is the first. Shorter than flow.count() if there is a cycle.
std::vector<int> GreedyOrder(const Flow& flow) {
  std::vector<int> missing, ready, order;
  std::vector<bool> done(flow.count());
  for (int op = 0; op < flow.count(); ++op) {
    missing.push_back(static_cast<int>(flow.before(op).size()));
    if (missing.back() == 0) ready.push_back(op);
  }
  while (!ready.empty()) {
    size_t best = 0;
    std::tuple<int64_t, int64_t, int> best_key;
    for (size_t i = 0; i < ready.size(); ++i) {
      const auto [born, dead] =
          flow.Change(ready[i], [&](int other) { return done[other]; });
      const std::tuple key(born - dead, born + flow.scratch(ready[i]),
                           ready[i]);
      if (i == 0 || key < best_key) {
        best = i;
        best_key = key;
      }
    }
    const int op = ready[best];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(best));
    order.push_back(op);
    done[op] = true;
    for (int later : flow.after(op)) {
      if (--missing[later] == 0) ready.push_back(later);
    }
  }
  return order;
}

// Beam search over sets of operations that have run, all of one size at a
// time. An operation that is ready, raises no peak and frees at least what it
// takes is always run next: moving it forward in any order never needs more.
class Beam {
 public:
  Beam(const Flow& flow, int64_t below, int64_t state_budget)
      : flow_(flow),
        below_(below),
        width_(std::max<int64_t>(state_budget / std::max(flow.count(), 1), 1)) {
  }

  // An order with a lower peak than `below`, or none.
  std::vector<int> Run() {
    const int64_t start = flow_.StartBytes();
    State first{{start, start}, {}, -1};
    first.ran.resize((flow_.count() + 63) / 64);
    std::vector<State> level = {first};
    for (int step = 0; step < flow_.count(); ++step) {
      level = Next(level);
      if (level.empty()) return {};
      for (State& state : level) {
        history_.push_back({state.parent, state.op});
        state.parent = static_cast<int>(history_.size()) - 1;
      }
    }
    std::vector<int> order;
    for (int at = level[0].parent; at >= 0; at = history_[at].parent) {
      order.push_back(history_[at].op);
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

  // No state was dropped for the width: what was not found is not there.
  bool exact() const { return exact_; }

 private:
  struct State {
    Progress progress;
    std::vector<uint64_t> ran;  // a bit for each operation
    int parent = -1;            // in history_
    int op = -1;                // run last
    bool Ran(int i) const { return ran[i / 64] >> (i % 64) & 1; }
  };
  struct Step {
    int parent, op;
  };

  bool Ready(const State& state, int op) const {
    if (state.Ran(op)) return false;
    const auto& before = flow_.before(op);
    return std::all_of(before.begin(), before.end(),
                       [&](int earlier) { return state.Ran(earlier); });
  }

  State After(const State& state, int op,
              std::pair<int64_t, int64_t> change) const {
    State next = state;
    next.progress.Step(flow_, op, change);
    next.ran[op / 64] |= uint64_t{1} << (op % 64);
    next.op = op;
    return next;
  }

  void Expand(const State& state, std::vector<State>* states) const {
    const size_t mark = states->size();
    for (int op = 0; op < flow_.count(); ++op) {
      if (!Ready(state, op)) continue;
      const auto change =
          flow_.Change(op, [&](int other) { return state.Ran(other); });
      State next = After(state, op, change);
      if (next.progress.peak >= below_) continue;
      const bool free = change.first <= change.second &&
                        next.progress.peak == state.progress.peak;
      if (free) states->resize(mark);
      states->push_back(std::move(next));
      if (free) return;
    }
  }

  // The best states of the next size, one for each set.
  std::vector<State> Next(const std::vector<State>& level) {
    std::vector<State> states;
    for (const State& state : level) Expand(state, &states);
    const auto better = [](const State& a, const State& b) {
      return std::tie(a.progress.peak, a.progress.live, a.parent, a.op) <
             std::tie(b.progress.peak, b.progress.live, b.parent, b.op);
    };
    std::sort(states.begin(), states.end(), better);
    std::vector<State> kept;
    std::map<std::vector<uint64_t>, bool> seen;
    for (State& state : states) {
      if (!seen.emplace(state.ran, true).second) continue;
      if (static_cast<int64_t>(kept.size()) == width_) {
        exact_ = false;
        break;
      }
      kept.push_back(std::move(state));
    }
    return kept;
  }

  const Flow& flow_;
  const int64_t below_, width_;
  bool exact_ = true;
  std::vector<Step> history_;
};

}  // namespace

int64_t PeakOf(const Dataflow& dataflow, const std::vector<int>& order) {
  return Peak(Flow(dataflow), order);
}

OrderResult ChooseOrder(const Dataflow& dataflow, const OrderOptions& options) {
  OrderResult result;
  const Flow flow(dataflow);
  if (!flow.sound()) return result;
  const std::vector<int> greedy = GreedyOrder(flow);
  if (static_cast<int>(greedy.size()) < flow.count()) return result;
  std::vector<int> given(flow.count());
  for (int op = 0; op < flow.count(); ++op) given[op] = op;
  result.order = IsTopological(flow, given) ? given : greedy;
  result.peak = Peak(flow, result.order);
  const int64_t greedy_peak = Peak(flow, greedy);
  if (greedy_peak < result.peak) {
    result.order = greedy;
    result.peak = greedy_peak;
  }
  result.proven_optimal = result.peak == flow.LowerBound();
  if (result.proven_optimal) return result;
  Beam beam(flow, result.peak, options.state_budget);
  std::vector<int> found = beam.Run();
  if (!found.empty()) {
    result.peak = Peak(flow, found);
    result.order = std::move(found);
  }
  result.proven_optimal = beam.exact() || result.peak == flow.LowerBound();
  return result;
}

}  // namespace fold
