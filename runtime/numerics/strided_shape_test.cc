#include "runtime/numerics/strided_shape.h"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/numerics/window.h"

namespace fold {
namespace {

// Every sub-range of a walk visits the same elements as the whole walk.
TEST(StridedShape, WalksAnyRangeInOrder) {
  StridedShape shape;
  shape.rank = 3;
  const int64_t dims[] = {3, 4, 5};
  const int64_t a[] = {100, -7, 2};
  const int64_t b[] = {0, 1, 0};
  for (int d = 0; d < 3; ++d) {
    shape.dims[d] = dims[d];
    shape.a_strides[d] = a[d];
    shape.b_strides[d] = b[d];
  }
  ASSERT_EQ(shape.Elements(), 60);
  for (int64_t begin = 0; begin < 60; ++begin) {
    for (int64_t end = begin; end <= 60; ++end) {
      for (int64_t most : {int64_t{1}, int64_t{3}, INT64_MAX}) {
        int64_t at = begin;
        WalkRuns(shape, begin, end, most, [&](const fold::Run& run) {
          ASSERT_LE(run.count, most);
          for (int64_t i = 0; i < run.count; ++i, ++at) {
            ASSERT_EQ(run.start + i, at);
            ASSERT_EQ(run.a + 2 * i,
                      at / 20 * 100 - at / 5 % 4 * 7 + at % 5 * 2);
            ASSERT_EQ(run.b, at / 5 % 4);
          }
        });
        ASSERT_EQ(at, end);
      }
    }
  }
}

TEST(StridedShape, OneElement) {
  int runs = 0;
  WalkRuns(StridedShape(), 0, 1, INT64_MAX, [&](const fold::Run& run) {
    ++runs;
    EXPECT_EQ(run.count, 1);
  });
  EXPECT_EQ(runs, 1);
}

TEST(Window, InsideTapsByDefinition) {
  for (int64_t origin = -12; origin <= 12; ++origin) {
    for (int64_t taps = 1; taps <= 6; ++taps) {
      for (int64_t dilation = 1; dilation <= 4; ++dilation) {
        for (int64_t size = 1; size <= 8; ++size) {
          const TapRange range = InsideTaps(origin, taps, dilation, size);
          ASSERT_LE(range.begin, range.end);
          for (int64_t t = 0; t < taps; ++t) {
            const int64_t at = origin + t * dilation;
            ASSERT_EQ(at >= 0 && at < size, t >= range.begin && t < range.end);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace fold
