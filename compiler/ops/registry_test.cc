// The table is complete: a name, a spec, attributes, and golden blocks for
// every operator.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/ops/op_spec.h"
#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

struct Row {
  Op op;
  std::string mnemonic, domain, onnx_name;
  int fewest, most;
};

const Row kRows[] = {
#define OP(id, mnemonic, domain, onnx_name, min, max, spec) \
  {Op::id, mnemonic, domain, onnx_name, min, max},
#include "compiler/ops/ops.def"
#undef OP
};

TEST(Registry, NamesAreUniqueAndFound) {
  std::set<std::string> mnemonics, onnx;
  for (const Row& row : kRows) {
    EXPECT_TRUE(mnemonics.insert(row.mnemonic).second) << row.mnemonic;
    EXPECT_EQ(Ops().Mnemonic(ToId(row.op)), row.mnemonic);
    EXPECT_EQ(Ops().Find(row.mnemonic), ToId(row.op));
    if (row.domain == "-") {
      EXPECT_EQ(row.onnx_name, "") << row.mnemonic;
      continue;
    }
    EXPECT_TRUE(onnx.insert(row.domain + "." + row.onnx_name).second)
        << row.onnx_name;
    EXPECT_EQ(OpFromOnnx(row.domain, row.onnx_name), row.op);
  }
  EXPECT_EQ(Ops().Find("nonsense"), std::nullopt);
  EXPECT_EQ(OpFromOnnx("", "Nonsense"), std::nullopt);
  // What passes make is never imported.
  EXPECT_EQ(OpFromOnnx("-", ""), std::nullopt);
}

TEST(Registry, DomainsThatMeanTheSame) {
  EXPECT_EQ(OpFromOnnx("ai.onnx", "Conv"), Op::kConv);
  EXPECT_EQ(OpFromOnnx("com.microsoft", "QuantizeLinear"), Op::kQuantizeLinear);
  EXPECT_EQ(OpFromOnnx("com.microsoft", "DequantizeLinear"),
            Op::kDequantizeLinear);
  EXPECT_EQ(OpFromOnnx("com.microsoft", "Conv"), std::nullopt);
  EXPECT_EQ(OpFromOnnx("", "QLinearAdd"), std::nullopt);
}

TEST(Registry, AttributesAreListsOfNames) {
  for (const Row& row : kRows) {
    std::stringstream list{std::string(SpecOf(row.op).attributes)};
    std::set<std::string> seen;
    for (std::string name; std::getline(list, name, ',');) {
      EXPECT_TRUE(seen.insert(name).second) << row.mnemonic << ": " << name;
      ASSERT_FALSE(name.empty()) << row.mnemonic;
      for (char c : name) EXPECT_TRUE(std::isalpha(c) || c == '_') << name;
    }
  }
}

TEST(Registry, OperandCountsAreChecked) {
  for (const Row& row : kRows) {
    Graph graph;
    Node node;
    node.op = ToId(row.op);
    if (row.most >= 0) {
      EXPECT_LE(row.fewest, row.most) << row.mnemonic;
      node.operands.assign(row.most + 1, ValueId());
      EXPECT_EQ(Ops().Check(graph, node), row.mnemonic + " does not take " +
                                              std::to_string(row.most + 1) +
                                              " operands");
    }
    if (row.fewest == 0) continue;
    node.operands.assign(row.fewest - 1, ValueId());
    EXPECT_EQ(Ops().Check(graph, node), row.mnemonic + " does not take " +
                                            std::to_string(row.fewest - 1) +
                                            " operands");
  }
}

// Each operator stands in a good block and in a bad one of this folder.
TEST(Registry, EveryOperatorHasGoldenBlocks) {
  std::string good, bad;
  for (const auto& entry :
       std::filesystem::directory_iterator("compiler/ops")) {
    if (entry.path().extension() != ".fir") continue;
    std::ifstream file(entry.path());
    bool is_bad = false;
    for (std::string line; std::getline(file, line);) {
      if (line.rfind("# --- ", 0) == 0)
        is_bad = line.rfind("# --- bad_", 0) == 0;
      if (line.rfind('#', 0) != 0) (is_bad ? bad : good) += line + "\n";
    }
  }
  for (const Row& row : kRows) {
    const std::string call = "= " + row.mnemonic + "(";
    EXPECT_NE(good.find(call), std::string::npos) << row.mnemonic;
    EXPECT_NE(bad.find(call), std::string::npos) << row.mnemonic;
  }
}

TEST(ConstantOf, ThroughProducersAndNoFurther) {
  const Graph graph = GraphOf(R"(fir 1 annotated
graph @g(%x: f32[2,3], %k: i64[1]) -> %y {
  %s = shape(%x) : i64[2]
  %i = const i64[] [1]
  %n = gather(%s, %i) : i64[]
  %a = const i64[1] [0]
  %u = unsqueeze(%n, %a) : i64[1]
  %m = add(%u, %k) : i64[1]
  %w = const i8[1] q(s=1 z=0) [3]
  %f = const f32[] [1]
  %d = dequantize_linear(%w, %f) : f32[1]
  %y = identity(%x) : f32[2,3]
})");
  const auto constant = [&](const char* name) {
    return ConstantOf(graph, graph.FindValue(name));
  };
  ASSERT_NE(constant("u"), nullptr);
  EXPECT_EQ(constant("u")->shape, (Shape{1}));
  EXPECT_EQ(constant("u")->integer(0), 3);
  EXPECT_EQ(constant("i")->integer(0), 1);
  EXPECT_EQ(constant("m"), nullptr);  // depends on an input
  EXPECT_EQ(constant("y"), nullptr);
  EXPECT_EQ(constant("d"), nullptr);  // its codes must not be lost
  EXPECT_EQ(ConstantOf(graph, ValueId()), nullptr);
}

}  // namespace
}  // namespace fold
