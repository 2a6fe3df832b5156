#include "compiler/annotate/table_coverage.h"

#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

std::optional<int64_t> AxisOf(const std::string& body) {
  const Graph graph = GraphOf(
      "fir 1 imported\ngraph @g(%x: f32[2,2], %i: "
      "f32[1,2,3]) -> %y {\n%w = const f32[2,2] "
      "splat(1)\n%k = const f32[2,2,1] splat(1)\n%b = "
      "const f32[2] splat(1)\n" +
      body + "\n}");
  const ValueId kernel = graph.FindValue("k");
  return ChannelAxisOfTensor(
      graph, graph.UsersOf(kernel).empty() ? graph.FindValue("w") : kernel);
}

TEST(TableCoverage, TheAxisOfTheOutputChannels) {
  EXPECT_EQ(AxisOf("%y = matmul(%x, %w) : f32[2,2]"), 1);
  EXPECT_EQ(AxisOf("%y = matmul(%w, %x) : f32[2,2]"), 0);
  EXPECT_EQ(AxisOf("%y = gemm(%x, %w, %b) : f32[2,2]"), 1);
  EXPECT_EQ(AxisOf("%y = gemm(%x, %w) {transB=1} : f32[2,2]"), 0);
  EXPECT_EQ(AxisOf("%y = conv(%i, %k) : f32[1,2,3]"), 0);
  EXPECT_EQ(AxisOf("%t = transpose(%w) {perm=[1,0]} : f32[2,2]\n"
                   "%y = matmul(%x, %t) : f32[2,2]"),
            0);
  EXPECT_EQ(AxisOf("%t = transpose(%w) : f32[2,2]\n"
                   "%y = matmul(%x, %t) : f32[2,2]"),
            0);
}

TEST(TableCoverage, NoReaderOrTwoThatDisagreeSayNothing) {
  EXPECT_EQ(AxisOf("%y = add(%x, %w) : f32[2,2]"), std::nullopt);
  EXPECT_EQ(AxisOf("%a = matmul(%x, %w) : f32[2,2]\n"
                   "%y = gemm(%a, %w) {transB=1} : f32[2,2]"),
            std::nullopt);
}

EncodingTable TableOf(std::initializer_list<EncodingEntry::Kind> kinds) {
  EncodingTable table;
  for (EncodingEntry::Kind kind : kinds) {
    EncodingEntry entry;
    entry.kind = kind;
    table.entries.push_back(entry);
  }
  return table;
}

TEST(TableCoverage, OnlyKindsThatTheTableHas) {
  constexpr auto kActivation = EncodingEntry::Kind::kActivation;
  constexpr auto kParameter = EncodingEntry::Kind::kParameter;
  const Graph graph = GraphOf(
      "fir 1 imported\ngraph @g(%x: f32[2,2]) -> %y {\n%w = const f32[2,2] "
      "splat(1)\n%b = const f32[2] splat(1)\n%y = gemm(%x, %w, %b) : "
      "f32[2,2] name \"fc\"\n}");
  EXPECT_TRUE(UncoveredTensors(graph, TableOf({}), {}).empty());
  const auto both =
      UncoveredTensors(graph, TableOf({kActivation, kParameter}), {});
  ASSERT_EQ(both.size(), 2u);  // and not the bias
  EXPECT_EQ(both[0].node, "fc");
  EXPECT_EQ(graph.value(both[0].value).name, "x");
  EXPECT_EQ(graph.value(both[1].value).name, "w");
  const auto weights = UncoveredTensors(graph, TableOf({kParameter}), {});
  ASSERT_EQ(weights.size(), 1u);
  EXPECT_EQ(graph.value(weights[0].value).name, "w");
  EXPECT_TRUE(
      UncoveredTensors(graph, TableOf({kParameter}), {graph.FindValue("w")})
          .empty());
}

// A grid stays a grid where elements only move; a Relu's result is another
// tensor.
TEST(TableCoverage, AnEncodingHoldsThroughMoves) {
  const auto gaps = [](const std::string& body) {
    const Graph graph = GraphOf(
        "fir 1 imported\ngraph @g(%x: f32[1,2,2] q(s=1 z=0 codes=[0,255])) -> "
        "%y {\n%w = const f32[2,2] splat(1)\n%n = const i64[2] [2,2]\n" +
        body + "\n%y = matmul(%t, %w) : f32[2,2]\n}");
    const auto gaps = UncoveredTensors(
        graph, TableOf({EncodingEntry::Kind::kActivation}), {});
    if (!gaps.empty()) EXPECT_EQ(graph.value(gaps[0].value).name, "p");
    return gaps.size();
  };
  EXPECT_EQ(gaps("%t = reshape(%x, %n) : f32[2,2]"), 0u);
  EXPECT_EQ(gaps("%p = transpose(%x) {perm=[0,2,1]} : f32[1,2,2]\n%t = "
                 "reshape(%p, %n) : f32[2,2]"),
            0u);
  EXPECT_EQ(gaps("%p = relu(%x) : f32[1,2,2]\n%t = reshape(%p, %n) : "
                 "f32[2,2]"),
            1u);
}

}  // namespace
}  // namespace fold
