#include "compiler/exact/piecewise.h"

#include <gtest/gtest.h>

#include "compiler/exact/naive_chain.h"

namespace fold::exact {
namespace {

// The pieces cover the range without gap and agree with a second evaluation.
void CheckPieces(std::int64_t low, std::int64_t high,
                 const std::vector<ChainStep>& steps) {
  const std::vector<Piece> pieces = ComposePieces(low, high, steps);
  std::int64_t next = low;
  for (const Piece& piece : pieces) {
    ASSERT_EQ(piece.low, next);
    ASSERT_LE(piece.low, piece.high);
    for (std::int64_t x = piece.low; x <= piece.high; ++x) {
      Surd value = piece.slope;
      value *= FromInt64(x);
      value += piece.offset;
      ASSERT_EQ(value.RationalValue(), NaiveReal<Rational>(x, steps)) << x;
    }
    next = piece.high + 1;
  }
  EXPECT_EQ(next, high + 1);
}

TEST(Piecewise, AffineIsOnePiece) {
  const std::vector<ChainStep> steps = {Multiply{Fraction(2, 3)},
                                        Add{Fraction(1, 5)}, Divide{-7}};
  EXPECT_EQ(ComposePieces(-9, 9, steps).size(), 1u);
  CheckPieces(-9, 9, steps);
}

TEST(Piecewise, ClampsSplitAtTheCrossing) {
  CheckPieces(-20, 20, {Relu{}});
  CheckPieces(-20, 20, {Add{3}, Relu{}});  // crossing on an integer
  CheckPieces(-20, 20, {Multiply{-2}, Add{Fraction(1, 3)}, Relu{}});
  CheckPieces(-20, 20, {Multiply{Fraction(1, 2)}, Clip{-3, Fraction(9, 2)}});
  CheckPieces(-20, 20, {Clip{5, -5}});  // high wins
  CheckPieces(-20, 20, {Clip{std::nullopt, 100}});
  CheckPieces(-20, 20, {Add{-100}, Relu{}, Add{1}, Clip{0, 6}});
  EXPECT_EQ(ComposePieces(-20, 20, std::vector<ChainStep>{Relu{}}).size(), 2u);
}

TEST(Piecewise, LeakyReluAndClipAfterIt) {
  CheckPieces(-30, 30, {Multiply{-1}, LeakyRelu{Fraction(1, 10)}});
  CheckPieces(-30, 30,
              {Add{Fraction(1, 2)}, LeakyRelu{Fraction(1, 10)}, Clip{-2, 7},
               Multiply{3}, LeakyRelu{0}});
  CheckPieces(5, 5, {Multiply{0}, LeakyRelu{Fraction(1, 10)}, Relu{}});
}

TEST(Piecewise, RationalBatchNorm) {
  CheckPieces(
      -15, 15,
      {Multiply{Fraction(1, 4)},
       BatchNorm{-3, 1, Fraction(1, 2), Fraction(3, 16), Fraction(1, 16)},
       Relu{}});
}

TEST(Piecewise, IrrationalCrossing) {
  // (x - 0) / sqrt(2) >= 5 from x = 8 on: 7 / 1.414 = 4.95, 8 / 1.414 = 5.66.
  const std::vector<ChainStep> steps = {BatchNorm{1, 0, 0, 1, 1},
                                        Clip{5, std::nullopt}};
  const std::vector<Piece> pieces = ComposePieces(-100, 100, steps);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[1].low, 8);
}

TEST(Piecewise, MainPieceHasMostThresholds) {
  ChannelProblem problem;
  problem.acc_low = -1000;
  problem.acc_high = 1000;
  problem.steps = {LeakyRelu{Fraction(1, 100)}, Clip{std::nullopt, 500}};
  problem.quantization.scale = 10;
  const std::vector<Piece> pieces = ScaledPieces(problem);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(MainPiece(pieces, IdealSteps(problem)), &pieces[1]);
  problem.steps = {Multiply{0}};
  EXPECT_EQ(MainPiece(ScaledPieces(problem), IdealSteps(problem)), nullptr);
}

}  // namespace
}  // namespace fold::exact
