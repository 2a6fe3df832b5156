#include "compiler/base/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace fold {
namespace {

// Levenshtein's distance, one row at a time.
size_t Edits(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

constexpr size_t kLongestName = 128;

}  // namespace

std::string_view NearestName(std::string_view name,
                             std::span<const std::string_view> candidates) {
  if (name.size() > kLongestName) return {};
  std::string_view best;
  size_t fewest = std::max<size_t>(2, name.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    // As many edits as the lengths differ by are needed at least.
    const size_t least = candidate.size() > name.size()
                             ? candidate.size() - name.size()
                             : name.size() - candidate.size();
    if (least >= fewest) continue;
    size_t edits = Edits(name, candidate);
    if (edits < fewest) {
      fewest = edits;
      best = candidate;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view name,
                       std::span<const std::string_view> candidates) {
  std::string_view near = NearestName(name, candidates);
  return near.empty() ? "" : "; did you mean '" + std::string(near) + "'?";
}

}  // namespace fold
