// Working memory of ops, in bytes of the arena (64-byte aligned, live only
// while the op runs). The runtime accepts any size from Minimum up and uses
// what it gets: rows of an im2col tile, shared out among the workers.
#ifndef RUNTIME_FORMAT_SCRATCH_H_
#define RUNTIME_FORMAT_SCRATCH_H_

#include <cstdint>

#include "runtime/format/packing.h"

namespace fold::format {

// One row: the K = kernel_height * kernel_width * channels-of-group codes of
// one output position, padded to 4, plus slack for whole-vector writes.
constexpr int64_t MatrixRowBytes(int64_t depth) {
  return RoundUp(depth, kPackedDepth);
}

constexpr int64_t kMatrixScratchSlack = 64;

// CONV and FULLY_CONNECTED with `depth` = K and `rows` output positions (or
// matrix rows). Never 0.
constexpr int64_t MinimumMatrixScratch(int64_t depth) {
  return MatrixRowBytes(depth) + kMatrixScratchSlack;
}

// Enough for a full register tile: what a target without a tight RAM budget
// should ask for.
constexpr int64_t RecommendedMatrixScratch(int64_t depth, int64_t rows) {
  constexpr int64_t kTileRows = 12;
  const int64_t tile = rows < kTileRows ? rows : kTileRows;
  return RoundUp(MatrixRowBytes(depth) * tile + kMatrixScratchSlack, 64);
}

// Every other opcode: none.

}  // namespace fold::format

#endif  // RUNTIME_FORMAT_SCRATCH_H_
