// DEPTHWISE_CONV against the definition, sum (x - zx)(w - zw).
#include <gtest/gtest.h>

#include "runtime/exec/test_run.h"

namespace fold::exec {
namespace {

using format::ElementType;
using format::Opcode;

struct Case {
  int64_t batch, height, width, channels, multiplier;
  int kernel_height, kernel_width, stride, dilation, pad_top, pad_left;
  int64_t out_height, out_width;
  bool x_unsigned;
};

void ExpectDepthwise(const Case& c, uint32_t seed) {
  std::mt19937 random(seed);
  const int64_t taps = c.kernel_height * c.kernel_width;
  const int64_t out_channels = c.channels * c.multiplier;
  const Bytes x =
      RandomBytes(c.batch * c.height * c.width * c.channels, &random);
  std::vector<int> w(out_channels * taps);
  for (int& value : w) value = static_cast<int>(random() % 511) - 255;
  const int zero = static_cast<int>(random() % 256) - (c.x_unsigned ? 0 : 128);
  std::vector<int32_t> want;
  for (int64_t i = 0; i < c.batch * c.out_height * c.out_width * out_channels;
       ++i) {
    const int64_t ch = i % out_channels;
    const int64_t ox = i / out_channels % c.out_width;
    const int64_t oy = i / out_channels / c.out_width % c.out_height;
    const int64_t b = i / out_channels / c.out_width / c.out_height;
    int32_t sum = 0;
    for (int64_t t = 0; t < taps; ++t) {
      const int64_t y =
          oy * c.stride - c.pad_top + t / c.kernel_width * c.dilation;
      const int64_t ix =
          ox * c.stride - c.pad_left + t % c.kernel_width * c.dilation;
      if (y < 0 || y >= c.height || ix < 0 || ix >= c.width) continue;
      const uint8_t byte = x[((b * c.height + y) * c.width + ix) * c.channels +
                             ch / c.multiplier];
      const int code = c.x_unsigned ? byte : static_cast<int8_t>(byte);
      sum += (code - zero) * w[ch * taps + t];
    }
    want.push_back(sum);
  }
  format::TestArtifact a;
  const int input =
      a.Input("x", c.x_unsigned ? ElementType::U8 : ElementType::S8,
              {c.batch, c.height, c.width, c.channels});
  std::vector<int16_t> packed(
      format::PackedDepthwiseElements(taps, out_channels));
  format::PackDepthwise(
      out_channels, taps,
      [&](int64_t ch, int64_t t) { return w[ch * taps + t]; }, packed.data());
  const int weights = a.Constant(ElementType::S16,
                                 {static_cast<int64_t>(packed.size())}, packed);
  const int y = a.Output("y", ElementType::S32,
                         {c.batch, c.out_height, c.out_width, out_channels});
  format::ConvParametersT p;
  p.kernel_height = c.kernel_height;
  p.kernel_width = c.kernel_width;
  p.stride_height = p.stride_width = c.stride;
  p.dilation_height = p.dilation_width = c.dilation;
  p.pad_top = c.pad_top;
  p.pad_left = c.pad_left;
  p.input_zero = zero;
  p.requant = format::NoRequant();
  a.Add(Opcode::DEPTHWISE_CONV, p, {input, weights}, y);
  const format::TestFile file = a.Finish();
  for (const char* level : kLevels) {
    for (const uint32_t workers : {1u, 3u}) {
      EXPECT_EQ(ValuesOf<int32_t>(RunFile(file, {x}, level, workers)), want)
          << level << " seed " << seed << " workers " << workers;
    }
  }
}

TEST(Depthwise, AllKinds) {
  const Case cases[] = {
      // n h  w  c  m kh kw s d pt pl oh ow
      {1, 5, 6, 3, 1, 3, 3, 1, 1, 1, 1, 5, 6, true},
      {2, 8, 8, 16, 1, 3, 3, 2, 1, 1, 1, 4, 4, false},
      {1, 9, 9, 70, 1, 3, 3, 1, 2, 2, 2, 9, 9, true},
      {1, 6, 6, 5, 3, 3, 3, 1, 1, 0, 1, 4, 6, false},
      {1, 1, 40, 12, 1, 1, 9, 2, 1, 0, 4, 1, 20, false},
      {1, 25, 5, 64, 1, 25, 5, 1, 1, 0, 0, 1, 1, true},
      {1, 20, 9, 8, 2, 13, 7, 1, 1, 6, 3, 20, 9, true},
      {1, 2, 2, 130, 1, 2, 2, 1, 1, 3, 3, 8, 8, false},
      {1, 4, 4, 1, 9, 1, 1, 1, 1, 0, 0, 4, 4, true},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    ExpectDepthwise(cases[i], static_cast<uint32_t>(i) + 1);
  }
}

TEST(Depthwise, RandomShapes) {
  std::mt19937 random(17);
  const auto pick = [&](int least, int most) {
    return least + static_cast<int>(random() % (most - least + 1));
  };
  for (uint32_t i = 0; i < 60; ++i) {
    Case c = {};
    c.batch = pick(1, 2);
    c.height = pick(1, 8);
    c.width = pick(1, 8);
    c.channels = pick(1, 80);
    c.multiplier = pick(0, 2) == 0 ? 2 : 1;
    c.kernel_height = pick(1, 4);
    c.kernel_width = pick(1, 4);
    c.stride = pick(1, 3);
    c.dilation = pick(1, 2);
    c.pad_top = pick(0, 3);
    c.pad_left = pick(0, 3);
    c.out_height = pick(1, 8);
    c.out_width = pick(1, 10);
    c.x_unsigned = pick(0, 1) != 0;
    ExpectDepthwise(c, 500 + i);
  }
}

}  // namespace
}  // namespace fold::exec
