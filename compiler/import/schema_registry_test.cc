#include "compiler/import/schema_registry.h"

#include <gtest/gtest.h>

#include <chrono>

#include "compiler/import/test_model.h"

namespace fold::importer {
namespace {

const onnx::OpSchema* Get(const char* name, int version, const char* domain) {
  return SchemaRegistry::Instance().GetSchema(name, version, domain);
}

TEST(SchemaRegistry, PicksTheVersion) {
  ASSERT_NE(Get("Softmax", 12, ""), nullptr);
  EXPECT_EQ(Get("Softmax", 12, "")->SinceVersion(), 11);
  EXPECT_EQ(Get("Softmax", 28, "")->SinceVersion(), 13);
  EXPECT_EQ(Get("Softmax", 0, ""), nullptr);
  EXPECT_EQ(Get("Softmax", 13, "ai.other"), nullptr);
  EXPECT_EQ(Get("Soft", 13, ""), nullptr);
  EXPECT_EQ(Get("QuantizeLinear", 9, ""), nullptr);
  EXPECT_NE(Get("QGemm", 1, "com.microsoft"), nullptr);
  EXPECT_EQ(Get("QGemm", 1, ""), nullptr);
}

// A chain of Adds of long integer vectors: with onnx's own propagation each
// would cost a message per element.
TEST(SchemaRegistry, PropagationIsBounded) {
  auto model = ParseGraph("g (int64[10000000] t0) => (int64[10000000] t0) { }");
  for (int i = 0; i < 50; ++i) {
    auto* node = model.mutable_graph()->add_node();
    node->set_op_type("Add");
    node->add_input("t" + std::to_string(i));
    node->add_input("t0");
    node->add_output("t" + std::to_string(i + 1));
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(Import(model).good);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST(SchemaRegistry, ShortVectorsArePropagated) {
  const Imported result =
      Import(ParseGraph("g (float[2,3,4] x) => (float[n] y) <int64 first = {0},"
                        " int64[1] zero = {0}, int64[1] rest = {-1}> {"
                        " dims = Shape(x)"
                        " head = Gather(dims, first)"
                        " heads = Unsqueeze(head, zero)"
                        " target = Concat <axis = 0> (heads, rest)"
                        " y = Reshape(x, target) }"));
  // The output is declared [n]; it is [2,12].
  ExpectRefused(result, DiagnosticCode::shape_mismatch, "y", "it is [2,12]");
}

TEST(SchemaRegistry, RankIsBounded) {
  auto model = ParseGraph(
      "g (float[1] x) => (float[1] x) <int64[1] d = {1}>{"
      " [r] t = Reshape(x, d) }");
  const auto with_rank = [&](int rank) {
    auto* dims = model.mutable_graph()->mutable_initializer(0);
    dims->set_dims(0, rank);
    dims->clear_int64_data();
    for (int i = 0; i < rank; ++i) dims->add_int64_data(1);
    return Import(model);
  };
  EXPECT_TRUE(with_rank(kHighestRank).good);
  ExpectRefused(with_rank(kHighestRank + 1), DiagnosticCode::model_invalid, "r",
                "rank");
}

}  // namespace
}  // namespace fold::importer
