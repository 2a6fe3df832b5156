// Random chains with awkward constants through every form, against the naive
// meaning, at the ends, around thresholds and at random accumulators.
#include <gtest/gtest.h>

#include "compiler/exact/choose_requant.h"
#include "compiler/exact/naive_chain.h"
#include "compiler/exact/table_entry.h"

namespace fold::exact {
namespace {

class RandomChains {
 public:
  explicit RandomChains(std::uint64_t seed) : random_(seed) {}

  ChannelProblem Next() {
    ChannelProblem problem;
    const int reach_bits = static_cast<int>(RandomInt(&random_, 0, 34));
    const std::int64_t reach = std::int64_t{1} << reach_bits;
    const std::int64_t ends[2] = {RandomInt(&random_, -reach, reach),
                                  RandomInt(&random_, -reach, reach)};
    problem.acc_low = std::min(ends[0], ends[1]);
    problem.acc_high = std::max(ends[0], ends[1]);
    problem.steps.push_back(Multiply{Constant(2 - reach_bits / 2)});
    const std::int64_t count = RandomInt(&random_, 0, 4);
    for (std::int64_t i = 0; i < count; ++i) problem.steps.push_back(Step());
    Quantization& q = problem.quantization;
    do {
      q.scale = Constant(-2);
    } while (q.scale == 0);
    q.zero_point = RandomInt(&random_, -140, 140);
    if (RandomInt(&random_, 0, 7) == 0) {
      q.code_low = -2000;
      q.code_high = 3000;
    }
    if (RandomInt(&random_, 0, 3) == 0) q.clamp_low = q.zero_point;
    if (RandomInt(&random_, 0, 3) == 0) q.clamp_high = q.zero_point + 9;
    // Half of them as QuantizeLinear rounds.
    q.rounding = static_cast<Rounding>(std::max<std::int64_t>(
        0, RandomInt(&random_, -9, static_cast<int>(Rounding::kSign))));
    if (q.rounding == Rounding::kSign) {
      q.zero_point = 0;
      q.clamp_low = -1;
      q.clamp_high = 1;
    }
    return problem;
  }

  std::int64_t Between(std::int64_t low, std::int64_t high) {
    return RandomInt(&random_, low, high);
  }

 private:
  // A float, a power of two, a small fraction, a whole number or zero, around
  // 2^exponent.
  Rational Constant(int exponent) {
    Rational value;
    switch (RandomInt(&random_, 0, 9)) {
      case 0:
      case 1:
      case 2:
      case 3:
        value = RandomFloat(&random_, -1, 1);
        break;
      case 4:
      case 5:
        value = Fraction(RandomInt(&random_, 0, 1) * 2 - 1,
                         std::int64_t{1} << RandomInt(&random_, 0, 6));
        break;
      case 6:
      case 7:
        value = Fraction(RandomInt(&random_, -9, 9), RandomInt(&random_, 1, 9));
        break;
      case 8:
        return FromInt64(RandomInt(&random_, -3, 3));
      default:
        value = FromDouble(RandomInt(&random_, 0, 1) != 0 ? 1e25 : 1e-25);
        break;
    }
    if (exponent >= 0) return value * (Integer(1) << exponent);
    return value / (Integer(1) << -exponent);
  }

  Rational Positive(int exponent) {
    Rational value = abs(Constant(exponent));
    return value == 0 ? Rational(1, 3) : value;
  }

  ChainStep Step() {
    switch (RandomInt(&random_, 0, 6)) {
      case 0:
        return Multiply{Constant(0)};
      case 1:
        return Divide{Positive(1)};
      case 2: {
        const Rational root = Positive(0);  // rational, so ties are reached
        return BatchNorm{Constant(0), Constant(0), Constant(0),
                         Rational(root * root), Rational(0)};
      }
      case 3:
        return Relu{};
      case 4:
        return Clip{Constant(1), Constant(3)};
      case 5:
        return LeakyRelu{Positive(-2)};
      default:
        return Add{Constant(2)};
    }
  }

