#include "compiler/import/versioned_ops.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/import/schema_registry.h"
#include "compiler/ops/ops.h"

namespace fold::importer {
namespace {

TEST(VersionedOps, AreOperatorsWithThatHistory) {
  std::string before;
  for (const VersionedOp& op : VersionedOps()) {
    EXPECT_LT(before, op.name);
    before = op.name;
    EXPECT_TRUE(OpFromOnnx("", op.name)) << op.name;
    // The first version named is one in which onnx changed the operator.
    const int version = std::stoi(op.change);
    const onnx::OpSchema* schema =
        SchemaRegistry::Instance().GetSchema(op.name, version, "");
    ASSERT_NE(schema, nullptr) << op.name;
    EXPECT_EQ(schema->SinceVersion(), version) << op.name;
  }
}

TEST(VersionedOps, ByName) {
  EXPECT_TRUE(MeaningDependsOnOpset("", "Softmax"));
  EXPECT_FALSE(MeaningDependsOnOpset("", "Conv"));
  EXPECT_FALSE(MeaningDependsOnOpset("com.microsoft", "Softmax"));
}

}  // namespace
}  // namespace fold::importer
