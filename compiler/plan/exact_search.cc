#include "compiler/plan/exact_search.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace fold {
namespace {

class Search {
 public:
  Search(const Packing& packing, const std::vector<int>& order,
         int64_t capacity, const ExactSearchOptions& options, int64_t* nodes)
      : packing_(packing),
        capacity_(capacity),
        options_(options),
        nodes_(*nodes),
        rank_(order.size()),
        floor_(order.size()),
        offset_(order.size()),
        placed_(order.size()),
        twin_(order.size(), -1),
        starts_(packing.sections.size()),
        rest_(packing.sections.size()),
        crossing_(packing.sections.size()) {
    std::map<std::tuple<int, int, int64_t, int64_t>, int> twins;
    for (size_t r = 0; r < order.size(); ++r) {
      const int i = order[r];
      const Block& block = packing.blocks[i];
      rank_[i] = static_cast<int>(r);
      const auto [at, fresh] = twins.try_emplace(
          {block.first, block.last, block.size, block.alignment}, i);
      if (!fresh) twin_[i] = std::exchange(at->second, i);
      if (block.size > 0) starts_[block.first].push_back(i);
      for (int k = block.first; k <= block.last; ++k) rest_[k] += block.size;
      for (int k = block.first; k < block.last; ++k) ++crossing_[k];
    }
  }

  SearchOutcome Run(std::vector<int64_t>* offsets) {
    const int sections = static_cast<int>(packing_.sections.size());
    for (int64_t sum : rest_) {
      if (sum > capacity_) return SearchOutcome::kImpossible;
    }
    const bool found = Solve({0, sections - 1, 0, -1});
    if (exhausted_ || (!found && options_.backjump)) {
      return SearchOutcome::kExhausted;
    }
    if (!found) return SearchOutcome::kImpossible;
    *offsets = offset_;
    return SearchOutcome::kFound;
  }

 private:
  // Sections from `first` to `last`, where all that is still to be placed goes
  // behind (offset, rank) in the order of placing.
  struct Part {
    int first, last;
    int64_t offset;
    int rank;
  };
  struct Candidate {
    int64_t offset;
    int rank, block;
    bool operator<(const Candidate& other) const {
      return std::tie(offset, rank) < std::tie(other.offset, other.rank);
    }
  };
  struct Change {
    int block;
    int64_t floor;
  };
  // Sections from `first` to `last`; none if last < first.
  struct Range {
    int first = std::numeric_limits<int>::max(), last = -1;
    void Add(int from, int to) {
      first = std::min(first, from);
      last = std::max(last, to);
    }
    bool Meets(const Block& block) const {
      return block.first <= last && first <= block.last;
    }
  };

  // The unplaced blocks of the part.
  template <typename Visit>
  void ForUnplaced(const Part& part, Visit visit) const {
    for (int k = part.first; k <= part.last; ++k) {
      for (int i : starts_[k]) {
        if (!placed_[i]) visit(i);
      }
    }
  }

