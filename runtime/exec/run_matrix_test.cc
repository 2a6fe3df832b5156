// CONV and FULLY_CONNECTED against the definition, sum (x - zx)(w - zw), at
// every level, number of workers and size of scratch.
#include <gtest/gtest.h>

#include "runtime/exec/test_run.h"

namespace fold::exec {
namespace {

using format::ElementType;
using format::Opcode;

struct Case {
  int64_t batch, height, width, channels, groups, columns;  // columns in total
  int kernel_height, kernel_width, stride, dilation, pad_top, pad_left;
  int64_t out_height, out_width;
  bool x_unsigned, w_unsigned, zeros;
};

int Code(uint8_t byte, bool is_unsigned) {
  return is_unsigned ? byte : static_cast<int8_t>(byte);
}

class Reference {
 public:
  Reference(const Case& c, std::mt19937* random) : c(c) {
    depth = c.kernel_height * c.kernel_width * (c.channels / c.groups);
    x = RandomBytes(c.batch * c.height * c.width * c.channels, random);
    w = RandomBytes(c.columns * depth, random);
    input_zero = c.x_unsigned ? static_cast<int>((*random)() % 256)
                              : static_cast<int>((*random)() % 256) - 128;
    for (int64_t n = 0; n < c.columns; ++n) {
      const int zero = static_cast<int>((*random)() % 256);
      zeros.push_back(!c.zeros       ? (c.w_unsigned ? 128 : 0)
                      : c.w_unsigned ? zero
                                     : zero - 128);
    }
  }

  int Weight(int64_t n, int64_t k) const {
    return Code(w[n * depth + k], c.w_unsigned);
  }

  // Accumulator of output (b, y, x, n).
  int32_t Sum(int64_t b, int64_t oy, int64_t ox, int64_t n) const {
    const int64_t per_group = c.channels / c.groups;
    const int64_t first = n / (c.columns / c.groups) * per_group;
    int64_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t ch = k % per_group;
      const int64_t q = k / per_group % c.kernel_width;
      const int64_t r = k / per_group / c.kernel_width;
      const int64_t iy = oy * c.stride - c.pad_top + r * c.dilation;
      const int64_t ix = ox * c.stride - c.pad_left + q * c.dilation;
      if (iy < 0 || iy >= c.height || ix < 0 || ix >= c.width) continue;
      const uint8_t byte =
          x[((b * c.height + iy) * c.width + ix) * c.channels + first + ch];
      sum += int64_t{Code(byte, c.x_unsigned) - input_zero} *
             (Weight(n, k) - zeros[n]);
    }
    return static_cast<int32_t>(sum);
  }

  std::vector<int32_t> All() const {
    std::vector<int32_t> sums;
    for (int64_t b = 0; b < c.batch; ++b) {
      for (int64_t y = 0; y < c.out_height; ++y) {
        for (int64_t ox = 0; ox < c.out_width; ++ox) {
          for (int64_t n = 0; n < c.columns; ++n) {
            sums.push_back(Sum(b, y, ox, n));
          }
        }
      }
    }
    return sums;
  }

