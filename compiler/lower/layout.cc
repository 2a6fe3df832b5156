#include "compiler/lower/layout.h"

#include <algorithm>
#include <numeric>

namespace fold {

Perm IdentityPerm(size_t rank) {
  Perm perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  return perm;
}

Perm ChannelsLast(size_t rank) {
  Perm perm = IdentityPerm(rank);
  if (rank >= 3) std::rotate(perm.begin() + 1, perm.begin() + 2, perm.end());
  return perm;
}

Shape Permuted(const Shape& logical, const Perm& perm) {
  Shape physical;
  for (int d : perm) physical.push_back(logical[d]);
  return physical;
}

bool SamePlaces(const Perm& a, const Perm& b, const Shape& logical) {
  const auto large = [&](const Perm& perm) {
    Perm kept;
    for (int d : perm) {
      if (logical[d] != 1) kept.push_back(d);
    }
    return kept;
  };
  return large(a) == large(b);
}

std::vector<int> Between(const Perm& from, const Perm& to) {
  std::vector<int> between;
  for (int d : to) between.push_back(PlaceOf(from, d));
  return between;
}

int PlaceOf(const Perm& perm, int64_t logical) {
  return static_cast<int>(std::find(perm.begin(), perm.end(), logical) -
                          perm.begin());
}

}  // namespace fold
