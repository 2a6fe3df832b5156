#include "compiler/lower/linear_weights.h"

#include <algorithm>

#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

// Holds the graph, which the weights point into.
struct Weights {
  explicit Weights(const std::string& text)
      : graph(GraphOf("fir 1 fused\ngraph @g" + text)),
        weights(graph, graph.node(MakerOf(graph, "y"))) {}
  std::vector<int> row(int64_t n) const {
    std::vector<int> codes;
    for (int64_t k = 0; k < weights.depth(); ++k) {
      codes.push_back(weights.code(n, k));
    }
    return codes;
  }
  Graph graph;
  LinearWeights weights;
};

using Row = std::vector<int>;
const char kVector[] = "(%x: u8[1,2] q(s=1 z=100)) -> %y {\n";

TEST(LinearWeights, MatricesInEveryOrder) {
  const Weights columns(std::string(kVector) +
                        "%w = const i8[2,3] q(s=1 z=0) [1,2,3,4,5,6]\n"
                        "%y = matmul(%x, %w) : f32[1,3]\n}");
  EXPECT_EQ(columns.weights.outputs(), 3);
  EXPECT_EQ(columns.weights.depth(), 2);
  EXPECT_EQ(columns.row(1), (Row{2, 5}));
  const Weights gemm(std::string(kVector) +
                     "%w = const i8[2,3] q(s=1 z=0) [1,2,3,4,5,6]\n"
                     "%y = gemm(%x, %w) : f32[1,3]\n}");
  EXPECT_EQ(gemm.row(2), (Row{3, 6}));
  const Weights rows(std::string(kVector) +
                     "%w = const i8[3,2] q(s=1 z=0) [1,2,3,4,5,6]\n"
                     "%y = gemm(%x, %w) {transB=1} : f32[1,3]\n}");
  EXPECT_EQ(rows.weights.outputs(), 3);
  EXPECT_EQ(rows.row(1), (Row{3, 4}));
}

// Kernel row, kernel column, channel.
TEST(LinearWeights, ConvolutionsRunTapByTap) {
  const Weights w(
      "(%x: u8[1,2,3,3] q(s=1 z=100)) -> %y {\n"
      "%w = const u8[2,2,2,2] q(s=[1,2] z=[0,5] axis=0) "
      "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]\n"
      "%y = conv(%x, %w) : f32[1,2,2,2]\n}");
  EXPECT_EQ(w.weights.fault(), "");
  EXPECT_EQ(w.weights.outputs(), 2);
  EXPECT_EQ(w.weights.depth(), 8);
  EXPECT_EQ(w.row(0), (Row{1, 5, 2, 6, 3, 7, 4, 8}));
  EXPECT_EQ(w.row(1), (Row{9, 13, 10, 14, 11, 15, 12, 16}));
  EXPECT_EQ(w.weights.zero(0), 0);
  EXPECT_EQ(w.weights.zero(1), 5);
  EXPECT_TRUE(w.weights.is_unsigned());
}

// By hand: inputs reach -100 to 155, weights are 1 and -2.
TEST(LinearWeights, Range) {
  const Weights w(std::string(kVector) +
                  "%w = const i8[2,1] q(s=1 z=1) [2,-1]\n"
                  "%y = matmul(%x, %w) : f32[1,1]\n}");
  int64_t low, high;
  w.weights.AccumulatorRange(0, &low, &high);
  EXPECT_EQ(low, -100 - 310);
  EXPECT_EQ(high, 155 + 200);
}

// Codes that cannot come are left out; padding counts as zero all the same.
TEST(LinearWeights, RangeOfFewerCodes) {
  const Weights w(
      "(%x: u8[1,2] q(s=1 z=100 codes=[110,120])) -> %y {\n"
      "%w = const i8[2,1] q(s=1 z=0) [1,-2]\n"
      "%y = matmul(%x, %w) : f32[1,1]\n}");
  int64_t low, high;
  w.weights.AccumulatorRange(0, &low, &high);
  EXPECT_EQ(low, -40);
  EXPECT_EQ(high, 20);
}

// The range holds every sum that can come, and is reached.
TEST(LinearWeights, RangeIsReached) {
  const Weights w(
      "(%x: i8[1,3] q(s=1 z=-7)) -> %y {\n"
      "%w = const i8[3,2] q(s=[1,2] z=[3,-4] axis=1) [5,-128,127,0,-9,44]\n"
      "%y = matmul(%x, %w) : f32[1,2]\n}");
  for (int64_t n = 0; n < 2; ++n) {
    int64_t low, high, least = 0, most = 0;
    w.weights.AccumulatorRange(n, &low, &high);
    for (int corner = 0; corner < 8; ++corner) {
      int64_t sum = 0;
      for (int k = 0; k < 3; ++k) {
        const int64_t x = (corner >> k & 1 ? 127 : -128) + 7;
        sum += x * (w.weights.code(n, k) - w.weights.zero(n));
      }
      least = std::min(least, sum);
      most = std::max(most, sum);
    }
    EXPECT_EQ(low, least);
    EXPECT_EQ(high, most);
  }
}

std::string FaultOf(const std::string& x, const std::string& w,
                    const std::string& data) {
  return Weights("(%x: " + x + ") -> %y {\n%w = const " + w + " " + data +
                 "\n%y = matmul(%x, %w) : f32[2,2]\n}")
      .weights.fault();
}

TEST(LinearWeights, Faults) {
  const std::string x = "u8[2,2] q(s=1 z=0)", data = "[1,2,3,4]";
  EXPECT_EQ(FaultOf(x, "i8[2,2] q(s=1 z=0)", data), "");
  EXPECT_EQ(FaultOf(x, "f32[2,2]", data),
            "its weights are not constant 8-bit codes");
  EXPECT_EQ(FaultOf(x, "i16[2,2] q(s=1 z=0)", data),
            "its weights are not constant 8-bit codes");
  EXPECT_EQ(FaultOf("u16[2,2] q(s=1 z=0)", "i8[2,2] q(s=1 z=0)", data),
            "its input is not 8-bit with one scale");
  EXPECT_EQ(
      FaultOf("u8[2,2] q(s=[1,2] z=0 axis=1)", "i8[2,2] q(s=1 z=0)", data),
      "its input is not 8-bit with one scale");
  EXPECT_EQ(FaultOf(x, "i8[2,2] q(s=[1,2] z=0 axis=0)", data),
            "its weights have scales that do not run along the outputs");
  EXPECT_EQ(Weights("(%x: u8[1,1,2] q(s=1 z=0)) -> %y {\n"
                    "%w = const i8[1,2,1] q(s=1 z=0) [1,2]\n"
                    "%y = matmul(%x, %w) : f32[1,1,1]\n}")
                .weights.fault(),
            "its constant matrix has 3 dimensions");
}

}  // namespace
}  // namespace fold
