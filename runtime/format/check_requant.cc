#include "runtime/format/check.h"

namespace fold::format {
namespace {

constexpr int64_t kMaxDivisor = int64_t{1} << 62;

// A vector that the form uses has `size` elements; one that it does not use is
// absent.
template <typename T>
bool CheckUse(const OpCheck& c, Span<T> vector, bool used, int64_t size,
              const char* name) {
  if (!IsAligned(vector)) {
    return c.Fail("requantization: %s are not aligned", name);
  }
  if (vector.size == (used ? size : 0)) return true;
  return c.Fail("requantization: %lld %s", static_cast<long long>(vector.size),
                name);
}

bool CheckVectors(const OpCheck& c, const Requant& r, int64_t size) {
  const RequantForm form = r.form();
  const bool wide = form == RequantForm::MUL128;
  const bool thresholds = form == RequantForm::THRESHOLDS;
  const bool shift =
      wide || form == RequantForm::MUL64 || form == RequantForm::HALF_EVEN64;
  if (thresholds && int64_t{r.threshold_count()} > kMaxDimension) {
    return c.Fail("requantization: too many thresholds");
  }
  return CheckUse(c, View(r.multipliers()), !thresholds, size, "multipliers") &&
         CheckUse(c, View(r.addends()), !thresholds, size, "addends") &&
         CheckUse(c, View(r.addends_high()), wide, size, "high addends") &&
         CheckUse(c, View(r.shifts()), shift, size, "shifts") &&
         CheckUse(c, View(r.divisors()), form == RequantForm::REMAINDER, size,
                  "divisors") &&
         CheckUse(c, View(r.thresholds()), thresholds,
                  size * int64_t{r.threshold_count()}, "thresholds") &&
         CheckUse(c, View(r.first_codes()), thresholds, size, "first codes") &&
         CheckUse(c, View(r.decreasing()), thresholds, size, "directions");
}

bool CheckShifts(const OpCheck& c, const Requant& r) {
  const Span<uint8_t> shifts = View(r.shifts());
  const int most = r.form() == RequantForm::MUL128 ? 126 : 62;
  for (int64_t i = 0; i < shifts.size; ++i) {
    if (shifts.data[i] > most) {
      return c.Fail("requantization: shift %d", shifts.data[i]);
    }
  }
  return true;
}

bool CheckMultipliers(const OpCheck& c, const Requant& r) {
  if (r.form() != RequantForm::MUL64) return true;
  const Span<int64_t> multipliers = View(r.multipliers());
  for (int64_t i = 0; i < multipliers.size; ++i) {
    if (multipliers.data[i] < INT32_MIN || multipliers.data[i] > INT32_MAX) {
      return c.Fail("requantization: multiplier %lld needs more than 32 bits",
                    static_cast<long long>(multipliers.data[i]));
    }
  }
  return true;
}

bool CheckDivisors(const OpCheck& c, const Requant& r) {
  const Span<int64_t> divisors = View(r.divisors());
  for (int64_t i = 0; i < divisors.size; ++i) {
    if (divisors.data[i] < 1 || divisors.data[i] > kMaxDivisor) {
      return c.Fail("requantization: divisor %lld",
                    static_cast<long long>(divisors.data[i]));
    }
  }
  return true;
}

bool CheckThresholds(const OpCheck& c, const Requant& r) {
  const Span<int64_t> thresholds = View(r.thresholds());
  const int64_t count = r.threshold_count();
  for (int64_t i = 1; i < thresholds.size; ++i) {
    if (i % count != 0 && thresholds.data[i] < thresholds.data[i - 1]) {
      return c.Fail("requantization: thresholds descend");
    }
  }
  return true;
}

}  // namespace

bool CheckRequant(const OpCheck& c, const Requant* requant, int64_t channels,
                  ElementType output) {
  if (requant == nullptr) return c.Fail("no requantization");
  const Requant& r = *requant;
  if (r.form() == RequantForm::NONE) {
    if (output == ElementType::S32) return true;
    return c.Fail("raw accumulators in a tensor that is not S32");
  }
  if (r.form() > RequantForm::THRESHOLDS) {
    return c.Fail("requantization: unknown form");
  }
  const int64_t size = r.form() == RequantForm::THRESHOLDS
                           ? View(r.first_codes()).size
                           : View(r.multipliers()).size;
  if (size != 1 && size != channels) {
    return c.Fail("requantization: constants for %lld of %lld channels",
                  static_cast<long long>(size),
                  static_cast<long long>(channels));
  }
  const int64_t looked_at = 4 * size + View(r.thresholds()).size;
  return CheckBounds(c, r.lo(), r.hi(), output) && CheckVectors(c, r, size) &&
         c.check->Spend(looked_at) && CheckShifts(c, r) &&
         CheckMultipliers(c, r) && CheckDivisors(c, r) && CheckThresholds(c, r);
}

}  // namespace fold::format
