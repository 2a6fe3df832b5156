#include "compiler/annotate/written_grid.h"

#include <algorithm>
#include <cmath>

#include "compiler/exact/rational.h"

namespace fold {
namespace {

using exact::Integer;
using exact::Rational;
using Kind = WrittenStep::Kind;

constexpr int64_t kMostCodes = 65536;

bool IsRounding(Kind kind) {
  return kind == Kind::kRound || kind == Kind::kFloor || kind == Kind::kCeil ||
         kind == Kind::kToInteger;
}

bool IsWhole(const Rational& x) { return x.get_den() == 1; }

Rational Half() { return exact::Fraction(1, 2); }

double NumberAt(const WrittenStep& step, int64_t channel) {
  return step.numbers[step.numbers.size() == 1 ? 0 : channel];
}

Rational Rounded(Kind kind, const Rational& x) {
  switch (kind) {
    case Kind::kFloor:
      return Rational(exact::Floor(x));
    case Kind::kCeil:
      return Rational(-exact::Floor(Rational(-x)));
    case Kind::kToInteger:
      return x < 0 ? Rational(-exact::Floor(Rational(-x)))
                   : Rational(exact::Floor(x));
    default:
      return Rational(exact::RoundHalfEven(x));
  }
}

// slope * v + offset, limited to [low, high], of some number v.
struct Line {
  Rational slope = 1, offset = 0;
  std::optional<Rational> low, high;

  void Scale(const Rational& factor) {
    slope *= factor;
    offset *= factor;
    if (low) *low *= factor;
    if (high) *high *= factor;
  }
  void Shift(const Rational& addend) {
    offset += addend;
    if (low) *low += addend;
    if (high) *high += addend;
  }
  void AtLeast(const Rational& bound) {
    low = low ? std::max(*low, bound) : bound;
    if (high) high = std::max(*high, bound);
  }
  void AtMost(const Rational& bound) {
    high = high ? std::min(*high, bound) : bound;
    if (low) low = std::min(*low, bound);
  }
  // Every value is a whole number if v is one.
  bool IsWholeLine() const {
    return IsWhole(slope) && IsWhole(offset) && (!low || IsWhole(*low)) &&
           (!high || IsWhole(*high));
  }
};

// The steps of one channel.
class Channel {
 public:
  Channel(std::span<const WrittenStep> steps, int64_t channel)
      : steps_(steps), channel_(channel) {}

  // "" or why the steps are no quantization.
  std::string Run() {
    for (const WrittenStep& step : steps_) {
      std::string why = IsRounding(step.kind) ? Round(step) : Move(step);
      if (!why.empty()) return why;
    }
    return rounded_ ? Conclude() : "nothing is rounded";
  }

  Rational scale, factor;
  int64_t zero_point = 0, code_low = 0, code_high = 0;
  Rounding rounding = Rounding::kHalfEven;

 private:
  std::string Move(const WrittenStep& step) {
    if (step.kind == Kind::kNothing) return "";
    const double written = NumberAt(step, channel_);
    if (step.kind == Kind::kAtLeast && written == -INFINITY) return "";
    if (step.kind == Kind::kAtMost && written == INFINITY) return "";
    if (!std::isfinite(written)) return "a constant is not finite";
    const Rational number = exact::FromDouble(written);
    switch (step.kind) {
      case Kind::kMultiply:
      case Kind::kDivide:
        if (number <= 0) return "a factor is not greater than zero";
        line_.Scale(step.kind == Kind::kMultiply ? number
                                                 : Rational(1 / number));
        return "";
      case Kind::kAdd:
        line_.Shift(number);
        return "";
      case Kind::kSubtract:
        line_.Shift(-number);
        return "";
      case Kind::kAtLeast:
        line_.AtLeast(number);
        return "";
      default:
        line_.AtMost(number);
        return "";
    }
  }

  std::string Round(const WrittenStep& step) {
    if (step.kind == Kind::kToInteger) {
      const bool inside =
          line_.low && line_.high &&
          Rounded(step.kind, *line_.low) >= exact::FromInt64(step.low) &&
          Rounded(step.kind, *line_.high) <= exact::FromInt64(step.high);
      if (!inside) return "a Cast can leave its type's range";
    }
    if (rounded_) {
      return line_.IsWholeLine() ? "" : "what is rounded is rounded again";
    }
    rounded_ = true;
    std::string why = ReadRounding(step.kind);
    if (!why.empty()) return why;
    factor = line_.slope;
    const auto bound = [&](const std::optional<Rational>& at) {
      return at ? std::optional(Rounded(step.kind, *at)) : std::nullopt;
    };
    line_ = {1, 0, bound(line_.low), bound(line_.high)};
    return "";
  }

  // rounding(q + offset) = rounding'(q) + zero point.
  std::string ReadRounding(Kind kind) {
    Rational whole = line_.offset;
    if (kind == Kind::kToInteger && line_.low && *line_.low >= 0) {
      kind = Kind::kFloor;
    }
    if (kind == Kind::kFloor && IsWhole(Rational(whole - Half()))) {
      whole -= Half();
      rounding = Rounding::kHalfUp;
    } else if (kind == Kind::kFloor) {
      rounding = Rounding::kFloor;
    } else if (kind == Kind::kCeil) {
      rounding = Rounding::kCeil;
    } else if (kind == Kind::kToInteger) {
      rounding = Rounding::kToZero;
      if (whole != 0) return "a Cast towards zero has a zero point";
    }
    if (!IsWhole(whole)) {
      return "what is added before the rounding is no whole number of steps";
    }
    if (!exact::FitsInt64(whole.get_num())) return "its zero point is too far";
    zero_point = exact::ToInt64(whole.get_num());
    if (kind == Kind::kRound && zero_point % 2 != 0) {
      rounding = Rounding::kHalfOdd;
    }
    return "";
  }

