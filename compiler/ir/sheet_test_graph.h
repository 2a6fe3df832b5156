// A small network and table of operators for the tests of the rewriter.
#ifndef FOLD_COMPILER_IR_SHEET_TEST_GRAPH_H_
#define FOLD_COMPILER_IR_SHEET_TEST_GRAPH_H_

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/derivation.h"
#include "compiler/ir/op_info.h"
#include "compiler/ir/rewriter.h"
#include "compiler/ir/sheet_check.h"
#include "compiler/ir/text.h"
#include "gtest/gtest.h"

namespace fold {

// any: an operator of which nothing is known. turn: permutes by `perm`, and is
// evaluated. divide: makes infinities.
class SheetTestOps : public OpTable {
 public:
  static constexpr OpId kAny{0}, kTurn{1}, kDivide{2};
  static constexpr std::array<std::string_view, 3> kNames = {"any", "turn",
                                                             "divide"};
  std::string_view Mnemonic(OpId op) const override {
    return kNames[static_cast<int>(op)];
  }
  std::optional<OpId> Find(std::string_view mnemonic) const override {
    for (size_t i = 0; i < kNames.size(); ++i) {
      if (kNames[i] == mnemonic) return static_cast<OpId>(i);
    }
    return std::nullopt;
  }
  std::string Check(const Graph&, const Node& node) const override {
    return node.operands.empty() ? "no operands" : "";
  }
  TensorPtr Evaluate(const Graph& graph, const Node& node) const override {
    const auto perm = Permutation(graph, node);
    const TensorPtr data = graph.value(node.operands[0]).constant;
    return perm && data ? PermuteTensor(*data, *perm) : nullptr;
  }
  std::optional<Shape> InferShape(const Graph& graph,
                                  const Node& node) const override {
    const auto perm = Permutation(graph, node);
    if (!perm) return std::nullopt;
    Shape shape;
    for (int64_t axis : *perm) {
      shape.push_back(graph.value(node.operands[0]).type.shape[axis]);
    }
    return shape;
  }
  std::optional<std::vector<int64_t>> Permutation(
      const Graph&, const Node& node) const override {
    if (node.op != kTurn) return std::nullopt;
    return node.attribute<std::vector<int64_t>>("perm", {});
  }
  std::vector<OpId> Exceptional(const Graph&, const Node& node) const override {
    if (node.op == kDivide) return {node.op};
    return {};
  }
};

inline Encoding PerTensor(double scale, int64_t zero) {
  Encoding e;
  e.scales = {scale};
  e.zero_points = {zero};
  return e;
}

inline Encoding PerRow(std::vector<double> scales, int axis) {
  Encoding e;
  e.zero_points.assign(scales.size(), 0);
  e.scales = std::move(scales);
  e.axis = axis;
  return e;
}

// A graph, a rewriter, and what a refusal must leave as it was.
class SheetTest : public testing::Test {
 protected:
  static Node Make(const std::string& name, std::vector<ValueId> operands,
                   std::vector<ValueId> results, OpId op = SheetTestOps::kAny) {
    Node node;
    node.op = op;
    node.name = name;
    node.operands = std::move(operands);
    node.results = std::move(results);
    node.provenance.Add(name);
    return node;
  }

  // To be called once the graph is built.
  void Begin() {
    text_ = Print(graph_, ops_);
    values_ = graph_.value_count();
    rewriter_.emplace(graph_, &ops_);
  }

  void ExpectRefused(Proposal proposal, const std::string& reason) {
    EXPECT_FALSE(rewriter_->Apply(std::move(proposal)));
    ASSERT_EQ(rewriter_->refused().size(), 1u);
    EXPECT_EQ(rewriter_->refused()[0].reason, reason);
    EXPECT_EQ(Print(graph_, ops_), text_);
    EXPECT_EQ(graph_.value_count(), values_);
    EXPECT_EQ(CheckStructure(graph_), "");
    EXPECT_TRUE(rewriter_->applied().empty());
  }

  void ExpectApplied(Proposal proposal) {
    ASSERT_TRUE(rewriter_->Apply(std::move(proposal)))
        << rewriter_->refused()[0].reason;
    EXPECT_EQ(CheckStructure(graph_), "");
  }

  std::string SheetFaultOf(const Proposal& proposal) const {
    return SheetFault(graph_, proposal, &ops_);
  }

  SheetTestOps ops_;
  Graph graph_;
  std::optional<Rewriter> rewriter_;
  std::string text_;
  size_t values_ = 0;
};

}  // namespace fold

#endif  // FOLD_COMPILER_IR_SHEET_TEST_GRAPH_H_
