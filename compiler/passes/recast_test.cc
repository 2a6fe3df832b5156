#include "compiler/passes/recast.h"

#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

class RecastTest : public testing::Test {
 protected:
  ValueId Recast(const std::string& name, const Encoding& encoding) {
    Provenance provenance;
    provenance.Add("reader");
    return WithEncoding(rewriter_, proposal_, graph_.FindValue(name), encoding,
                        provenance);
  }

  Encoding Other() {
    Encoding encoding;
    encoding.scales = {0.25};
    encoding.zero_points = {7};
    return encoding;
  }

  Graph graph_ = GraphOf(R"(fir 1 simplified
graph @g(%x: u8[2] q(s=0.5 z=3 codes=[2,9])) -> %y {
  %w = const u8[2] q(s=0.5 z=3) [1,2]
  %y = add(%x, %w) : u8[2]
})");
  Rewriter rewriter_{graph_};
  Proposal proposal_;
};

TEST_F(RecastTest, WhatSaysSoAlreadyStays) {
  Encoding same = Other();
  same.scales = {0.5};
  same.zero_points = {3};
  same.source = "another reader";
  EXPECT_EQ(Recast("x", same), graph_.FindValue("x"));
  EXPECT_TRUE(proposal_.added.empty());
  EXPECT_TRUE(proposal_.sheet.constants.empty());
}

TEST_F(RecastTest, ConstantsAreCloned) {
  const ValueId clone = Recast("w", Other());
  EXPECT_NE(clone, graph_.FindValue("w"));
  EXPECT_EQ(graph_.value(clone).constant,
            graph_.value(graph_.FindValue("w")).constant);
  EXPECT_EQ(graph_.value(clone).type.encoding->scales[0], 0.25);
  ASSERT_EQ(proposal_.sheet.constants.size(), 1u);
  EXPECT_EQ(proposal_.sheet.constants[0].kind, ConstantMove::Kind::kCloned);
  // The quantization that the constant has stays where it is.
  EXPECT_TRUE(proposal_.sheet.encodings.empty());
  EXPECT_TRUE(proposal_.added.empty());
}

TEST_F(RecastTest, OthersGoThroughAnIdentityAndKeepTheirRange) {
  const ValueId recast = Recast("x", Other());
  ASSERT_EQ(proposal_.added.size(), 1u);
  EXPECT_EQ(OpOf(proposal_.added[0]), Op::kIdentity);
  EXPECT_EQ(proposal_.added[0].operands[0], graph_.FindValue("x"));
  EXPECT_EQ(proposal_.added[0].results[0], recast);
  EXPECT_EQ(proposal_.added[0].provenance.nodes,
            std::vector<std::string>{"reader"});
  const Encoding& encoding = *graph_.value(recast).type.encoding;
  EXPECT_EQ(encoding.zero_points[0], 7);
  EXPECT_EQ(encoding.code_low, 2);
  EXPECT_EQ(encoding.code_high, 9);
}

}  // namespace
}  // namespace fold
