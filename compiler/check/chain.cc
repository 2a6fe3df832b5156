#include "compiler/check/chain.h"

#include <algorithm>
#include <utility>

namespace fold::check {
namespace {

const Number& At(const std::vector<Number>& constants, size_t index) {
  return constants[constants.size() == 1 ? 0 : index];
}

bool Inside(const Interval& inner, const Interval& outer) {
  if (outer.low && !(inner.low && *outer.low <= *inner.low)) return false;
  if (outer.high && !(inner.high && *inner.high <= *outer.high)) return false;
  return true;
}

Number ClampNumber(const Interval& to, const Number& x) {
  if (to.low && x < *to.low) return *to.low;
  if (to.high && *to.high < x) return *to.high;
  return x;
}

std::optional<Number> ClampEnd(const Interval& to,
                               const std::optional<Number>& x,
                               const std::optional<Number>& instead) {
  if (!x) return instead;
  return ClampNumber(to, *x);
}

Interval StepImage(const Step& step, const Interval& x) {
  Interval y;
  switch (step.kind) {
    case Step::Kind::kAffine: {
      const Number& scale = step.scale[0];
      const int sign = scale.decidable() ? scale.Sign() : 0;
      if (sign == 0) return {step.offset[0], step.offset[0]};
      if (x.low) y.low = scale * *x.low + step.offset[0];
      if (x.high) y.high = scale * *x.high + step.offset[0];
      if (sign < 0) std::swap(y.low, y.high);
      return y;
    }
    case Step::Kind::kClamp:
      y.low = ClampEnd(step.clamp, x.low, step.clamp.low);
      y.high = ClampEnd(step.clamp, x.high, step.clamp.high);
      return y;
    case Step::Kind::kRound:
      if (x.low) y.low = Number(mpq_class(RoundTo(step.rounding, *x.low)));
      if (x.high) y.high = Number(mpq_class(RoundTo(step.rounding, *x.high)));
      return y;
    case Step::Kind::kOver:
      return y;
  }
  return y;
}

// Farther from 0 than any code times any scale.
Number Beyond(int sign) {
  mpz_class huge;
  mpz_ui_pow_ui(huge.get_mpz_t(), 10, 300);
  return Number(mpq_class(huge * sign));
}

Number Divided(const Number& numerator, const Number& x) {
  return x == Number(0) ? Beyond(numerator.Sign()) : numerator / x;
}

bool IntegerEnds(const Interval& interval) {
  return (!interval.low || interval.low->integer()) &&
         (!interval.high || interval.high->integer());
}

// Builds a reduced chain step by step.
class Reducer {
 public:
  Reducer(Interval domain, bool integers)
      : range_(std::move(domain)), integers_(integers) {
    before_affine_ = integers_;
  }

  void Add(const Step& step, size_t index) {
    switch (step.kind) {
      case Step::Kind::kAffine:
        return AddAffine(At(step.scale, index), At(step.offset, index));
      case Step::Kind::kClamp:
        return AddClamp(step);
      case Step::Kind::kRound:
        if (!integers_ || step.rounding == Rounding::kSign) Push(step);
        integers_ = true;
        return;
      case Step::Kind::kOver:
        Push(Over({At(step.scale, index)}));
        integers_ = before_affine_ = false;
        return;
    }
  }

  Chain Take() { return std::move(chain_); }

 private:
  void Push(Step step) {
    range_ = StepImage(step, range_);
    chain_.push_back(std::move(step));
  }

  void AddAffine(const Number& scale, const Number& offset) {
    Number a = scale;
    Number b = offset;
    range_ = StepImage(Affine(a, b), range_);
    if (!chain_.empty() && chain_.back().kind == Step::Kind::kAffine) {
      b = scale * chain_.back().offset[0] + offset;
      a = scale * chain_.back().scale[0];
      chain_.pop_back();
    } else {
      before_affine_ = integers_;
    }
    integers_ = before_affine_ && a.integer() && b.integer();
    if (a == Number(1) && b == Number(0)) return;
    chain_.push_back(Affine(a, b));
  }

