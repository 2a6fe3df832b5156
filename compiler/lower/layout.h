// Layouts: the order in which the dimensions of a value lie in memory.
#ifndef FOLD_COMPILER_LOWER_LAYOUT_H_
#define FOLD_COMPILER_LOWER_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "compiler/ir/type.h"

namespace fold {

// Physical dimension i is logical dimension perm[i].
using Perm = std::vector<int>;

Perm IdentityPerm(size_t rank);
// N, spatial…, C for values of rank 3 and more, else the identity.
Perm ChannelsLast(size_t rank);
Shape Permuted(const Shape& logical, const Perm& perm);
// Both put the elements of a value of this shape in the same places: they
// differ in the places of dimensions of size 1 at the most.
bool SamePlaces(const Perm& a, const Perm& b, const Shape& logical);
// The permutation that takes a tensor stored as `from` to one stored as `to`:
// dimension i of the result is dimension [i] of the operand.
std::vector<int> Between(const Perm& from, const Perm& to);
// Physical number of a logical dimension.
int PlaceOf(const Perm& perm, int64_t logical);

}  // namespace fold

#endif  // FOLD_COMPILER_LOWER_LAYOUT_H_
