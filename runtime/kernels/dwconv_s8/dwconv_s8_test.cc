// Every variant against the reference, bit for bit; tap arrays end where the
// channels end, so that a wide load would be seen by the address sanitizer.
#include "runtime/kernels/dwconv_s8/dwconv_s8.h"

#include <memory>

#include "runtime/kernels/test_guarded.h"

namespace fold::kernels {
namespace {

struct Variant {
  CpuLevel level;
  const char* name;
  DepthwisePointFn run;
};

const Variant kVariants[] = {
#define FOLD_KERNEL(level, symbol) {level, #symbol, symbol},
#include "runtime/kernels/dwconv_s8/kernels.inc"
#undef FOLD_KERNEL
};

void ExpectEqual(DepthwisePoint point, const Guarded<int32_t>& start) {
  Guarded<int32_t> want = start;
  point.acc = want.data();
  DepthwisePointReference(point);
  for (const Variant& variant : kVariants) {
    if (!CanRun(variant.level)) continue;
    Guarded<int32_t> got = start;
    point.acc = got.data();
    variant.run(point);
    ASSERT_EQ(got.Copy(), want.Copy()) << variant.name << point.channels;
    ASSERT_TRUE(got.Intact()) << variant.name;
  }
}

TEST(DwconvS8, RandomPointsOfAllWidths) {
  std::mt19937_64 random(1);
  for (int64_t channels = 1; channels <= 70; ++channels) {
    const int64_t padded = (channels + 15) / 16 * 16;
    const int64_t pairs = 1 + static_cast<int64_t>(random() % 6);
    std::vector<std::unique_ptr<uint8_t[]>> rows;
    std::vector<const uint8_t*> taps;
    for (int64_t t = 0; t < 2 * pairs; ++t) {
      rows.push_back(std::make_unique<uint8_t[]>(channels));
      for (int64_t c = 0; c < channels; ++c) {
        rows.back()[c] = AnyNumber<uint8_t>(&random);
      }
      taps.push_back(rows.back().get());
    }
    Guarded<int16_t> weights(pairs * padded * 2);
    for (int64_t i = 0; i < weights.size(); ++i) {
      weights.data()[i] =
          static_cast<int16_t>(static_cast<int>(random() % 511) - 255);
    }
    Guarded<int32_t> acc(channels);
    FillAny(&acc, &random);
    DepthwisePoint point;
    point.taps = taps.data();
    point.pairs = pairs;
    point.weights = weights.data();
    point.pair_stride = 2 * padded;
    point.channels = channels;
    for (int zero : {0, 255, static_cast<int>(random() % 256)}) {
      for (uint8_t flip : {0, 0x80}) {
        point.flip = flip;
        point.x_zero = zero;
        ExpectEqual(point, acc);
      }
    }
  }
}

TEST(DwconvS8, Extremes) {
  for (int x : {0, 255}) {
    for (int w : {-255, 255}) {
      const std::vector<uint8_t> row(20, static_cast<uint8_t>(x));
      const std::vector<const uint8_t*> taps(50, row.data());
      const std::vector<int16_t> weights(25 * 32 * 2, static_cast<int16_t>(w));
      DepthwisePoint point;
      point.taps = taps.data();
      point.pairs = 25;
      point.x_zero = 255 - x;
      point.weights = weights.data();
      point.pair_stride = 64;
      point.channels = 20;
      ExpectEqual(point, Guarded<int32_t>(20, 0));
    }
  }
}

TEST(DwconvS8, ReferenceIsTheDefinition) {
  const uint8_t a[] = {5, 200};
  const uint8_t b[] = {7, 100};
  const uint8_t* taps[] = {a, b};
  const int16_t weights[32] = {3, -2, 10, 20};
  int32_t acc[] = {1000, -1000};
  DepthwisePoint point;
  point.taps = taps;
  point.pairs = 1;
  point.x_zero = 6;
  point.weights = weights;
  point.pair_stride = 32;
  point.channels = 2;
  point.acc = acc;
  DepthwisePointReference(point);
  EXPECT_EQ(acc[0], 1000 + (5 - 6) * 3 + (7 - 6) * -2);
  EXPECT_EQ(acc[1], -1000 + (200 - 6) * 10 + (100 - 6) * 20);
}

}  // namespace
}  // namespace fold::kernels
