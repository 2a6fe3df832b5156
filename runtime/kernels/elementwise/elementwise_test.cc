#include "runtime/kernels/elementwise/elementwise.h"

#include <algorithm>

#include "runtime/kernels/test_guarded.h"

namespace fold::kernels {
namespace {

constexpr CodeType kTypes[] = {CodeType::kU8, CodeType::kS8, CodeType::kU16,
                               CodeType::kS16, CodeType::kS32};

// [3][4][50], b broadcast along the first and the last dimension.
StridedShape Broadcast() {
  StridedShape s;
  s.rank = 3;
  const int64_t dims[] = {3, 4, 50};
  const int64_t a[] = {200, 50, 1};
  const int64_t b[] = {0, 1, 0};
  std::copy(dims, dims + 3, s.dims);
  std::copy(a, a + 3, s.a_strides);
  std::copy(b, b + 3, s.b_strides);
  return s;
}

Guarded<uint8_t> AnyCodes(int64_t count, CodeType type,
                          std::mt19937_64* random) {
  Guarded<uint8_t> bytes(count * CodeBytes(type));
  FillAny(&bytes, random);
  return bytes;
}

// Runs `range` in two parts and `reference` in one, and compares.
template <typename Op, typename Range>
void ExpectEqual(Op op, int64_t out_bytes, Range range, Range reference) {
  const int64_t count = op.shape.Elements();
  Guarded<uint8_t> want(out_bytes, 1);
  Guarded<uint8_t> got(out_bytes, 2);
  op.out = want.data();
  reference(op, 0, count);
  op.out = got.data();
  range(op, 0, count / 3);
  range(op, count / 3, count);
  ASSERT_EQ(got.Copy(), want.Copy());
  ASSERT_TRUE(got.Intact());
}

TEST(Elementwise, Add2) {
  std::mt19937_64 random(1);
  Add2 op;
  op.shape = Broadcast();
  for (CodeType a_type : kTypes) {
    for (CodeType b_type : kTypes) {
      for (CodeType out_type : kTypes) {
        const Guarded<uint8_t> a = AnyCodes(600, a_type, &random);
        const Guarded<uint8_t> b = AnyCodes(4, b_type, &random);
        for (PairForm form :
             {PairForm::kMul64, PairForm::kHalfEven64, PairForm::kRemainder}) {
          op.a_type = a_type;
          op.b_type = b_type;
          op.out_type = out_type;
          op.a = a.data();
          op.b = b.data();
          op.form = form;
          op.a_multiplier = AnyNumber<int64_t>(&random) >> random() % 60;
          op.b_multiplier = AnyNumber<int64_t>(&random) >> random() % 60;
          op.addend = AnyNumber<int64_t>(&random);
          op.shift = static_cast<int>(random() % 63);
          op.divisor = 1 + static_cast<int64_t>(random() % 100000);
          op.zero = static_cast<int64_t>(random() % 256) - 128;
          op.lo = LowestCode(out_type);
          op.hi = HighestCode(out_type) - 1;
          ExpectEqual(op, 600 * CodeBytes(out_type), Add2Range,
                      Add2RangeReference);
        }
      }
    }
  }
}

TEST(Elementwise, Add2IsTheDefinition) {
  const int8_t a[] = {10, -3};
  const uint8_t b[] = {200, 7};
  int8_t out[2];
  Add2 op;
  op.shape.dims[0] = 2;
  op.shape.a_strides[0] = 1;
  op.shape.b_strides[0] = 1;
  op.b_type = CodeType::kU8;
  op.a = a;
  op.b = b;
  op.out = out;
  op.a_multiplier = 3;
  op.b_multiplier = 1;
  op.addend = -4;
  op.shift = 2;
  op.lo = -128;
  op.hi = 127;
  Add2RangeReference(op, 0, 2);
  EXPECT_EQ(out[0], (30 + 200 - 4) >> 2);
  EXPECT_EQ(out[1], (-9 + 7 - 4) >> 2);  // floor(-1.5) = -2
  op.form = PairForm::kRemainder;
  op.divisor = 4;
  op.zero = 1;
  Add2RangeReference(op, 0, 2);
  EXPECT_EQ(out[0], 56 + 1);  // 56.5 to even
  EXPECT_EQ(out[1], -2 + 1);  // -1.5 to even
}

TEST(Elementwise, Mul2) {
  std::mt19937_64 random(2);
  const int64_t multiplier = 1234567;
  const int64_t addend = 987654321;
  const uint8_t shift = 33;
  Mul2 op;
  op.shape = Broadcast();
  op.requant.form = RequantForm::kMul64;
  op.requant.multipliers = &multiplier;
  op.requant.addends = &addend;
  op.requant.shifts = &shift;
  op.requant.output = CodeType::kS16;
  op.requant.lo = -30000;
  op.requant.hi = 30000;
  for (CodeType a_type : kTypes) {
    for (CodeType b_type : kTypes) {
      const Guarded<uint8_t> a = AnyCodes(600, a_type, &random);
      const Guarded<uint8_t> b = AnyCodes(4, b_type, &random);
      op.a_type = a_type;
      op.b_type = b_type;
      op.a = a.data();
      op.b = b.data();
      op.a_zero = 77;
      op.b_zero = -5;
      ExpectEqual(op, 1200, Mul2Range, Mul2RangeReference);
    }
  }
}

TEST(Elementwise, RequantizeCodesPerChannel) {
  std::mt19937_64 random(3);
  const int64_t multipliers[] = {1, -3, 1000, 77};
  const int64_t addends[] = {0, 5, -7, 1 << 20};
  const int64_t divisors[] = {6, 7, 12, 100};
  RequantizeCodes op;
  op.shape = Broadcast();
  op.requant.form = RequantForm::kRemainder;
  op.requant.per_channel = true;
  op.requant.multipliers = multipliers;
  op.requant.addends = addends;
  op.requant.divisors = divisors;
  op.requant.output = CodeType::kU8;
  op.requant.hi = 255;
  for (CodeType type : kTypes) {
    const Guarded<uint8_t> x = AnyCodes(600, type, &random);
    op.x_type = type;
    op.x = x.data();
    op.x_zero = 100;
    ExpectEqual(op, 600, RequantizeCodesRange, RequantizeCodesRangeReference);
  }
}

TEST(Elementwise, Tables) {
  std::mt19937_64 random(4);
  for (int64_t bytes : {1, 2, 4, 8}) {
    for (CodeType type :
         {CodeType::kU8, CodeType::kS8, CodeType::kU16, CodeType::kS16}) {
      const int64_t entries = int64_t{1} << (8 * CodeBytes(type));
      Guarded<uint64_t> table(4 * entries * bytes / 8);
      FillAny(&table, &random);
      const Guarded<uint8_t> x = AnyCodes(600, type, &random);
      Table1 op;
      op.shape = Broadcast();
      op.x_type = type;
      op.x = x.data();
      op.table = table.data();
      op.element_bytes = bytes;
      ExpectEqual(op, 600 * bytes, Table1Range, Table1RangeReference);
    }
    for (CodeType type : {CodeType::kU8, CodeType::kS8}) {
      Guarded<uint64_t> table(65536 * bytes / 8);
      FillAny(&table, &random);
      const Guarded<uint8_t> a = AnyCodes(600, type, &random);
      const Guarded<uint8_t> b = AnyCodes(4, CodeType::kS8, &random);
      Table2 op;
      op.shape = Broadcast();
      op.a_type = type;
      op.a = a.data();
      op.b = b.data();
      op.table = table.data();
      op.element_bytes = bytes;
      ExpectEqual(op, 600 * bytes, Table2Range, Table2RangeReference);
    }
  }
}

TEST(Elementwise, TableEntriesStartAtTheLowestCode) {
  uint8_t table[256];
  for (int i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(255 - i);
  const int8_t x[] = {-128, 0, 127};
  uint8_t out[3];
  Table1 op;
  op.shape.dims[0] = 3;
  op.shape.a_strides[0] = 1;
  op.x = x;
  op.table = table;
  op.out = out;
  Table1RangeReference(op, 0, 3);
  EXPECT_EQ(out[0], 255);
  EXPECT_EQ(out[1], 127);
  EXPECT_EQ(out[2], 0);
}

TEST(Elementwise, ClampInPlace) {
  for (CodeType type : kTypes) {
    std::vector<uint8_t> bytes(300 * CodeBytes(type));
    for (int i = 0; i < 300; ++i) StoreCode(type, bytes.data(), i, i);
    ClampCodes op;
    op.type = type;
    op.x = bytes.data();
    op.out = bytes.data();
    op.lo = 10;
    op.hi = 100;
    ClampCodesRange(op, 0, 120);
    for (int i = 0; i < 120; ++i) {
      EXPECT_EQ(LoadCode(type, bytes.data(), i), std::clamp(i, 10, 100));
    }
    std::vector<uint8_t> one(CodeBytes(type));
    StoreCode(type, one.data(), 0, 120);
    EXPECT_EQ(LoadCode(type, bytes.data(), 120), LoadCode(type, one.data(), 0));
  }
}

TEST(Elementwise, Reciprocal) {
  std::mt19937_64 random(11);
  ReciprocalCodes op;
  op.shape = Broadcast();
  op.shape.b_strides[0] = 0;
  for (CodeType x_type :
       {CodeType::kU8, CodeType::kS8, CodeType::kU16, CodeType::kS16}) {
    for (CodeType out_type : kTypes) {
      const Guarded<uint8_t> x = AnyCodes(600, x_type, &random);
      int64_t numerators[4];
      int64_t denominators[4];
      for (int c = 0; c < 4; ++c) {
        numerators[c] = AnyNumber<int64_t>(&random) >> (2 + random() % 60);
        denominators[c] = 1 + static_cast<int64_t>(random() % 1000);
      }
      numerators[3] = 0;
      denominators[2] = int64_t{1} << 46;
      op.x_type = x_type;
      op.out_type = out_type;
      op.x = x.data();
      op.x_zero = LoadCode(x_type, x.data(), 7);
      op.numerators = numerators;
      op.denominators = denominators;
      op.zero = static_cast<int64_t>(random() % 256) - 128;
      op.lo = LowestCode(out_type);
      op.hi = HighestCode(out_type) - 1;
      ExpectEqual(op, 600 * CodeBytes(out_type), ReciprocalRange,
                  ReciprocalRangeReference);
    }
  }
}

// All 65,536 codes of 16 bits, against division in whole numbers by trial.
TEST(Elementwise, ReciprocalIsTheDefinition) {
  std::vector<int16_t> x(65536);
  for (int i = 0; i < 65536; ++i) x[i] = static_cast<int16_t>(i - 32768);
  std::vector<int16_t> out(65536);
  ReciprocalCodes op;
  op.shape.dims[0] = 65536;
  op.shape.a_strides[0] = 1;
  op.x_type = CodeType::kS16;
  op.out_type = CodeType::kS16;
  op.x = x.data();
  op.out = out.data();
  op.x_zero = -7;
  op.zero = 3;
  op.lo = -30000;
  op.hi = 31000;
  for (const int64_t n : {int64_t{1000000}, int64_t{-12345}, int64_t{0}}) {
    const int64_t denominator = 4;
    op.numerators = &n;
    op.denominators = &denominator;
    ReciprocalRangeReference(op, 0, 65536);
    for (int i = 0; i < 65536; ++i) {
      const int64_t d = denominator * (x[i] + 7);
      if (d == 0) {
        ASSERT_EQ(out[i], n > 0 ? 31000 : n < 0 ? -30000 : 3);
        continue;
      }
      const int64_t y = out[i] - 3;  // |n / d - y| <= 1/2, ties to even
      const int64_t miss = std::abs(2 * (n - y * d));
      if (out[i] == op.hi || out[i] == op.lo) {
        ASSERT_GE(n / d * (out[i] == op.hi ? 1 : -1), 29996);
      } else {
        ASSERT_LE(miss, std::abs(d)) << i;
        if (miss == std::abs(d)) {
          ASSERT_EQ(y % 2, 0) << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace fold::kernels
