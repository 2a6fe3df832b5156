#include "compiler/exact/choose_requant.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <variant>

#include "compiler/exact/form_search.h"
#include "compiler/exact/piecewise.h"

namespace fold::exact {
namespace {

// Step functions beyond this many thresholds in total are computed again
// instead of kept (512 MiB would be little fun for a 16-bit network).
constexpr std::size_t kKeptThresholds = std::size_t{1} << 22;

// A problem as bytes, equal if and only if the problems are.
class ProblemKey {
 public:
  explicit ProblemKey(const ChannelProblem& problem) {
    Append(problem.acc_low);
    Append(problem.acc_high);
    for (const ChainStep& step : problem.steps) {
      bytes_.push_back(static_cast<char>('0' + step.index()));
      std::visit([this](const auto& s) { AppendStep(s); }, step);
    }
    const Quantization& q = problem.quantization;
    bytes_.push_back('q');
    Append(q.scale);
    const CodeRange range = EffectiveRange(q);
    Append(q.zero_point);
    Append(range.low);
    Append(range.high);
  }

  std::string Take() { return std::move(bytes_); }

 private:
  void Append(std::int64_t value) {
    for (int i = 0; i < 8; ++i) {
      bytes_.push_back(
          static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i)));
    }
  }
  void Append(const Integer& value) {
    const std::size_t limbs = mpz_size(value.get_mpz_t());
    bytes_.push_back(static_cast<char>(sgn(value)));
    Append(static_cast<std::int64_t>(limbs));
    for (std::size_t i = 0; i < limbs; ++i) {
      Append(static_cast<std::int64_t>(mpz_getlimbn(value.get_mpz_t(), i)));
    }
  }
  void Append(const Rational& value) {
    Append(value.get_num());
    Append(value.get_den());
  }
  void Append(const std::optional<Rational>& value) {
    bytes_.push_back(value ? '1' : '0');
    if (value) Append(*value);
  }
  void AppendStep(const Multiply& step) { Append(step.factor); }
  void AppendStep(const Add& step) { Append(step.addend); }
  void AppendStep(const Divide& step) { Append(step.divisor); }
  void AppendStep(const BatchNorm& step) {
    for (const Rational* value :
         {&step.gamma, &step.beta, &step.mean, &step.variance, &step.epsilon}) {
      Append(*value);
    }
  }
  void AppendStep(const Relu&) {}
  void AppendStep(const Clip& step) {
    Append(step.low);
    Append(step.high);
  }
  void AppendStep(const LeakyRelu& step) { Append(step.slope); }
  void AppendStep(const Reciprocal& step) { Append(step.numerator); }

  std::string bytes_;
};

// The clamp that one channel needs on one side: exactly `code`, or anything
// that does not cut off `code`.
struct ClampNeed {
  bool forced = false;
  std::int64_t code = 0;
};

struct DistinctChannel {
  const ChannelProblem* problem = nullptr;
  std::vector<Piece> pieces;
  std::optional<StepFunction> kept_steps;
  ClampNeed low, high;
  std::int64_t clamp_low = 0, clamp_high = 0;
  ChannelStatistics statistics;
  FormParameters parameters;
  RequantForm solved_form = RequantForm::kMultiply64;

  StepFunction Steps() const {
    return kept_steps ? *kept_steps : IdealSteps(pieces, *problem);
  }
};

// A constant end piece or a saturated end needs its clamp; an end that the
// accumulator does not drive that far does not.
void FindClampNeeds(const StepFunction& ideal, DistinctChannel* channel) {
  const CodeRange range = EffectiveRange(channel->problem->quantization);
  const std::int64_t first = ideal.first_code, last = ideal.LastCode();
  channel->low.code = std::min(first, last);
  channel->high.code = std::max(first, last);
  if (first == last) return;
  const std::vector<Piece>& pieces = channel->pieces;
  const bool first_flat = pieces.front().slope.IsZero();
  const bool last_flat = pieces.back().slope.IsZero();
  channel->low.forced = channel->low.code == range.low ||
                        (ideal.increasing ? first_flat : last_flat);
  channel->high.forced = channel->high.code == range.high ||
                         (ideal.increasing ? last_flat : first_flat);
}

class Chooser {
 public:
  Chooser(std::span<const ChannelProblem> problems, FormSet allowed)
      : problems_(problems), allowed_(allowed) {}

  RequantResult Run() {
    if (!Prepare()) return std::move(result_);
    ChooseClamps();
    if (!SolveEachAlone() || !AgreeOnForm()) return std::move(result_);
    FillPlan();
    return std::move(result_);
  }

