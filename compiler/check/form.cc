#include "compiler/check/form.h"

#include <algorithm>
#include <limits>

namespace fold::check {
namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

constexpr int kMostShift64 = 62;
constexpr int kMostShift128 = 126;

bool FitsInt64(Wide x) {
  return x >= std::numeric_limits<int64_t>::min() &&
         x <= std::numeric_limits<int64_t>::max();
}

Wide FloorDivide(Wide x, Wide divisor) {
  const Wide quotient = x / divisor;
  return quotient - (x % divisor < 0 ? 1 : 0);
}

// Nearest integer of x / divisor, ties to even; divisor > 0.
Wide HalfEven(Wide x, Wide divisor) {
  const Wide low = FloorDivide(x, divisor);
  const Wide twice = 2 * (x - low * divisor);
  const bool up = twice > divisor || (twice == divisor && low % 2 != 0);
  return low + (up ? 1 : 0);
}

std::optional<int64_t> Clamped(Wide x, int64_t low, int64_t high) {
  if (low > high) return std::nullopt;
  return static_cast<int64_t>(x < low ? low : x > high ? high : x);
}

// Element of a vector with one element or one a channel.
template <typename T>
std::optional<int64_t> At(const flatbuffers::Vector<T>* vector,
                          int64_t channel) {
  if (vector == nullptr || vector->size() == 0) return std::nullopt;
  if (vector->size() == 1) return static_cast<int64_t>(vector->Get(0));
  if (channel < 0 || channel >= static_cast<int64_t>(vector->size())) {
    return std::nullopt;
  }
  return static_cast<int64_t>(
      vector->Get(static_cast<flatbuffers::uoffset_t>(channel)));
}

// acc * multiplier + addend, if it fits int64.
std::optional<Wide> Product64(int64_t accumulator, int64_t multiplier,
                              int64_t addend) {
  const Wide product = static_cast<Wide>(accumulator) * multiplier;
  const Wide sum = product + addend;
  if (!FitsInt64(product) || !FitsInt64(sum)) return std::nullopt;
  return sum;
}

}  // namespace

std::optional<int64_t> Form::Threshold(int64_t accumulator,
                                       int64_t channel) const {
  const format::Span<int64_t> all = format::View(requant_->thresholds());
  const int64_t count = requant_->threshold_count();
  const std::optional<int64_t> first = At(requant_->first_codes(), channel);
  if (!first || count == 0 || all.size % count != 0) return std::nullopt;
  const int64_t row = all.size == count ? 0 : channel;
  if (row < 0 || (row + 1) * count > all.size) return std::nullopt;
  const int64_t* begin = all.data + row * count;
  const int64_t passed =
      std::upper_bound(begin, begin + count, accumulator) - begin;
  const bool falls = At(requant_->decreasing(), channel).value_or(0) != 0;
  return Clamped(static_cast<Wide>(*first) + (falls ? -passed : passed),
                 requant_->lo(), requant_->hi());
}

std::optional<std::string> Form::Fault() const {
  if (raw() || requant_->form() != format::RequantForm::THRESHOLDS) {
    return std::nullopt;
  }
  const format::Span<int64_t> all = format::View(requant_->thresholds());
  const int64_t count = requant_->threshold_count();
  for (int64_t i = 1; i < all.size; ++i) {
    if (i % std::max<int64_t>(count, 1) != 0 && all.data[i] < all.data[i - 1]) {
      return "thresholds that do not ascend";
    }
  }
  return std::nullopt;
}