  std::string Conclude() {
    scale = line_.slope;
    factor *= scale;
    if (line_.offset != Rational(-scale * exact::FromInt64(zero_point))) {
      return "its grid does not have the zero that it rounds with";
    }
    if (!line_.low || !line_.high) return "nothing bounds its codes";
    const Rational low = (*line_.low - line_.offset) / scale;
    const Rational high = (*line_.high - line_.offset) / scale;
    if (!IsWhole(low) || !IsWhole(high)) {
      return "a bound lies between two steps of its grid";
    }
    if (low >= high || high - low >= exact::FromInt64(kMostCodes) ||
        low < exact::FromInt64(-kMostCodes) ||
        high > exact::FromInt64(kMostCodes)) {
      return "it has no codes of 16 bits";
    }
    code_low = exact::ToInt64(low.get_num());
    code_high = exact::ToInt64(high.get_num());
    if (zero_point < code_low || zero_point > code_high) {
      return "none of its codes is zero";
    }
    return "";
  }

  std::span<const WrittenStep> steps_;
  int64_t channel_;
  Line line_;
  bool rounded_ = false;
};

bool IsDouble(const Rational& x) {
  const double nearest = exact::NearestDouble(x);
  return std::isfinite(nearest) && exact::FromDouble(nearest) == x;
}

// Codes of 8 or else of 16 bits, signed or unsigned.
bool FitsStorage(int64_t low, int64_t high, int64_t count) {
  return (low >= 0 && high < count) || (low >= -count / 2 && high < count / 2);
}

// The codes of all channels. Where they count from is a choice as long as the
// zero point goes with them: from 0 where the smallest storage needs it.
std::string SetCodes(const std::vector<Channel>& channels, Encoding* e) {
  const Channel& first = channels[0];
  const int64_t width = first.code_high - first.code_low;
  bool alike = true;
  for (const Channel& channel : channels) {
    if (channel.code_high - channel.code_low != width ||
        channel.rounding != first.rounding) {
      return "its channels have different codes";
    }
    alike = alike && channel.code_low == first.code_low;
  }
  constexpr int64_t kByte = 256;
  const int64_t count = width < kByte ? kByte : kMostCodes;
  const bool keep =
      alike && FitsStorage(first.code_low, first.code_high, count);
  for (const Channel& channel : channels) {
    e->zero_points.push_back(channel.zero_point -
                             (keep ? 0 : channel.code_low));
  }
  e->code_low = keep ? first.code_low : 0;
  e->code_high = *e->code_low + width;
  e->rounding = first.rounding;
  return "";
}

}  // namespace

bool WrittenGrid::plain() const {
  return std::all_of(factors.begin(), factors.end(),
                     [](double factor) { return factor == 1; });
}

std::optional<WrittenGrid> GridOf(std::span<const WrittenStep> steps,
                                  std::string* why) {
  int64_t channels = 1;
  for (const WrittenStep& step : steps) {
    channels = std::max(channels, static_cast<int64_t>(step.numbers.size()));
  }
  WrittenGrid grid;
  Encoding& e = grid.encoding;
  std::vector<Channel> channels_read;
  for (int64_t c = 0; c < channels; ++c) {
    Channel channel(steps, c);
    *why = channel.Run();
    if (!why->empty()) return std::nullopt;
    if (!IsDouble(channel.scale) || !IsDouble(channel.factor)) {
      *why = "its scale is no float number";
      return std::nullopt;
    }
    channels_read.push_back(channel);
    e.scales.push_back(exact::NearestDouble(channel.scale));
    grid.factors.push_back(exact::NearestDouble(channel.factor));
  }
  if (grid.plain()) grid.factors = {1};
  *why = SetCodes(channels_read, &e);
  return why->empty() ? std::optional(grid) : std::nullopt;
}

double ApplyWritten(std::span<const WrittenStep> steps, double x,
                    int64_t channel) {
  Rational y = exact::FromDouble(x);
  for (const WrittenStep& step : steps) {
    if (IsRounding(step.kind)) {
      y = Rounded(step.kind, y);
      continue;
    }
    if (step.kind == Kind::kNothing) continue;
    const double written = NumberAt(step, channel);
    if (!std::isfinite(written)) continue;  // a bound that does not bind
    const Rational number = exact::FromDouble(written);
    switch (step.kind) {
      case Kind::kMultiply:
        y *= number;
        break;
      case Kind::kDivide:
        y /= number;
        break;
      case Kind::kAdd:
        y += number;
        break;
      case Kind::kSubtract:
        y -= number;
        break;
      case Kind::kAtLeast:
        y = std::max(y, number);
        break;
      default:
        y = std::min(y, number);
        break;
    }
  }
  return exact::NearestDouble(y);
}

}  // namespace fold