 private:
  bool Prepare() {
    std::map<std::string, std::size_t> seen;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < problems_.size(); ++i) {
      const ChannelProblem& problem = problems_[i];
      if (auto fault = FindFault(problem)) return Refuse(i, *fault);
      const auto [it, is_new] =
          seen.emplace(ProblemKey(problem).Take(), distinct_.size());
      channel_of_problem_.push_back(it->second);
      if (!is_new) continue;
      DistinctChannel channel;
      channel.problem = &problem;
      channel.pieces = ScaledPieces(problem);
      StepFunction steps = IdealSteps(channel.pieces, problem);
      channel.statistics.thresholds = steps.thresholds.size();
      channel.statistics.tie_reachable = steps.tie_reachable;
      FindClampNeeds(steps, &channel);
      kept += steps.thresholds.size();
      if (kept <= kKeptThresholds) channel.kept_steps = std::move(steps);
      distinct_.push_back(std::move(channel));
      first_problem_.push_back(i);
    }
    return true;
  }

  // One clamp for all channels where their needs agree.
  void ChooseClamps() {
    if (distinct_.empty()) return;
    plan_.common_clamp = true;
    const CodeRange first = EffectiveRange(distinct_[0].problem->quantization);
    plan_.low = first.low;
    plan_.high = first.high;
    plan_.zero_point = distinct_[0].problem->quantization.zero_point;
    for (const DistinctChannel& channel : distinct_) {
      const CodeRange range = EffectiveRange(channel.problem->quantization);
      if (range.low != first.low || range.high != first.high) {
        plan_.common_clamp = false;
      }
      if (channel.problem->quantization.zero_point != plan_.zero_point) {
        plan_.common_zero_point = false;
      }
      if (channel.low.forced) plan_.low = channel.low.code;
      if (channel.high.forced) plan_.high = channel.high.code;
    }
    for (const DistinctChannel& channel : distinct_) {
      const bool low_fits = channel.low.forced ? channel.low.code == plan_.low
                                               : channel.low.code >= plan_.low;
      const bool high_fits = channel.high.forced
                                 ? channel.high.code == plan_.high
                                 : channel.high.code <= plan_.high;
      if (!low_fits || !high_fits) plan_.common_clamp = false;
    }
    for (DistinctChannel& channel : distinct_) {
      const CodeRange range = EffectiveRange(channel.problem->quantization);
      channel.clamp_low = plan_.common_clamp   ? plan_.low
                          : channel.low.forced ? channel.low.code
                                               : range.low;
      channel.clamp_high = plan_.common_clamp    ? plan_.high
                           : channel.high.forced ? channel.high.code
                                                 : range.high;
    }
  }

  bool Solve(RequantForm form, DistinctChannel* channel) {
    const StepFunction steps = channel->Steps();
    FormSearchInput input;
    input.ideal = &steps;
    input.main_piece = MainPiece(channel->pieces, steps);
    input.low = channel->clamp_low;
    input.high = channel->clamp_high;
    input.zero_point = channel->problem->quantization.zero_point;
    auto found = FindForm(form, input, &channel->statistics.candidates_tried);
    if (!found) return false;
    channel->parameters = std::move(*found);
    channel->solved_form = form;
    return true;
  }

  bool Allowed(int form) const { return (allowed_ >> form & 1) != 0; }

  bool SolveEachAlone() {
    for (std::size_t i = 0; i < distinct_.size(); ++i) {
      DistinctChannel& channel = distinct_[i];
      int form = 0;
      while (form < kRequantFormCount &&
             !(Allowed(form) && Solve(RequantForm{form}, &channel))) {
        ++form;
      }
      if (form == kRequantFormCount) {
        return Refuse(first_problem_[i], "no allowed form is exact");
      }
      channel.statistics.cheapest = RequantForm{form};
      lowest_form_ = std::max(lowest_form_, form);
    }
    return true;
  }

  // The cheapest form from lowest_form_ on that solves every channel.
  bool AgreeOnForm() {
    std::size_t obstacle = 0;
    for (int form = lowest_form_; form < kRequantFormCount; ++form) {
      if (!Allowed(form)) continue;
      plan_.form = RequantForm{form};
      const auto unsolved = std::find_if(
          distinct_.begin(), distinct_.end(), [this](DistinctChannel& channel) {
            return channel.solved_form != plan_.form &&
                   !Solve(plan_.form, &channel);
          });
      if (unsolved == distinct_.end()) return true;
      obstacle = unsolved - distinct_.begin();
    }
    return Refuse(first_problem_[obstacle],
                  "no allowed form is exact for all channels");
  }

  void FillPlan() {
    plan_.fits_int32_before_clamp = true;
    for (const DistinctChannel& channel : distinct_) {
      plan_.fits_int32_before_clamp &= FitsInt32BeforeClamp(
          plan_.form, channel.parameters, channel.problem->acc_low,
          channel.problem->acc_high);
    }
    for (std::size_t i = 0; i < problems_.size(); ++i) {
      const DistinctChannel& channel = distinct_[channel_of_problem_[i]];
      plan_.channels.push_back(channel.parameters);
      result_.statistics.push_back(channel.statistics);
      result_.statistics.back().reused =
          first_problem_[channel_of_problem_[i]] != i;
    }
    result_.plan = std::move(plan_);
  }

  bool Refuse(std::size_t problem, const std::string& reason) {
    result_.refusal = "channel " + std::to_string(problem) + ": " + reason;
    return false;
  }

  std::span<const ChannelProblem> problems_;
  FormSet allowed_;
  RequantResult result_;
  RequantPlan plan_;
  std::vector<DistinctChannel> distinct_;
  std::vector<std::size_t> channel_of_problem_;
  std::vector<std::size_t> first_problem_;  // of each distinct channel
  int lowest_form_ = 0;
};

}  // namespace

RequantResult ChooseRequant(std::span<const ChannelProblem> problems,
                            FormSet allowed) {
  return Chooser(problems, allowed).Run();
}

}  // namespace fold::exact
