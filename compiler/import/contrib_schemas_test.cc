#include "compiler/import/contrib_schemas.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace fold::importer {
namespace {

struct Row {
  std::string domain, name;
  int min, max;
};
const Row kOps[] = {
#define OP(id, mnemonic, domain, onnx_name, min, max, spec) \
  {domain, onnx_name, min, max},
#include "compiler/ops/ops.def"
#undef OP
};

TEST(ContribSchemas, EveryMicrosoftOperatorHasOne) {
  std::set<std::string> names;
  std::string before;
  for (const onnx::OpSchema& schema : MicrosoftSchemas()) {
    EXPECT_LT(before, schema.Name());
    before = schema.Name();
    names.insert(schema.Name());
    EXPECT_EQ(schema.domain(), "com.microsoft");
    EXPECT_EQ(schema.SinceVersion(), 1);
    EXPECT_TRUE(schema.has_type_and_shape_inference_function());
  }
  for (const Row& row : kOps) {
    if (row.domain == "com.microsoft") {
      EXPECT_EQ(names.count(row.name), 1u) << row.name;
    }
  }
}

TEST(ContribSchemas, ArityFitsTheOperatorTable) {
  for (const onnx::OpSchema& schema : MicrosoftSchemas()) {
    for (const Row& row : kOps) {
      if (row.name != schema.Name() || row.domain != schema.domain()) continue;
      EXPECT_GE(schema.min_input(), row.min) << row.name;
      if (row.max >= 0) {
        EXPECT_LE(schema.max_input(), row.max) << row.name;
      }
    }
  }
}

}  // namespace
}  // namespace fold::importer
