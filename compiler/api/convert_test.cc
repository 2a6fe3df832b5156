#include "compiler/api/convert.h"

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

namespace pb = google::protobuf;
namespace v1 = foldd::v1;

// A value for each field that is not its default.
void Fill(pb::Message* message, int& seed);

void FillField(pb::Message* message, const pb::FieldDescriptor* field,
               int& seed) {
  const pb::Reflection* r = message->GetReflection();
  bool many = field->is_repeated();
  ++seed;
  switch (field->cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_STRING: {
      std::string text = "s" + std::to_string(seed);
      many ? r->AddString(message, field, text)
           : r->SetString(message, field, text);
      break;
    }
    case pb::FieldDescriptor::CPPTYPE_INT32:
      many ? r->AddInt32(message, field, seed)
           : r->SetInt32(message, field, seed);
      break;
    case pb::FieldDescriptor::CPPTYPE_INT64:
      many ? r->AddInt64(message, field, seed)
           : r->SetInt64(message, field, seed);
      break;
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      r->SetBool(message, field, true);
      break;
    case pb::FieldDescriptor::CPPTYPE_ENUM: {
      const pb::EnumDescriptor* values = field->enum_type();
      int last = values->value(values->value_count() - 1)->number();
      many ? r->AddEnumValue(message, field, last)
           : r->SetEnumValue(message, field, last);
      break;
    }
    case pb::FieldDescriptor::CPPTYPE_MESSAGE:
      Fill(many ? r->AddMessage(message, field)
                : r->MutableMessage(message, field),
           seed);
      break;
    default:
      FAIL() << "a type that this test does not know: " << field->full_name();
  }
}

void Fill(pb::Message* message, int& seed) {
  const pb::Descriptor* descriptor = message->GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const pb::FieldDescriptor* field = descriptor->field(i);
    FillField(message, field, seed);
    if (field->is_repeated()) FillField(message, field, seed);
  }
}

// Fails when a field of the message is not mapped in either direction.
TEST(Convert, EveryFieldOfATargetSurvivesTheRoundTrip) {
  v1::TargetDescriptor message;
  int seed = 0;
  Fill(&message, seed);
  EXPECT_GT(seed, 60);
  v1::TargetDescriptor back = ToProto(FromProto(message));
  pb::util::MessageDifferencer differ;
  std::string differences;
  differ.ReportDifferencesToString(&differences);
  EXPECT_TRUE(differ.Compare(message, back)) << differences;
}

TEST(Convert, EveryValueOfAnEnumSurvives) {
  for (int form = 0; form < v1::RequantForm_ARRAYSIZE; ++form) {
    v1::TargetDescriptor message;
    message.mutable_requantization()->add_forms(
        static_cast<v1::RequantForm>(form));
    message.mutable_budgets();
    v1::TargetDescriptor back = ToProto(FromProto(message));
    EXPECT_EQ(back.requantization().forms(0), form);
  }
}

TEST(Convert, ANumberThatIsNoEnumeratorIsRefusedAndNotWrapped) {
  v1::TargetDescriptor message;
  // 256 + CHANNELS_LAST: a cast to a byte would make it valid.
  message.set_layout(static_cast<v1::Layout>(257));
  message.set_default_io(static_cast<v1::BoundaryIo>(-1));
  std::vector<std::string> fields;
  for (const TargetProblem& problem : CheckTargetMessage(message)) {
    fields.push_back(problem.field);
  }
  EXPECT_THAT(fields, testing::Contains("layout"));
  EXPECT_THAT(fields, testing::Contains("default_io"));
}

TEST(Convert, DiagnosticsKeepSeverityCodeMessageAndNode) {
  v1::Diagnostic message =
      ToProto(Diagnostic{DiagnosticCode::bad_scale, "scale is 0", "q1"});
  EXPECT_EQ(message.severity(), v1::ERROR);
  EXPECT_EQ(message.code(), "bad_scale");
  EXPECT_EQ(FormatDiagnosticMessage(message),
            "error[bad_scale]: node 'q1': scale is 0");
  EXPECT_EQ(
      ToProto(Diagnostic{DiagnosticCode::float_island, "m", ""}).severity(),
      v1::NOTE);
  Diagnostic warning{DiagnosticCode::nan_reachable, "m", ""};
  EXPECT_EQ(ToProto(warning).severity(), v1::WARNING);
  EXPECT_EQ(FormatDiagnosticMessage(ToProto(warning)),
            FormatDiagnostic(warning));
}

}  // namespace
}  // namespace fold
