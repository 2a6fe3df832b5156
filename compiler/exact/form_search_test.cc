#include "compiler/exact/form_search.h"

#include <gtest/gtest.h>

#include "compiler/exact/naive_chain.h"

namespace fold::exact {
namespace {

struct Search {
  explicit Search(const ChannelProblem& problem)
      : pieces(ScaledPieces(problem)), ideal(IdealSteps(problem)) {
    const CodeRange range = EffectiveRange(problem.quantization);
    input = {&ideal, MainPiece(pieces, ideal), range.low, range.high,
             problem.quantization.zero_point};
  }

  std::optional<FormParameters> Find(RequantForm form) {
    return FindForm(form, input, &tried);
  }

  std::vector<Piece> pieces;
  StepFunction ideal;
  FormSearchInput input;
  int tried = 0;
};

ChannelProblem Scaled(const Rational& factor, std::int64_t reach = 1000) {
  ChannelProblem problem;
  problem.acc_low = -reach;
  problem.acc_high = reach;
  problem.steps = {Multiply{factor}};
  return problem;
}

void ExpectExact(const ChannelProblem& problem, RequantForm form,
                 const FormParameters& parameters) {
  for (std::int64_t acc = problem.acc_low; acc <= problem.acc_high; ++acc) {
    ASSERT_EQ(Evaluate(form, parameters, acc),
              NaiveCode(acc, problem.steps, problem.quantization))
        << acc;
  }
}

TEST(FormSearch, EveryFormFindsAnOrdinarySlope) {
  ChannelProblem problem = Scaled(FromDouble(0.123f));
  problem.quantization.zero_point = -7;
  for (int form = 0; form < kRequantFormCount; ++form) {
    Search search(problem);
    const auto found = search.Find(RequantForm{form});
    ASSERT_TRUE(found) << form;
    EXPECT_GT(search.tried, 0);
    ExpectExact(problem, RequantForm{form}, *found);
  }
}

TEST(FormSearch, NegativeSlope) {
  const ChannelProblem problem = Scaled(FromDouble(-0.0871f));
  for (int form = 0; form < kRequantFormCount; ++form) {
    Search search(problem);
    const auto found = search.Find(RequantForm{form});
    ASSERT_TRUE(found) << form;
    ExpectExact(problem, RequantForm{form}, *found);
  }
}

TEST(FormSearch, TiesNeedHalfEvenAndDyadicSlopesHaveIt) {
  Search search(Scaled(Fraction(1, 8)));
  EXPECT_FALSE(search.Find(RequantForm::kMultiply64));
  EXPECT_FALSE(search.Find(RequantForm::kMultiply128));
  const auto found = search.Find(RequantForm::kHalfEven64);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->multiplier, 1);
  EXPECT_EQ(found->shift, 3);
}

TEST(FormSearch, AveragesNeedTheRemainder) {
  for (const int divisor : {6, 10, 12}) {
    Search search(Scaled(Fraction(1, divisor)));
    EXPECT_FALSE(search.Find(RequantForm::kMultiply64));
    EXPECT_FALSE(search.Find(RequantForm::kHalfEven64));
    EXPECT_FALSE(search.Find(RequantForm::kMultiply128));
    const auto found = search.Find(RequantForm::kRemainder);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->multiplier, 1);
    EXPECT_EQ(found->divisor, divisor);
  }
}

TEST(FormSearch, FewTiesMayLeaveRoomForAFloor) {
  // One reachable tie, 0.5, rounds down; the slope can lean away from it.
  const ChannelProblem problem = Scaled(Fraction(1, 4), 5);
  Search search(problem);
  const auto found = search.Find(RequantForm::kMultiply64);
  EXPECT_TRUE(search.ideal.tie_reachable);
  ASSERT_TRUE(found);
  ExpectExact(problem, RequantForm::kMultiply64, *found);
}

TEST(FormSearch, FloorsBecomeHalfEvenForms) {
  // Not dyadic and without ties; small shifts, so that sums on a half would
  // show if the conversion made any.
  for (const int numerator : {8, 9, 10, 11, 12, 13}) {
    const ChannelProblem problem = Scaled(Fraction(numerator, 7), 100);
    Search search(problem);
    const auto found = search.Find(RequantForm::kHalfEven64);
    ASSERT_TRUE(found) << numerator;
    EXPECT_LT(found->shift, 20);
    ExpectExact(problem, RequantForm::kHalfEven64, *found);
  }
}

TEST(FormSearch, SmallestShiftFirst) {
  Search search(Scaled(Fraction(1, 3)));
  const auto found = search.Find(RequantForm::kMultiply64);
  ASSERT_TRUE(found);
  // 31 bits would do too; this slope needs about 10.
  EXPECT_LT(found->multiplier, 1 << 12);
}

TEST(FormSearch, SteepSlopesAreCapped) {
  for (const double slope : {300.25, 1e9, 1e200}) {
    ChannelProblem problem = Scaled(FromDouble(slope), 40);
    problem.steps.push_back(Add{FromDouble(0.2)});
    Search search(problem);
    const auto found = search.Find(RequantForm::kMultiply64);
    ASSERT_TRUE(found) << slope;
    ExpectExact(problem, RequantForm::kMultiply64, *found);
  }
}

TEST(FormSearch, StepBetweenConstantPieces) {
  for (const int sign : {1, -1}) {
    ChannelProblem problem = Scaled(Rational(sign * 100));
    problem.steps.push_back(Add{Rational(50)});
    problem.steps.push_back(Clip{Rational(-7), Rational(30)});
    Search search(problem);
    EXPECT_EQ(search.input.main_piece, nullptr);
    search.input.low = -7;
    search.input.high = 30;
    const auto found = search.Find(RequantForm::kMultiply64);
    ASSERT_TRUE(found);
    problem.acc_low = -50;
    problem.acc_high = 50;
    ExpectExact(problem, RequantForm::kMultiply64, *found);
  }
}

TEST(FormSearch, TwoSlopesHaveNoFloorForm) {
  ChannelProblem problem = Scaled(FromDouble(0.5f));
  problem.steps.push_back(LeakyRelu{Fraction(1, 7)});
  Search search(problem);
  EXPECT_FALSE(search.Find(RequantForm::kMultiply64));
  EXPECT_FALSE(search.Find(RequantForm::kRemainder));
  EXPECT_TRUE(search.Find(RequantForm::kThresholds));
}

TEST(FormSearch, Wide128BitProductForSixteenBitCodes) {
  ChannelProblem problem = Scaled(FromDouble(0.7654321f), 1 << 20);
  problem.quantization.scale = FromDouble(11.37f);
  problem.quantization.code_low = -32768;
  problem.quantization.code_high = 32767;
  Search search(problem);
  const auto found = search.Find(RequantForm::kMultiply128);
  ASSERT_TRUE(found);
  for (std::int64_t acc = problem.acc_low; acc <= problem.acc_high;
       acc += 1009) {
    ASSERT_EQ(Evaluate(RequantForm::kMultiply128, *found, acc),
              NaiveCode(acc, problem.steps, problem.quantization));
  }
}

}  // namespace
}  // namespace fold::exact