  Case c;
  int64_t depth = 0;
  Bytes x;
  Bytes w;
  int input_zero = 0;
  std::vector<int> zeros;
};

// Operands 1 to 3 of the op.
std::vector<int> AddConstants(const Reference& r, format::TestArtifact* a) {
  const int64_t columns = r.c.columns / r.c.groups;
  const int64_t bytes = format::PackedMatrixBytes(columns, r.depth);
  std::vector<int8_t> packed(bytes * r.c.groups);
  std::vector<int32_t> correction(r.c.columns);
  std::vector<int32_t> zero(r.c.columns);
  for (int64_t g = 0; g < r.c.groups; ++g) {
    const auto weight = [&](int64_t n, int64_t k) {
      return r.Weight(g * columns + n, k);
    };
    const auto weight_zero = [&](int64_t n) {
      return r.zeros[g * columns + n];
    };
    format::PackMatrix(columns, r.depth, r.c.w_unsigned, weight,
                       packed.data() + g * bytes);
    format::MatrixCorrections(columns, r.depth, r.c.w_unsigned, weight,
                              weight_zero, r.input_zero, r.c.x_unsigned,
                              correction.data() + g * columns);
  }
  for (int64_t n = 0; n < r.c.columns; ++n) {
    zero[n] = format::SignedCode(r.zeros[n], r.c.w_unsigned);
  }
  std::vector<int> operands = {
      a->Constant(ElementType::S8, {bytes * r.c.groups}, packed),
      a->Constant(ElementType::S32, {r.c.columns}, correction)};
  if (r.c.zeros) {
    operands.push_back(a->Constant(ElementType::S32, {r.c.columns}, zero));
  }
  return operands;
}

void ExpectConv(const Case& c, uint32_t seed) {
  std::mt19937 random(seed);
  const Reference r(c, &random);
  const std::vector<int32_t> want = r.All();
  for (const int64_t scratch :
       {format::MinimumMatrixScratch(r.depth),
        format::RecommendedMatrixScratch(r.depth, 1000)}) {
    format::TestArtifact a;
    const ElementType type = c.x_unsigned ? ElementType::U8 : ElementType::S8;
    const int x = a.Input("x", type, {c.batch, c.height, c.width, c.channels});
    std::vector<int> operands = AddConstants(r, &a);
    operands.insert(operands.begin(), x);
    const int y = a.Output("y", ElementType::S32,
                           {c.batch, c.out_height, c.out_width, c.columns});
    format::ConvParametersT p;
    p.kernel_height = c.kernel_height;
    p.kernel_width = c.kernel_width;
    p.stride_height = p.stride_width = c.stride;
    p.dilation_height = p.dilation_width = c.dilation;
    p.pad_top = c.pad_top;
    p.pad_left = c.pad_left;
    p.groups = static_cast<int>(c.groups);
    p.input_zero = r.input_zero;
    p.requant = format::NoRequant();
    a.Scratch(a.Add(Opcode::CONV, p, operands, y), scratch);
    const format::TestFile file = a.Finish();
    for (const char* level : kLevels) {
      for (const uint32_t workers : {1u, 3u}) {
        EXPECT_EQ(ValuesOf<int32_t>(RunFile(file, {r.x}, level, workers)), want)
            << level << " seed " << seed << " workers " << workers
            << " scratch " << scratch;
      }
    }
  }
}

TEST(Matrix, ConvolutionsOfAllKinds) {
  const Case cases[] = {
      // n  h  w  c g  N  kh kw s d pt pl oh ow
      {1, 5, 6, 3, 1, 8, 3, 3, 1, 1, 1, 1, 5, 6, true, false, false},
      {2, 7, 5, 4, 1, 17, 3, 3, 2, 1, 0, 1, 4, 3, false, false, true},
      {1, 9, 9, 5, 1, 33, 2, 3, 1, 2, 1, 2, 9, 9, true, true, true},
      {1, 6, 6, 8, 2, 6, 3, 3, 1, 1, 1, 1, 6, 6, false, true, true},
      {1, 6, 6, 12, 4, 80, 1, 1, 1, 1, 0, 0, 6, 6, true, true, true},
      {1, 1, 30, 7, 1, 20, 1, 9, 3, 1, 0, 4, 1, 10, false, false, false},
      {1, 4, 4, 16, 1, 70, 1, 1, 1, 1, 0, 0, 4, 4, false, false, true},
      {3, 4, 4, 16, 1, 130, 1, 1, 1, 1, 0, 0, 4, 4, true, false, false},
      {1, 4, 4, 6, 1, 5, 1, 1, 1, 1, 0, 0, 4, 4, false, true, true},
      {1, 3, 3, 2, 1, 4, 3, 3, 1, 1, 9, 9, 12, 12, true, false, true},
      {1, 2, 2, 1, 1, 1, 5, 5, 1, 3, 7, 7, 3, 3, false, false, true},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    ExpectConv(cases[i], static_cast<uint32_t>(i) + 1);
  }
}

TEST(Matrix, RandomConvolutions) {
  std::mt19937 random(99);
  const auto pick = [&](int least, int most) {
    return least + static_cast<int>(random() % (most - least + 1));
  };
  for (uint32_t i = 0; i < 40; ++i) {
    Case c = {};
    c.batch = pick(1, 2);
    c.height = pick(1, 8);
    c.width = pick(1, 8);
    c.groups = pick(0, 3) == 0 ? 2 : 1;
    c.channels = c.groups * pick(1, 9);
    c.columns = c.groups * pick(1, 70);
    c.kernel_height = pick(1, 3);
    c.kernel_width = pick(1, 4);
    c.stride = pick(1, 3);
    c.dilation = pick(1, 2);
    c.pad_top = pick(0, 3);
    c.pad_left = pick(0, 3);
    c.out_height = pick(1, 8);
    c.out_width = pick(1, 8);
    c.x_unsigned = pick(0, 1) != 0;
    c.w_unsigned = pick(0, 1) != 0;
    c.zeros = pick(0, 1) != 0;
    ExpectConv(c, 1000 + i);
  }
}

void ExpectProduct(int64_t rows, int64_t depth, int64_t columns,
                   uint32_t seed) {
  std::mt19937 random(seed);
  const Case c = {1,
                  1,
                  rows,
                  depth,
                  1,
                  columns,
                  1,
                  1,
                  1,
                  1,
                  0,
                  0,
                  1,
                  rows,
                  (seed & 1) != 0,
                  (seed & 2) != 0,
                  (seed & 4) != 0};
  const Reference r(c, &random);
  format::TestArtifact a;
  const ElementType type = c.x_unsigned ? ElementType::U8 : ElementType::S8;
  std::vector<int> operands = AddConstants(r, &a);
  operands.insert(operands.begin(), a.Input("x", type, {rows, depth}));
  const int y = a.Output("y", ElementType::S32, {rows, columns});
  format::FullyConnectedParametersT p;
  p.input_zero = r.input_zero;
  p.requant = format::NoRequant();
  a.Scratch(a.Add(Opcode::FULLY_CONNECTED, p, operands, y),
            format::MinimumMatrixScratch(depth));
  const format::TestFile file = a.Finish();
  const std::vector<int32_t> want = r.All();
  for (const char* level : kLevels) {
    for (const uint32_t workers : {1u, 4u}) {
      EXPECT_EQ(ValuesOf<int32_t>(RunFile(file, {r.x}, level, workers)), want)
          << level << " " << rows << "x" << depth << "x" << columns;
    }
  }
}

TEST(Matrix, Products) {
  uint32_t seed = 0;
  for (const int64_t rows : {1, 2, 5, 23, 24, 50}) {
    for (const int64_t depth : {1, 3, 4, 64, 133}) {
      for (const int64_t columns : {1, 10, 16, 100, 200}) {
        ExpectProduct(rows, depth, columns, seed++);
      }
    }
  }
}

// 30,000 products of extremes: the sums that a saturating kernel gets wrong.
TEST(Matrix, ExtremeSums) {
  constexpr int64_t kDepth = 30000;
  for (const bool x_unsigned : {true, false}) {
    for (const int value : {-128, 127}) {
      const auto weight = [&](int64_t, int64_t) { return value; };
      std::vector<int8_t> packed(format::PackedMatrixBytes(2, kDepth));
      format::PackMatrix(2, kDepth, false, weight, packed.data());
      std::vector<int32_t> correction(2);
      format::MatrixCorrections(
          2, kDepth, false, weight, [](int64_t) { return 0; },
          x_unsigned ? 0 : -128, x_unsigned, correction.data());
      format::TestArtifact a;
      const int x = a.Input("x", x_unsigned ? ElementType::U8 : ElementType::S8,
                            {1, kDepth});
      const int w = a.Constant(ElementType::S8,
                               {static_cast<int64_t>(packed.size())}, packed);
      const int c = a.Constant(ElementType::S32, {2}, correction);
      const int y = a.Output("y", ElementType::S32, {1, 2});
      format::FullyConnectedParametersT p;
      p.input_zero = x_unsigned ? 0 : -128;
      p.requant = format::NoRequant();
      a.Scratch(a.Add(Opcode::FULLY_CONNECTED, p, {x, w, c}, y),
                format::MinimumMatrixScratch(kDepth));
      const format::TestFile file = a.Finish();
      const Bytes input(kDepth, x_unsigned ? 255 : 127);
      const int32_t want = static_cast<int32_t>(kDepth) * 255 * value;
      for (const char* level : kLevels) {
        EXPECT_EQ(ValuesOf<int32_t>(RunFile(file, {input}, level)),
                  std::vector<int32_t>(2, want))
            << level;
      }
    }
  }
}

// The requantization sees each channel's own constants, whatever the tiling.
TEST(Matrix, RequantizesPerChannel) {
  constexpr int64_t kRows = 37;
  constexpr int64_t kColumns = 75;
  std::mt19937 random(5);
  const Case c = {1, 1, kRows, 9, 1,     kColumns, 1,     1,    1,
                  1, 0, 0,     1, kRows, true,     false, false};
  const Reference r(c, &random);
  format::TestArtifact a;
  std::vector<int> operands = AddConstants(r, &a);
  operands.insert(operands.begin(), a.Input("x", ElementType::U8, {kRows, 9}));
  const int y = a.Output("y", ElementType::S8, {kRows, kColumns});
  format::FullyConnectedParametersT p;
  p.input_zero = r.input_zero;
  p.requant = format::ShiftRequant(0, -128, 127);
  p.requant->multipliers.clear();
  p.requant->addends.clear();
  p.requant->shifts.clear();
  for (int64_t n = 0; n < kColumns; ++n) {
    p.requant->multipliers.push_back(static_cast<int32_t>(random()));
    p.requant->addends.push_back(static_cast<int32_t>(random()));
    p.requant->shifts.push_back(static_cast<uint8_t>(30 + n % 10));
  }
  std::vector<int8_t> want;
  const std::vector<int32_t> sums = r.All();
  for (size_t i = 0; i < sums.size(); ++i) {
    const size_t n = i % kColumns;
    const int64_t code =
        (sums[i] * p.requant->multipliers[n] + p.requant->addends[n]) >>
        p.requant->shifts[n];
    want.push_back(static_cast<int8_t>(code < -128  ? -128
                                       : code > 127 ? 127
                                                    : code));
  }
  a.Scratch(a.Add(Opcode::FULLY_CONNECTED, p, operands, y),
            format::MinimumMatrixScratch(9));
  const format::TestFile file = a.Finish();
  for (const char* level : kLevels) {
    EXPECT_EQ(ValuesOf<int8_t>(RunFile(file, {r.x}, level)), want) << level;
  }
}

}  // namespace
}  // namespace fold::exec
