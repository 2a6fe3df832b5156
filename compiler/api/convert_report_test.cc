#include "compiler/api/convert_report.h"

#include <set>

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::ElementsAre;
namespace pb = google::protobuf;
namespace v1 = foldd::v1;

// Collects the fields that are at their default, as paths.
void FindUnset(const pb::Message& message, const std::string& path,
               std::set<std::string>* unset) {
  const pb::Descriptor* descriptor = message.GetDescriptor();
  const pb::Reflection* reflection = message.GetReflection();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const pb::FieldDescriptor* field = descriptor->field(i);
    std::string name = path + field->name();
    bool repeated = field->is_repeated();
    bool set = repeated ? reflection->FieldSize(message, field) > 0
                        : reflection->HasField(message, field);
    if (!set) {
      unset->insert(name);
    } else if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
      FindUnset(repeated ? reflection->GetRepeatedMessage(message, field, 0)
                         : reflection->GetMessage(message, field),
                name + ".", unset);
    }
  }
}

CompileReport Filled() {
  CompileReport report;
  report.artifact = {1, Exactness::kFloat, true, 2, 3, 4, 5};
  report.passes = {
      {"fold", 1, 2, 3, 4, 5, 6, 7, {{"n", "why"}}, {{"v", "cost"}}, 0.5}};
  const SheetNode node = {"n", "conv", {"s"}, {"x"}, {"y"}};
  report.passes[0].sheets = {{{node},
                              {node},
                              {{SheetItem::Kind::kConstant, "a", "b", "moved"}},
                              "x = 0",
                              1,
                              2,
                              3,
                              4,
                              0.25}};
  report.passes[0].start_seconds = 0.125;
  report.imported = report.lowered = {{node}, {"x"}, {"y"}};
  report.ops = {{"op", "conv", {"a", "b"}, Exactness::kBounded, 2}};
  report.memory = {{"ram", 1, 2, 3}};
  report.diagnostics = {{DiagnosticCode::bad_scale, "m", "n"}};
  report.start_unix_microseconds = 1'000'000;
  report.seconds = 1.5;
  report.prover_seconds = 0.25;
  return report;
}

// Fails when a field of the report is not mapped; what the caller fills in
// stands here by name.
TEST(ConvertReport, EveryFieldIsFilled) {
  std::set<std::string> unset;
  FindUnset(ToProto(Filled()), "", &unset);
  EXPECT_THAT(unset,
              ElementsAre("action_digest", "artifact.digest", "run.cached",
                          "run.host", "run.peak_memory_bytes"));
}

TEST(ConvertReport, SheetsArriveInTheirPlaces) {
  const v1::CompileReport message = ToProto(Filled());
  const v1::Sheet& sheet = message.passes(0).sheets(0);
  EXPECT_EQ(sheet.removed(0).kind(), "conv");
  EXPECT_THAT(sheet.removed(0).operands(), ElementsAre("x"));
  EXPECT_THAT(sheet.added(0).results(), ElementsAre("y"));
  EXPECT_EQ(sheet.items(0).kind(), v1::SheetItem::CONSTANT);
  EXPECT_EQ(sheet.items(0).from(), "a");
  EXPECT_EQ(sheet.items(0).to(), "b");
  EXPECT_EQ(sheet.constant_bytes_added(), 1);
  EXPECT_EQ(sheet.run_bytes_removed(), 4);
  EXPECT_THAT(message.run().passes(0).sheet_microseconds(),
              ElementsAre(250000));
  EXPECT_THAT(message.lowered().inputs(), ElementsAre("x"));
  // Without sheets there are no graphs either.
  EXPECT_FALSE(ToProto(CompileReport()).has_imported());
}

TEST(ConvertReport, ValuesArriveInTheirPlaces) {
  v1::CompileReport message = ToProto(Filled());
  EXPECT_EQ(message.artifact().size_bytes(), 1);
  EXPECT_EQ(message.artifact().exactness(), v1::FLOAT);
  EXPECT_EQ(message.artifact().arena_bytes(), 2);
  EXPECT_EQ(message.artifact().arena_bytes_before_folding(), 3);
  EXPECT_EQ(message.artifact().constant_bytes(), 4);
  EXPECT_EQ(message.artifact().peak_lower_bound(), 5);
  const v1::PassRecord& pass = message.passes(0);
  EXPECT_EQ(pass.nodes_before() * 10 + pass.nodes_after(), 12);
  EXPECT_EQ(pass.fake_quant_before() * 10 + pass.fake_quant_after(), 34);
  EXPECT_EQ(pass.constant_bytes_before() * 10 + pass.constant_bytes_after(),
            56);
  EXPECT_EQ(pass.rewrites(), 7);
  EXPECT_EQ(pass.kept(0).reason(), "why");
  EXPECT_EQ(pass.decided(0).node() + pass.decided(0).reason(), "vcost");
  EXPECT_THAT(message.ops(0).sources(), ElementsAre("a", "b"));
  EXPECT_EQ(message.ops(0).exactness(), v1::BOUNDED);
  EXPECT_EQ(message.memory(0).arena_bytes(), 3);
  EXPECT_EQ(message.run().passes(0).wall_microseconds(), 500'000);
  EXPECT_EQ(message.run().passes(0).start_microseconds(), 125'000);
  EXPECT_EQ(message.run().start_unix_microseconds(), 1'000'000);
  EXPECT_EQ(message.run().wall_microseconds(), 1'500'000);
  EXPECT_EQ(message.run().prover_microseconds(), 250'000);
}

// Sets one field of the options at a time; each must change the struct.
TEST(ConvertReport, EveryOptionArrives) {
  v1::CompileOptions message;
  v1::InputShape* shape = message.add_shapes();
  shape->set_name("x");
  shape->add_dimensions(1);
  shape->add_dimensions(3);
  message.set_io(v1::IO_QUANTIZED);
  message.add_require(v1::INTEGER_ONLY);
  message.add_require(v1::EXACT_RESULT);
  message.set_taps(true);
  message.set_sheets(true);
  message.add_dump_after("fold");
  message.set_verify(v1::VERIFY_EACH);
  message.add_passes("a");
  std::set<std::string> unset;
  FindUnset(message, "", &unset);
  EXPECT_THAT(unset, ElementsAre()) << "a new option: map it and set it here";

  CompileOptions options = FromProto(message);
  ASSERT_EQ(options.shapes.size(), 1u);
  EXPECT_EQ(options.shapes[0].first, "x");
  EXPECT_THAT(options.shapes[0].second, ElementsAre(1, 3));
  EXPECT_EQ(options.io, BoundaryIo::kQuantized);
  EXPECT_TRUE(options.require_integer_only);
  EXPECT_TRUE(options.require_exact);
  EXPECT_TRUE(options.taps);
  EXPECT_TRUE(options.sheets);
  EXPECT_THAT(options.dump_after, ElementsAre("fold"));
  EXPECT_EQ(options.verify, CompileOptions::Verify::kEach);
  EXPECT_THAT(options.passes, ElementsAre("a"));

  CompileOptions plain = FromProto(v1::CompileOptions());
  EXPECT_EQ(plain.io, BoundaryIo::kUnspecified);
  EXPECT_EQ(plain.verify, CompileOptions::Verify::kEnd);
  EXPECT_FALSE(plain.require_exact);
}

}  // namespace
}  // namespace fold