  std::mt19937_64 random_;
};

std::vector<std::int64_t> InterestingPoints(const ChannelProblem& problem,
                                            const StepFunction& ideal,
                                            RandomChains* chains) {
  std::vector<std::int64_t> points = {problem.acc_low, problem.acc_high};
  std::int64_t previous = problem.acc_low;
  for (std::size_t i = 0; i < ideal.thresholds.size(); i += 3) {
    const std::int64_t t = ideal.thresholds[i];
    if (t == previous) continue;
    points.push_back(t - 1);
    points.push_back(t);
    previous = t;
  }
  for (int i = 0; i < 20; ++i) {
    points.push_back(chains->Between(problem.acc_low, problem.acc_high));
  }
  return points;
}

TEST(RandomChains, EveryFormThatIsOfferedIsRight) {
  RandomChains chains(71);
  int solved[kRequantFormCount] = {}, ties = 0;
  for (int i = 0; i < 300; ++i) {
    const ChannelProblem problem = chains.Next();
    ASSERT_EQ(FindFault(problem), std::nullopt);
    const StepFunction ideal = IdealSteps(problem);
    ties += ideal.tie_reachable ? 1 : 0;
    const std::vector<std::int64_t> points =
        InterestingPoints(problem, ideal, &chains);
    std::vector<std::int64_t> codes;
    for (const std::int64_t acc : points) {
      codes.push_back(NaiveCode(acc, problem.steps, problem.quantization));
      ASSERT_EQ(ideal.Code(acc), codes.back()) << "case " << i << " at " << acc;
    }
    for (int form = 0; form < kRequantFormCount; ++form) {
      const RequantResult result =
          ChooseRequant({&problem, 1}, FormBit(RequantForm{form}));
      if (!result.plan) continue;
      ++solved[form];
      for (std::size_t k = 0; k < points.size(); ++k) {
        ASSERT_EQ(
            Evaluate(RequantForm{form}, result.plan->channels[0], points[k]),
            codes[k])
            << "case " << i << " form " << form << " at " << points[k];
      }
    }
  }
  EXPECT_GT(ties, 8);
  EXPECT_EQ(solved[static_cast<int>(RequantForm::kThresholds)], 300);
  for (const int count : solved) EXPECT_GT(count, 150);
}

TEST(RandomChains, PointwiseEvaluationIsTheSameFunction) {
  RandomChains chains(72);
  for (int i = 0; i < 400; ++i) {
    const ChannelProblem problem = chains.Next();
    const StepFunction ideal = IdealSteps(problem);
    for (const std::int64_t acc :
         {problem.acc_low, problem.acc_high,
          chains.Between(problem.acc_low, problem.acc_high)}) {
      ASSERT_EQ(
          EvaluateChain(FromInt64(acc), problem.steps, problem.quantization)
              .code,
          ideal.Code(acc))
          << "case " << i << " at " << acc;
    }
  }
}

TEST(RandomChains, OnePlanForManyChannels) {
  RandomChains chains(73);
  for (int i = 0; i < 20; ++i) {
    std::vector<ChannelProblem> problems;
    for (int k = 0; k < 5; ++k) {
      problems.push_back(chains.Next());
      problems.back().quantization = problems.front().quantization;
    }
    const RequantResult result = ChooseRequant(problems);
    ASSERT_TRUE(result.plan) << result.refusal;
    for (std::size_t k = 0; k < problems.size(); ++k) {
      ASSERT_TRUE(
          Verify(problems[k], result.plan->form, result.plan->channels[k]));
      if (!result.plan->common_clamp) continue;
      ASSERT_EQ(result.plan->channels[k].low, result.plan->low);
      ASSERT_EQ(result.plan->channels[k].high, result.plan->high);
    }
  }
}

}  // namespace
}  // namespace fold::exact