std::optional<int64_t> Form::Code(int64_t accumulator, int64_t channel) const {
  const format::RequantForm form = requant_->form();
  if (form == format::RequantForm::THRESHOLDS) {
    return Threshold(accumulator, channel);
  }
  const std::optional<int64_t> m = At(requant_->multipliers(), channel);
  const std::optional<int64_t> c = At(requant_->addends(), channel);
  if (!m || !c) return std::nullopt;
  const int64_t low = requant_->lo();
  const int64_t high = requant_->hi();
  if (form == format::RequantForm::REMAINDER) {
    const std::optional<int64_t> d = At(requant_->divisors(), channel);
    const std::optional<Wide> sum = Product64(accumulator, *m, *c);
    if (!d || *d <= 0 || !sum) return std::nullopt;
    return Clamped(HalfEven(*sum, *d) + requant_->zero(), low, high);
  }
  const std::optional<int64_t> s = At(requant_->shifts(), channel);
  const int most =
      form == format::RequantForm::MUL128 ? kMostShift128 : kMostShift64;
  if (!s || *s > most) return std::nullopt;
  if (form == format::RequantForm::MUL128) {
    const std::optional<int64_t> top = At(requant_->addends_high(), channel);
    if (!top) return std::nullopt;
    const Wide addend = static_cast<Wide>(
        static_cast<UnsignedWide>(static_cast<Wide>(*top)) << 64 |
        static_cast<uint64_t>(*c));
    Wide sum = 0;
    if (__builtin_add_overflow(static_cast<Wide>(accumulator) * *m, addend,
                               &sum)) {
      return std::nullopt;
    }
    return Clamped(sum >> *s, low, high);
  }
  const std::optional<Wide> sum = Product64(accumulator, *m, *c);
  if (!sum) return std::nullopt;
  if (form == format::RequantForm::HALF_EVEN64) {
    return Clamped(HalfEven(*sum, Wide{1} << *s) + requant_->zero(), low, high);
  }
  if (form != format::RequantForm::MUL64 || *m != static_cast<int32_t>(*m)) {
    return std::nullopt;
  }
  return Clamped(*sum >> *s, low, high);
}

std::optional<int64_t> PairCode(const format::Add2Parameters& parameters,
                                int64_t a, int64_t b) {
  const Wide first = static_cast<Wide>(a) * parameters.a_multiplier();
  const Wide second = static_cast<Wide>(b) * parameters.b_multiplier();
  const Wide sum = first + second + parameters.addend();
  if (!FitsInt64(first) || !FitsInt64(second) || !FitsInt64(first + second) ||
      !FitsInt64(sum) || parameters.shift() > kMostShift64) {
    return std::nullopt;
  }
  const int64_t low = parameters.lo();
  const int64_t high = parameters.hi();
  switch (parameters.form()) {
    case format::PairForm::MUL64:
      return Clamped(sum >> parameters.shift(), low, high);
    case format::PairForm::HALF_EVEN64:
      return Clamped(
          HalfEven(sum, Wide{1} << parameters.shift()) + parameters.zero(), low,
          high);
    case format::PairForm::REMAINDER:
      if (parameters.divisor() <= 0) return std::nullopt;
      return Clamped(HalfEven(sum, parameters.divisor()) + parameters.zero(),
                     low, high);
  }
  return std::nullopt;
}

std::string Describe(const Mismatch& mismatch) {
  return "at " + std::to_string(mismatch.argument) + " expected code " +
         std::to_string(mismatch.expected) + ", got " +
         (mismatch.got ? std::to_string(*mismatch.got)
                       : std::string("an overflow"));
}

std::optional<Mismatch> CompareMonotone(
    const StepFunction& ideal,
    const std::function<std::optional<int64_t>(int64_t)>& function) {
  for (size_t i = 0; i < ideal.pieces.size(); ++i) {
    const Piece& piece = ideal.pieces[i];
    const int64_t last = i + 1 < ideal.pieces.size()
                             ? ideal.pieces[i + 1].start - 1
                             : ideal.last;
    for (const int64_t argument : {piece.start, last}) {
      const std::optional<int64_t> got = function(argument);
      if (got != piece.code) return Mismatch{argument, piece.code, got};
    }
  }
  return std::nullopt;
}

std::optional<Mismatch> CompareEverywhere(
    const StepFunction& ideal,
    const std::function<std::optional<int64_t>(int64_t)>& function) {
  size_t i = 0;
  for (int64_t argument = ideal.first; argument <= ideal.last; ++argument) {
    while (i + 1 < ideal.pieces.size() &&
           ideal.pieces[i + 1].start <= argument) {
      ++i;
    }
    const std::optional<int64_t> got = function(argument);
    if (got != ideal.pieces[i].code) {
      return Mismatch{argument, ideal.pieces[i].code, got};
    }
  }
  return std::nullopt;
}

}  // namespace fold::check
