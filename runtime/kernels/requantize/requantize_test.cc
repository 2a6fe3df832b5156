// Every variant against the one rule in runtime/numerics.
#include <algorithm>

#include "runtime/kernels/requantize/requantize_rows.h"
#include "runtime/kernels/test_guarded.h"

namespace fold::kernels {
namespace {

struct Variant {
  CpuLevel level;
  const char* name;
  RequantizeRowsFn run;
};

const Variant kVariants[] = {
#define FOLD_KERNEL(level, symbol) {level, #symbol, symbol},
#include "runtime/kernels/requantize/kernels.inc"
#undef FOLD_KERNEL
};

// Constants for `channels` channels.
struct Constants {
  Constants(int64_t channels, std::mt19937_64* random) {
    for (int64_t c = 0; c < channels; ++c) {
      narrow.push_back(AnyNumber<int32_t>(random));
      wide.push_back(AnyNumber<int64_t>(random) >> (*random)() % 60);
      addends.push_back(AnyNumber<int64_t>(random) >> (*random)() % 40);
      high.push_back(AnyNumber<int32_t>(random));
      shifts.push_back(static_cast<uint8_t>((*random)() % 63));
      divisors.push_back(1 + static_cast<int64_t>((*random)() % 5000));
      first.push_back(static_cast<int32_t>((*random)() % 256) - 128);
      decreasing.push_back((*random)() % 2);
      std::vector<int64_t> steps;
      steps.reserve(kThresholds);
      for (int i = 0; i < kThresholds; ++i) {
        steps.push_back(AnyNumber<int32_t>(random));
      }
      std::sort(steps.begin(), steps.end());
      thresholds.insert(thresholds.end(), steps.begin(), steps.end());
    }
  }

  static constexpr int kThresholds = 9;

  Requantizer For(RequantForm form) const {
    Requantizer r;
    r.form = form;
    r.per_channel = narrow.size() > 1;
    r.multipliers = form == RequantForm::kMul64 ? narrow.data() : wide.data();
    r.addends = addends.data();
    r.addends_high = high.data();
    r.shifts = shifts.data();
    r.divisors = divisors.data();
    r.thresholds = thresholds.data();
    r.threshold_count = kThresholds;
    r.first_codes = first.data();
    r.decreasing = decreasing.data();
    return r;
  }

  std::vector<int64_t> narrow, wide, addends, high, divisors, thresholds;
  std::vector<uint8_t> shifts, decreasing;
  std::vector<int32_t> first;
};

struct Block {
  int64_t rows;
  int64_t columns;
  int64_t first_channel;
};

void ExpectEqual(const Requantizer& r, const Block& b,
                 const Guarded<int32_t>& acc, int64_t acc_stride) {
  const int64_t out_stride = b.columns + 5;
  const int64_t bytes =
      ((b.rows - 1) * out_stride + b.columns) * CodeBytes(r.output);
  Guarded<uint8_t> want(bytes, 0x33);
  RequantizeRowsReference(r, acc.data(), b.rows, b.columns, acc_stride,
                          b.first_channel, want.data(), out_stride);
  for (const Variant& variant : kVariants) {
    if (!CanRun(variant.level)) continue;
    Guarded<uint8_t> got(bytes, 0x33);
    variant.run(r, acc.data(), b.rows, b.columns, acc_stride, b.first_channel,
                got.data(), out_stride);
    ASSERT_EQ(got.Copy(), want.Copy())
        << variant.name << " form " << static_cast<int>(r.form) << " columns "
        << b.columns;
    ASSERT_TRUE(got.Intact()) << variant.name;
  }
}

constexpr RequantForm kForms[] = {
    RequantForm::kNone,      RequantForm::kMul64,  RequantForm::kHalfEven64,
    RequantForm::kRemainder, RequantForm::kMul128, RequantForm::kThresholds};

TEST(Requantize, EveryFormTypeAndWidth) {
  std::mt19937_64 random(1);
  for (int64_t columns = 1; columns <= 40; ++columns) {
    const Block b = {1 + columns % 3, columns, columns % 7};
    const int64_t acc_stride = columns + 2;
    Guarded<int32_t> acc((b.rows - 1) * acc_stride + columns);
    FillAny(&acc, &random);
    for (int64_t channels : {int64_t{1}, columns + b.first_channel}) {
      const Constants constants(channels, &random);
      for (RequantForm form : kForms) {
        for (CodeType type : {CodeType::kU8, CodeType::kS8, CodeType::kU16,
                              CodeType::kS16, CodeType::kS32}) {
          if (form == RequantForm::kNone && type != CodeType::kS32) continue;
          Requantizer r = constants.For(form);
          r.output = type;
          r.zero = static_cast<int64_t>(random() % 256) - 128;
          r.lo = LowestCode(type) / 2;
          r.hi = HighestCode(type) - 3;
          ExpectEqual(r, b, acc, acc_stride);
        }
      }
    }
  }
}

// Products of one multiplier that land on and next to ties, for all shifts.
TEST(Requantize, Ties) {
  Guarded<int32_t> acc(4096);
  for (int64_t i = 0; i < acc.size(); ++i) {
    acc.data()[i] = static_cast<int32_t>(i - 2048);
  }
  for (int shift = 0; shift <= 62; ++shift) {
    const int64_t multiplier = shift > 31 ? int64_t{1} << 30 : 1;
    const int64_t addend = 0;
    const uint8_t shifts = static_cast<uint8_t>(shift);
    Requantizer r;
    r.form = RequantForm::kHalfEven64;
    r.output = CodeType::kS16;
    r.multipliers = &multiplier;
    r.addends = &addend;
    r.shifts = &shifts;
    r.lo = INT16_MIN;
    r.hi = INT16_MAX;
    ExpectEqual(r, {1, acc.size(), 0}, acc, acc.size());
  }
}

}  // namespace
}  // namespace fold::kernels
