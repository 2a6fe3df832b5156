#include "compiler/plan/planner.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/plan/first_fit.h"
#include "compiler/plan/packing.h"
#include "compiler/plan/search_orders.h"

namespace fold {
namespace {

// Nodes of the first attempt, beside one for each block.
constexpr int64_t kFirstAttemptNodes = 2000;
// The search keeps the choices of every level: memory grows with the square.
constexpr size_t kMostExactBlocks = 4096;

class Planner {
 public:
  Planner(const Problem& problem, const PlanOptions& options)
      : packing_(MakePacking(problem)),
        capacity_(problem.capacity),
        options_(options) {}

  PlanResult Run() {
    result_.lower_bound = packing_.lower_bound;
    result_.method = "first_fit";
    result_.solution.height = -1;
    for (BlockOrder order : kBlockOrders) {
      Keep(FirstFit(packing_, SortBlocks(packing_, order)));
    }
    if (options_.exact && packing_.blocks.size() <= kMostExactBlocks) {
      SearchHeights();
    }
    result_.proven_optimal = height() == result_.lower_bound;
    return std::move(result_);
  }

 private:
  int64_t height() const { return result_.solution.height; }

  bool Keep(std::vector<int64_t> offsets) {
    const int64_t reached = HeightOf(packing_, offsets);
    if (height() >= 0 && reached >= height()) return false;
    result_.solution = {std::move(offsets), reached};
    return true;
  }

  // The lower bound first, as it is often reached; then the capacity, if it is
  // still missed; then halfway between what failed and what was found.
  void SearchHeights() {
    int64_t left = options_.node_budget;
    tried_ = result_.lower_bound;
    Search(result_.lower_bound, left / 2, &left);
    if (capacity_ >= tried_ && height() > capacity_) {
      Search(capacity_ / packing_.granule * packing_.granule, left / 2, &left);
    }
    while (tried_ < height() && left > 0) {
      const int64_t steps = (height() - tried_) / packing_.granule;
      const int64_t target = tried_ + steps / 2 * packing_.granule;
      Search(std::min(target, height() - packing_.granule),
             std::max(left / 4, kFirstAttemptNodes), &left);
    }
  }

  // Looks for a plan of at most `target` with `share` of the nodes `left`.
  void Search(int64_t target, int64_t share, int64_t* left) {
    share = std::min(share, *left);
    if (height() <= target) return;
    *left -= share;
    SearchOutcome outcome = SearchOutcome::kExhausted;
    std::vector<int64_t> offsets;
    const int64_t spent_before = share;
    for (int attempt = 0; share > 0 && outcome == SearchOutcome::kExhausted;
         ++attempt) {
      const auto blocks = static_cast<int64_t>(packing_.blocks.size());
      int64_t nodes = std::min(
          share, AttemptLength(attempt / 2) * (kFirstAttemptNodes + blocks));
      share -= nodes;
      // Each order twice: with a proof in the end, and without.
      ExactSearchOptions search = options_.search;
      search.backjump = attempt % 2 == 1;
      outcome = SearchPlan(packing_, SearchOrder(packing_, attempt / 2), target,
                           search, &nodes, &offsets);
      share += nodes;
    }
    result_.nodes += spent_before - share;
    *left += share;
    if (outcome == SearchOutcome::kFound) {
      if (Keep(std::move(offsets))) result_.method = "exact_search";
      return;
    }
    tried_ = target + packing_.granule;
    if (outcome == SearchOutcome::kImpossible) result_.lower_bound = tried_;
  }

  const Packing packing_;
  const int64_t capacity_;
  const PlanOptions options_;
  PlanResult result_;
  // Heights below it have been tried, with or without a proof.
  int64_t tried_ = 0;
};

}  // namespace

PlanResult PlanMemory(const Problem& problem, const PlanOptions& options) {
  return Planner(problem, options).Run();
}

}  // namespace fold
