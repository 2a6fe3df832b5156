// Every variant against the reference, bit for bit.
#include "runtime/kernels/gemm_s8/gemm_s8.h"

#include "runtime/kernels/test_guarded.h"

namespace fold::kernels {
namespace {

struct Variant {
  CpuLevel level;
  const char* name;
  GemmTileFn run;
};

const Variant kVariants[] = {
#define FOLD_KERNEL(level, symbol) {level, #symbol, symbol},
#include "runtime/kernels/gemm_s8/kernels.inc"
#undef FOLD_KERNEL
};

struct Sizes {
  int64_t rows;
  int64_t depth;
  int64_t blocks;
  int64_t gap;  // bytes between rows
};

void ExpectEqual(const Sizes& s, uint8_t flip, const Guarded<uint8_t>& x,
                 const Guarded<int8_t>& w) {
  const int64_t stride = 16 * s.blocks + 3;
  GemmTile tile;
  tile.x = x.data();
  tile.x_stride = s.depth + s.gap;
  tile.flip = flip;
  tile.weights = w.data();
  tile.depth = s.depth;
  tile.rows = s.rows;
  tile.blocks = s.blocks;
  tile.acc_stride = stride;
  const int64_t size = (s.rows - 1) * stride + 16 * s.blocks;
  Guarded<int32_t> want(size, 77);
  tile.acc = want.data();
  GemmTileReference(tile);
  for (const Variant& variant : kVariants) {
    if (!CanRun(variant.level)) continue;
    Guarded<int32_t> got(size, 77);
    tile.acc = got.data();
    variant.run(tile);
    ASSERT_EQ(got.Copy(), want.Copy())
        << variant.name << " " << s.rows << "x" << s.depth << "x" << s.blocks;
    ASSERT_TRUE(got.Intact()) << variant.name;
  }
}

TEST(GemmS8, RandomTiles) {
  std::mt19937_64 random(1);
  for (int64_t rows = 1; rows <= 26; ++rows) {
    for (int64_t blocks : {1, 2, 3, 4, 5, 7}) {
      const Sizes s = {rows, 4 * static_cast<int64_t>(1 + random() % 20),
                       blocks, static_cast<int64_t>(random() % 5)};
      Guarded<uint8_t> x(s.rows * (s.depth + s.gap) - s.gap);
      Guarded<int8_t> w(16 * s.blocks * s.depth);
      FillAny(&x, &random);
      FillAny(&w, &random);
      for (uint8_t flip : {0, 0x80}) ExpectEqual(s, flip, x, w);
    }
  }
}

// The largest sums: no variant may saturate on the way.
TEST(GemmS8, Extremes) {
  const Sizes s = {3, 33000, 1, 0};
  for (int x_value : {0, 255}) {
    for (int w_value : {-128, 127}) {
      const Guarded<uint8_t> x(s.rows * s.depth, static_cast<uint8_t>(x_value));
      const Guarded<int8_t> w(16 * s.depth, static_cast<int8_t>(w_value));
      for (uint8_t flip : {0, 0x80}) ExpectEqual(s, flip, x, w);
    }
  }
}

TEST(GemmS8, ReferenceIsTheDefinition) {
  const uint8_t x[] = {1, 2, 3, 255};
  int8_t w[64] = {};
  for (int n = 0; n < 16; ++n) {
    for (int k = 0; k < 4; ++k) w[4 * n + k] = static_cast<int8_t>(n - k);
  }
  GemmTile tile;
  tile.x = x;
  tile.x_stride = 4;
  tile.weights = w;
  tile.depth = 4;
  tile.rows = 1;
  tile.blocks = 1;
  int32_t acc[16];
  tile.acc = acc;
  tile.acc_stride = 16;
  GemmTileReference(tile);
  EXPECT_EQ(acc[5], 1 * 5 + 2 * 4 + 3 * 3 + 255 * 2);
  tile.flip = 0x80;
  GemmTileReference(tile);
  EXPECT_EQ(acc[5], 129 * 5 + 130 * 4 + 131 * 3 + 127 * 2);
}

TEST(GemmS8, RowSumsCountOnlyTheDepth) {
  const uint8_t x[] = {1, 2, 3, 99, 255, 0, 128, 99};
  GemmTile tile;
  tile.x = x;
  tile.x_stride = 4;
  tile.rows = 2;
  uint32_t sums[2];
  RowSums(tile, 3, sums);
  EXPECT_EQ(sums[0], 6u);
  EXPECT_EQ(sums[1], 383u);
  tile.flip = 0x80;
  RowSums(tile, 3, sums);
  EXPECT_EQ(sums[0], 129u + 130u + 131u);
  EXPECT_EQ(sums[1], 127u + 128u + 0u);
}

}  // namespace
}  // namespace fold::kernels