  // Blocks that come next in some plan that cannot be pushed down.
  std::vector<Candidate> Candidates(const Part& part) const {
    std::vector<Candidate> candidates;
    int64_t limit = std::numeric_limits<int64_t>::max();
    ForUnplaced(part, [&](int i) {
      limit = std::min(limit, floor_[i] + packing_.blocks[i].size);
      if (std::pair(floor_[i], rank_[i]) < std::pair(part.offset, part.rank)) {
        return;
      }
      if (twin_[i] >= 0 && !placed_[twin_[i]]) return;
      candidates.push_back({floor_[i], rank_[i], i});
    });
    if (options_.dominance) {
      candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                      [&](const Candidate& candidate) {
                                        return candidate.offset >= limit;
                                      }),
                       candidates.end());
    }
    std::sort(candidates.begin(), candidates.end());
    return candidates;
  }

  bool Solve(const Part& part) {
    const size_t mark = trail_.size(), placed = order_.size();
    int from = part.first;
    for (int k = part.first; k <= part.last; ++k) {
      const bool cut =
          k == part.last || (options_.decomposition && crossing_[k] == 0);
      if (!cut) continue;
      if (!SolveWhole({from, k, part.offset, part.rank})) {
        Undo(mark, placed);
        return false;
      }
      from = k + 1;
    }
    return true;
  }

  // A part that does not fall apart.
  bool SolveWhole(const Part& part) {
    bool empty = true;
    for (int k = part.first; k <= part.last && empty; ++k) empty = !rest_[k];
    if (empty) return true;
    const std::vector<Candidate> candidates = Candidates(part);
    Range failure;
    if (candidates.empty()) failure.Add(part.first, part.last);
    for (const Candidate& candidate : candidates) {
      if (nodes_ <= 0) {
        exhausted_ = true;
        return false;
      }
      --nodes_;
      const size_t mark = trail_.size(), placed = order_.size();
      const Part next{part.first, part.last, candidate.offset, candidate.rank};
      if (Place(candidate.block, candidate.offset) && Fits(next, mark) &&
          Solve(next)) {
        return true;
      }
      Undo(mark, placed);
      if (exhausted_) return false;
      if (options_.backjump) {
        // Another block here would not change what failed.
        if (!failure_.Meets(packing_.blocks[candidate.block])) return false;
        failure.Add(failure_.first, failure_.last);
      }
    }
    failure_ = failure;
    return false;
  }

  // Puts the block there and lifts what overlaps it; false if something is
  // lifted too high.
  bool Place(int i, int64_t offset) {
    const Block& block = packing_.blocks[i];
    placed_[i] = true;
    offset_[i] = offset;
    order_.push_back(i);
    for (int k = block.first; k <= block.last; ++k) rest_[k] -= block.size;
    for (int k = block.first; k < block.last; ++k) --crossing_[k];
    const int64_t top = offset + block.size;
    if (top > capacity_) return Fail(block);
    for (int j : packing_.overlaps[i]) {
      if (placed_[j] || floor_[j] >= top) continue;
      const Block& other = packing_.blocks[j];
      trail_.push_back({j, floor_[j]});
      floor_[j] = AlignUp(top, other.alignment);
      if (floor_[j] + other.size > capacity_) return Fail(other);
    }
    return true;
  }

  // Takes back what came after the marks.
  void Undo(size_t mark, size_t placed) {
    for (; trail_.size() > mark; trail_.pop_back()) {
      floor_[trail_.back().block] = trail_.back().floor;
    }
    for (; order_.size() > placed; order_.pop_back()) {
      const int i = order_.back();
      const Block& block = packing_.blocks[i];
      placed_[i] = false;
      for (int k = block.first; k <= block.last; ++k) rest_[k] += block.size;
      for (int k = block.first; k < block.last; ++k) ++crossing_[k];
    }
  }

  // False if what is left of some section cannot fit above its floor. Only
  // sections where a block was placed or lifted can have changed, but for what
  // follows from the offset below which nothing comes any more.
  bool Fits(const Part& part, size_t mark) {
    for (int k = part.first; k <= part.last; ++k) {
      if (rest_[k] > 0 && part.offset + rest_[k] > capacity_) return Fail(k);
    }
    const Block& block = packing_.blocks[order_.back()];
    int first = block.first, last = block.last;
    for (size_t c = mark; c < trail_.size(); ++c) {
      const Block& lifted = packing_.blocks[trail_[c].block];
      first = std::min(first, lifted.first);
      last = std::max(last, lifted.last);
    }
    for (int k = first; k <= last; ++k) {
      if (rest_[k] > 0 && !SectionFits(k, part.offset)) return Fail(k);
    }
    return true;
  }

  // Notes where it failed: around a block, or around the unplaced blocks of a
  // section.
  bool Fail(const Block& block) {
    failure_ = {block.first, block.last};
    return false;
  }
  bool Fail(int section) {
    failure_ = {};
    for (int i : packing_.sections[section]) {
      const Block& block = packing_.blocks[i];
      if (!placed_[i]) failure_.Add(block.first, block.last);
    }
    return false;
  }

  // For each level: what must lie above it fits between it and the capacity.
  bool SectionFits(int section, int64_t offset) {
    levels_.clear();
    int64_t lowest = capacity_;
    for (int i : packing_.sections[section]) {
      if (placed_[i]) continue;
      const int64_t floor = std::max(floor_[i], offset);
      lowest = std::min(lowest, floor);
      levels_.emplace_back(floor, packing_.blocks[i].size);
    }
    if (lowest + rest_[section] > capacity_) return false;
    if (!options_.level_bounds) return true;
    std::sort(levels_.begin(), levels_.end(), std::greater<>());
    int64_t above = 0;
    for (const auto& [floor, size] : levels_) {
      above += size;
      if (floor + above > capacity_) return false;
    }
    return true;
  }

  const Packing& packing_;
  const int64_t capacity_;
  const ExactSearchOptions options_;
  int64_t& nodes_;
  bool exhausted_ = false;
  Range failure_;  // of the last failure
  std::vector<int> rank_;
  std::vector<int64_t> floor_;   // the lowest offset that each may still have
  std::vector<int64_t> offset_;  // of those placed
  std::vector<bool> placed_;
  std::vector<int> twin_;  // an equal block that must be placed before
  std::vector<std::vector<int>>
      starts_;                 // the blocks that begin in each section
  std::vector<int64_t> rest_;  // bytes of each section still to be placed
  std::vector<int> crossing_;  // unplaced blocks in a section and the next
  std::vector<Change> trail_;  // floors before they were lifted
  std::vector<int> order_;     // blocks as they were placed
  std::vector<std::pair<int64_t, int64_t>> levels_;  // scratch of SectionFits
};

}  // namespace

SearchOutcome SearchPlan(const Packing& packing, const std::vector<int>& order,
                         int64_t capacity, const ExactSearchOptions& options,
                         int64_t* nodes, std::vector<int64_t>* offsets) {
  return Search(packing, order, capacity, options, nodes).Run(offsets);
}

}  // namespace fold