  void AddClamp(const Step& step) {
    if (Inside(range_, step.clamp)) return;
    Push(step);
    integers_ = integers_ && IntegerEnds(step.clamp);
  }

  Chain chain_;
  Interval range_;
  bool integers_;
  bool before_affine_;
};

HalfLine PullAffine(const Step& step, HalfLine results) {
  const Number& scale = step.scale[0];
  if (scale.Sign() == 0) {
    const bool in = results.Contains(step.offset[0]);
    return {in ? HalfLine::Kind::kAll : HalfLine::Kind::kNone};
  }
  results.bound = (results.bound - step.offset[0]) / scale;
  if (scale.Sign() < 0) {
    results.kind = results.kind == HalfLine::Kind::kAbove
                       ? HalfLine::Kind::kBelow
                       : HalfLine::Kind::kAbove;
  }
  return results;
}

HalfLine PullClamp(const Step& step, HalfLine results) {
  const bool above = results.kind == HalfLine::Kind::kAbove;
  const auto& first = above ? step.clamp.low : step.clamp.high;
  const auto& last = above ? step.clamp.high : step.clamp.low;
  if (first && results.Contains(*first)) return {HalfLine::Kind::kAll};
  if (last && !results.Contains(*last)) return {HalfLine::Kind::kNone};
  return results;
}

// Results of at least m start at one point; those of at most m end where m + 1
// starts.
HalfLine PullRound(Rounding rounding, HalfLine results) {
  const bool above = results.kind == HalfLine::Kind::kAbove;
  mpz_class m;
  if (above) {
    m = results.strict ? results.bound.Floor() + 1 : results.bound.Ceil();
  } else {
    m = results.strict ? results.bound.Ceil() - 1 : results.bound.Floor();
  }
  if (!above) m += 1;
  if (rounding == Rounding::kSign && (m < 0 || m > 1)) {
    return {(m < 0) == above ? HalfLine::Kind::kAll : HalfLine::Kind::kNone};
  }
  RoundingStart start = StartOf(rounding, m);
  results.strict = start.strict == above;
  results.bound = Number(std::move(start.from));
  return results;
}

// The first integer of a half-line that is unbounded above.
mpz_class FirstInteger(const Number& bound, bool strict) {
  return strict ? mpz_class(bound.Floor() + 1) : bound.Ceil();
}

// FirstInteger((bound - offset) / scale) for rationals, without reducing the
// fractions: by far the most frequent question.
mpz_class FirstIntegerThroughAffine(const mpq_class& scale,
                                    const mpq_class& offset,
                                    const mpq_class& bound, bool strict) {
  mpz_class numerator =
      bound.get_num() * offset.get_den() - offset.get_num() * bound.get_den();
  numerator *= scale.get_den();
  mpz_class denominator = bound.get_den() * offset.get_den();
  denominator *= scale.get_num();
  mpz_class result;
  if (strict) {
    mpz_fdiv_q(result.get_mpz_t(), numerator.get_mpz_t(),
               denominator.get_mpz_t());
    result += 1;
  } else {
    mpz_cdiv_q(result.get_mpz_t(), numerator.get_mpz_t(),
               denominator.get_mpz_t());
  }
  return result;
}

// Finds where a chain reaches a code, over integers.
class Thresholds {
 public:
  Thresholds(const Chain& reduced, int64_t first, int64_t last)
      : rest_(reduced), first_(first), last_(last) {
    if (!reduced.empty() && reduced[0].kind == Step::Kind::kAffine &&
        reduced[0].scale[0].rational() && reduced[0].offset[0].rational() &&
        reduced[0].scale[0].Sign() != 0) {
      affine_ = &reduced[0];
      rest_.erase(rest_.begin());
    }
  }

