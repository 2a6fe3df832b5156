#include "runtime/format/packing.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace fold::format {
namespace {

TEST(Packing, PlacesEveryWeightOnce) {
  constexpr int64_t kColumns = 35;
  constexpr int64_t kDepth = 11;
  EXPECT_EQ(PackedMatrixBytes(kColumns, kDepth), 48 * 12);
  std::set<int64_t> places;
  for (int64_t n = 0; n < kColumns; ++n) {
    for (int64_t k = 0; k < kDepth; ++k) {
      const int64_t at = PackedMatrixIndex(n, k, kDepth);
      EXPECT_GE(at, 0);
      EXPECT_LT(at, PackedMatrixBytes(kColumns, kDepth));
      EXPECT_TRUE(places.insert(at).second);
    }
  }
  // [N/16][K/4][16][4]
  EXPECT_EQ(PackedMatrixIndex(17, 6, kDepth), 1 * 192 + 1 * 64 + 1 * 4 + 2);
}

TEST(Packing, StoresUnsignedWeightsLowerBy128) {
  const auto weight = [](int64_t n, int64_t k) {
    return n == 0 && k == 0 ? 255 : 0;
  };
  std::vector<int8_t> packed(PackedMatrixBytes(1, 2), 9);
  PackMatrix(1, 2, true, weight, packed.data());
  EXPECT_EQ(packed[0], 127);
  EXPECT_EQ(packed[1], -128);
  EXPECT_EQ(packed[2], 0);  // padding
  EXPECT_EQ(packed[4], 0);
}

// The identity that packing.h states, for all mixes of types.
TEST(Packing, CorrectionsGiveTheSumOfDifferences) {
  constexpr int64_t kDepth = 7;
  for (const bool w_unsigned : {false, true}) {
    for (const bool x_unsigned : {false, true}) {
      const int w_low = w_unsigned ? 0 : -128;
      const int x_low = x_unsigned ? 0 : -128;
      for (int seed = 0; seed < 200; ++seed) {
        const auto weight = [&](int64_t, int64_t k) {
          return w_low + static_cast<int>((seed * 37 + k * 91) % 256);
        };
        const auto x = [&](int64_t k) {
          return x_low + static_cast<int>((seed * 53 + k * 77) % 256);
        };
        const int w_zero = w_low + seed * 11 % 256;
        const int x_zero = x_low + seed * 29 % 256;
        int32_t correction;
        MatrixCorrections(
            1, kDepth, w_unsigned, weight, [&](int64_t) { return w_zero; },
            x_zero, x_unsigned, &correction);
        int64_t product = 0;
        int64_t sum = 0;
        int64_t want = 0;
        for (int64_t k = 0; k < kDepth; ++k) {
          const int fed = UnsignedCode(x(k), x_unsigned);
          product += fed * SignedCode(weight(0, k), w_unsigned);
          sum += fed;
          want += int64_t{x(k) - x_zero} * (weight(0, k) - w_zero);
        }
        ASSERT_EQ(product + correction - SignedCode(w_zero, w_unsigned) * sum,
                  want);
      }
    }
  }
}

TEST(Packing, DepthwisePairsOfTaps) {
  constexpr int64_t kChannels = 5;
  constexpr int64_t kTaps = 3;
  std::vector<int16_t> packed(PackedDepthwiseElements(kTaps, kChannels), 9);
  EXPECT_EQ(packed.size(), 2u * 16 * 2);
  PackDepthwise(
      kChannels, kTaps,
      [](int64_t c, int64_t tap) { return static_cast<int>(c * 10 + tap); },
      packed.data());
  EXPECT_EQ(packed[0], 0);
  EXPECT_EQ(packed[1], 1);
  EXPECT_EQ(packed[2 * 4], 40);
  EXPECT_EQ(packed[2 * 4 + 1], 41);
  EXPECT_EQ(packed[2 * 5], 0);           // a channel of padding
  EXPECT_EQ(packed[32 + 2 * 4], 42);     // the third tap
  EXPECT_EQ(packed[32 + 2 * 4 + 1], 0);  // and none after it
}

}  // namespace
}  // namespace fold::format
