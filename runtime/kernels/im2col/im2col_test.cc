#include "runtime/kernels/im2col/im2col.h"

#include <algorithm>

#include "runtime/kernels/test_guarded.h"

namespace fold::kernels {
namespace {

TEST(Im2Col, RandomWindows) {
  std::mt19937_64 random(1);
  const auto pick = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % (most - least + 1));
  };
  for (int i = 0; i < 3000; ++i) {
    Window w;
    w.height = pick(1, 6);
    w.width = pick(1, 6);
    w.channels = pick(1, 20);
    w.kernel_height = pick(1, 4);
    w.kernel_width = pick(1, 4);
    w.stride_height = pick(1, 3);
    w.stride_width = pick(1, 3);
    w.dilation_height = pick(1, 3);
    w.dilation_width = pick(1, 3);
    w.pad_top = pick(0, 4);
    w.pad_left = pick(0, 4);
    const bool whole = pick(0, 1) != 0;
    const int64_t first = whole ? 0 : pick(0, w.channels - 1);
    const int64_t depth = whole ? w.channels : pick(1, w.channels - first);
    Guarded<uint8_t> image(w.height * w.width * w.channels);
    FillAny(&image, &random);
    const int64_t row_bytes =
        w.kernel_height * w.kernel_width * depth + pick(0, 3);
    const uint8_t flip = pick(0, 1) != 0 ? 0x80 : 0;
    const uint8_t padding = AnyNumber<uint8_t>(&random);
    const int64_t y = pick(0, 5);
    const int64_t x = pick(0, 5);
    Guarded<uint8_t> want(row_bytes, 9);
    Guarded<uint8_t> got(row_bytes, 8);
    Im2ColRowReference(w, image.data(), y, x, first, depth, flip, padding,
                       want.data(), row_bytes);
    Im2ColRow(w, image.data(), y, x, first, depth, flip, padding, got.data(),
              row_bytes);
    ASSERT_EQ(got.Copy(), want.Copy());
    ASSERT_TRUE(got.Intact());
  }
}

TEST(Im2Col, ReferenceIsTheDefinition) {
  Window w;
  w.height = 2;
  w.width = 2;
  w.kernel_height = 2;
  w.kernel_width = 2;
  w.pad_left = 1;
  const uint8_t image[] = {1, 2, 3, 4};
  uint8_t row[5];
  Im2ColRowReference(w, image, 0, 0, 0, 1, 0x80, 77, row, 5);
  const uint8_t want[] = {77, 129, 77, 131, 0};
  EXPECT_TRUE(std::equal(row, row + 5, want));
}

}  // namespace
}  // namespace fold::kernels