  // The first integer in first..last whose result is in `results`, a
  // half-line that its last integer is in.
  int64_t First(const HalfLine& results) const {
    HalfLine line = PullBack(rest_, results);
    mpz_class start;
    if (affine_ != nullptr && line.bound.rational() &&
        line.kind != HalfLine::Kind::kAll) {
      start = FirstIntegerThroughAffine(
          affine_->scale[0].rational_part(), affine_->offset[0].rational_part(),
          line.bound.rational_part(), line.strict);
    } else {
      if (affine_ != nullptr) line = PullBack({*affine_}, line);
      if (line.kind == HalfLine::Kind::kAll) return first_;
      start = FirstInteger(line.bound, line.strict);
    }
    if (start <= Integer(first_)) return first_;
    return start > Integer(last_) ? last_ : start.get_si();
  }

 private:
  Chain rest_;
  const Step* affine_ = nullptr;
  int64_t first_;
  int64_t last_;
};

}  // namespace

Interval Whole(int64_t low, int64_t high) {
  return {Number(low), Number(high)};
}

Interval Union(const Interval& x, const Interval& y) {
  Interval z;
  if (x.low && y.low) z.low = *x.low < *y.low ? *x.low : *y.low;
  if (x.high && y.high) z.high = *x.high < *y.high ? *y.high : *x.high;
  return z;
}

Step Affine(std::vector<Number> scale, std::vector<Number> offset) {
  Step step;
  step.kind = Step::Kind::kAffine;
  step.scale = std::move(scale);
  step.offset = std::move(offset);
  return step;
}

Step Affine(Number scale, Number offset) {
  return Affine(std::vector<Number>{std::move(scale)},
                std::vector<Number>{std::move(offset)});
}

Step Clamp(Interval interval) {
  Step step;
  step.kind = Step::Kind::kClamp;
  step.clamp = std::move(interval);
  return step;
}

Step Round(Rounding rounding) {
  Step step;
  step.rounding = rounding;
  return step;
}

Step Over(std::vector<Number> numerator) {
  Step step;
  step.kind = Step::Kind::kOver;
  step.offset.assign(numerator.size(), Number(0));
  step.scale = std::move(numerator);
  return step;
}

Chain Reduce(const Chain& chain, size_t index, const Interval& domain,
             bool integers) {
  Reducer reducer(domain, integers);
  for (const Step& step : chain) reducer.Add(step, index);
  return reducer.Take();
}

Number Evaluate(const Chain& reduced, const Number& x) {
  Number y = x;
  for (const Step& step : reduced) {
    switch (step.kind) {
      case Step::Kind::kAffine:
        y = step.scale[0] * y + step.offset[0];
        break;
      case Step::Kind::kClamp:
        y = ClampNumber(step.clamp, y);
        break;
      case Step::Kind::kRound:
        y = Number(mpq_class(RoundTo(step.rounding, y)));
        break;
      case Step::Kind::kOver:
        y = Divided(step.scale[0], y);
        break;
    }
  }
  return y;
}

Interval Image(const Chain& reduced, const Interval& domain) {
  Interval range = domain;
  for (const Step& step : reduced) range = StepImage(step, range);
  return range;
}

std::optional<std::string> Undecidable(const Chain& reduced) {
  for (const Step& step : reduced) {
    if (step.kind == Step::Kind::kAffine &&
        !(step.scale[0].decidable() && step.offset[0].decidable())) {
      return "constants that are not decidable here (division by zero, an "
             "infinity, or two unrelated square roots)";
    }
    if (step.kind == Step::Kind::kOver && !step.scale[0].rational()) {
      return "a dividend that is not rational";
    }
  }
  return std::nullopt;
}

bool HalfLine::Contains(const Number& x) const {
  if (kind == Kind::kNone || kind == Kind::kAll) return kind == Kind::kAll;
  const int side = (x - bound).Sign();
  if (side == 0) return !strict;
  return (side > 0) == (kind == Kind::kAbove);
}

bool operator==(const HalfLine& x, const HalfLine& y) {
  if (x.kind != y.kind) return false;
  if (x.kind == HalfLine::Kind::kNone || x.kind == HalfLine::Kind::kAll) {
    return true;
  }
  return x.strict == y.strict && x.bound == y.bound;
}

HalfLine PullBack(const Chain& reduced, HalfLine results) {
  for (size_t i = reduced.size(); i-- > 0;) {
    if (results.kind == HalfLine::Kind::kNone ||
        results.kind == HalfLine::Kind::kAll) {
      return results;
    }
    switch (reduced[i].kind) {
      case Step::Kind::kAffine:
        results = PullAffine(reduced[i], std::move(results));
        break;
      case Step::Kind::kClamp:
        results = PullClamp(reduced[i], std::move(results));
        break;
      case Step::Kind::kRound:
        results = PullRound(reduced[i].rounding, std::move(results));
        break;
      case Step::Kind::kOver:  // no half-line: see Over
        return {HalfLine::Kind::kNone};
    }
  }
  return results;
}

namespace {

// What a value that is not a number would have to pass on its way to the
// rounding other than scales: then 0 does not stand for it.
bool MovesZeroAfterDivision(const Chain& reduced) {
  bool divided = false;
  for (const Step& step : reduced) {
    if (step.kind == Step::Kind::kOver) {
      divided = true;
    } else if (step.kind == Step::Kind::kRound) {
      divided = false;
    } else if (divided && !(Evaluate({step}, Number(0)) == Number(0))) {
      return true;
    }
  }
  return false;
}

// Steps of a chain that is not monotone.
std::optional<std::string> PointwiseSteps(const Chain& reduced, int64_t first,
                                          int64_t last,
                                          StepFunction* function) {
  constexpr int64_t kMostPoints = 65536;
  if (last - first >= kMostPoints) return "a division of more than 16 bits";
  if (MovesZeroAfterDivision(reduced)) {
    return "an addition behind a division that may not be a number";
  }
  function->first = first;
  function->last = last;
  function->pieces.clear();
  for (int64_t x = first; x <= last; ++x) {
    const Number y = Evaluate(reduced, Number(x));
    if (!y.FitsInt64()) return "the value is not an integer code";
    if (!function->pieces.empty() &&
        function->pieces.back().code == y.ToInt64()) {
      continue;
    }
    function->pieces.push_back({x, y.ToInt64()});
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Steps(const Chain& reduced, int64_t first,
                                 int64_t last, StepFunction* function) {
  if (auto why = Undecidable(reduced)) return why;
  for (const Step& step : reduced) {
    if (step.kind == Step::Kind::kOver) {
      return PointwiseSteps(reduced, first, last, function);
    }
  }
  const Number at_first = Evaluate(reduced, Number(first));
  const Number at_last = Evaluate(reduced, Number(last));
  if (!at_first.FitsInt64() || !at_last.FitsInt64()) {
    return "the value is not an integer code";
  }
  const int64_t from = at_first.ToInt64();
  const int64_t to = at_last.ToInt64();
  constexpr int64_t kMostCodes = int64_t{1} << 20;
  if ((mpz_class(Integer(to) - Integer(from))) > kMostCodes ||
      (mpz_class(Integer(from) - Integer(to))) > kMostCodes) {
    return "more than 2^20 codes";
  }
  function->first = first;
  function->last = last;
  function->pieces = {{first, from}};
  const Thresholds thresholds(reduced, first, last);
  const int64_t direction = to >= from ? 1 : -1;
  HalfLine reached;
  reached.kind =
      direction > 0 ? HalfLine::Kind::kAbove : HalfLine::Kind::kBelow;
  for (int64_t code = from; code != to;) {
    code += direction;
    reached.bound = Number(code);
    const int64_t start = thresholds.First(reached);
    if (function->pieces.back().start == start) {
      function->pieces.back().code = code;
    } else {
      function->pieces.push_back({start, code});
    }
  }
  return std::nullopt;
}

}  // namespace fold::check
