#include "server/telemetry/otlp_json.h"

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace fold {
namespace {

using nlohmann::json;

SpanRecord Example() {
  SpanRecord span;
  span.context = {"4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", 1,
                  "a=1"};
  span.parent_span_id = "1111111111111111";
  span.name = "job";
  span.kind = SpanKind::kServer;
  span.start_nanos = 1'800'000'000'123'456'789;
  span.end_nanos = 1'800'000'001'000'000'000;
  span.attributes = {{"text", std::string("x\"\n\xff")},
                     {"number", int64_t{1} << 60},
                     {"real", 0.5},
                     {"yes", true}};
  span.events = {{5, "began", {{"n", int64_t{2}}}}};
  span.links = {
      {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", 1, ""}};
  span.status = SpanStatus::kError;
  span.status_message = "broken";
  span.dropped_events = 3;
  return span;
}

TEST(OtlpJson, HasTheFormOfTheSpecification) {
  SpanRecord spans[] = {Example()};
  std::string text = OtlpJson({"1.2", "an-id"}, spans);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  json request = json::parse(text);
  EXPECT_EQ(request, json::parse(R"({"resourceSpans": [{
    "resource": {"attributes": [
      {"key": "service.name", "value": {"stringValue": "foldd"}},
      {"key": "service.version", "value": {"stringValue": "1.2"}},
      {"key": "service.instance.id", "value": {"stringValue": "an-id"}}]},
    "scopeSpans": [{
      "scope": {"name": "foldd", "version": "1.2"},
      "spans": [{
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
        "spanId": "00f067aa0ba902b7",
        "traceState": "a=1",
        "parentSpanId": "1111111111111111",
        "flags": 1,
        "name": "job",
        "kind": 2,
        "startTimeUnixNano": "1800000000123456789",
        "endTimeUnixNano": "1800000001000000000",
        "attributes": [
          {"key": "text", "value": {"stringValue": "x\"\n\ufffd"}},
          {"key": "number", "value": {"intValue": "1152921504606846976"}},
          {"key": "real", "value": {"doubleValue": 0.5}},
          {"key": "yes", "value": {"boolValue": true}}],
        "events": [{"timeUnixNano": "5", "name": "began", "attributes": [
          {"key": "n", "value": {"intValue": "2"}}]}],
        "links": [{"traceId": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                   "spanId": "bbbbbbbbbbbbbbbb", "flags": 1}],
        "droppedEventsCount": 3,
        "status": {"code": 2, "message": "broken"}}]}]}]})"));
}

TEST(OtlpJson, LeavesOutWhatIsNotThere) {
  SpanRecord spans[2];
  spans[0].context = spans[1].context = NewTrace(true);
  json request = json::parse(OtlpJson({}, spans));
  const json& list = request["resourceSpans"][0]["scopeSpans"][0]["spans"];
  ASSERT_EQ(list.size(), 2u);
  for (const char* name : {"parentSpanId", "traceState", "events", "links",
                           "droppedEventsCount"}) {
    EXPECT_FALSE(list[0].contains(name)) << name;
  }
  EXPECT_EQ(list[0]["status"], json::object());
  EXPECT_EQ(list[0]["kind"], 1);
}

TEST(OtlpJson, ReadsWhatACollectorRefused) {
  std::string message;
  EXPECT_EQ(RejectedSpans("{}", &message), 0);
  EXPECT_EQ(RejectedSpans("", &message), 0);
  EXPECT_EQ(RejectedSpans("not JSON", &message), 0);
  EXPECT_EQ(RejectedSpans("[1]", &message), 0);
  EXPECT_EQ(RejectedSpans(R"({"partialSuccess": 1})", &message), 0);
  EXPECT_EQ(message, "");
  EXPECT_EQ(RejectedSpans(R"({"partialSuccess": {"rejectedSpans": "3",
                              "errorMessage": "too old"}})",
                          &message),
            3);
  EXPECT_EQ(message, "too old");
  EXPECT_EQ(
      RejectedSpans(R"({"partialSuccess": {"rejectedSpans": 4}})", &message),
      4);
}

}  // namespace
}  // namespace fold
