#include "server/telemetry/trace.h"

#include <thread>

#include "gtest/gtest.h"

namespace fold {
namespace {

using std::chrono::milliseconds;

std::vector<SpanRecord> TakeAll(Tracer* tracer) {
  return tracer->Take(1000, milliseconds(0));
}

std::string TextOf(const SpanRecord& span, const std::string& name) {
  for (const SpanAttribute& attribute : span.attributes) {
    if (attribute.name != name) continue;
    const auto* text = std::get_if<std::string>(&attribute.value);
    return text != nullptr ? *text : "(no text)";
  }
  return "(absent)";
}

TEST(Tracer, ASpanKeepsWhatItWasTold) {
  Tracer tracer(true, 1, 100);
  TraceContext other = NewTrace(true);
  int64_t before = NowNanos();
  {
    Span parent = StartSpan(&tracer, "parent", {}, SpanKind::kServer);
    Span child = StartSpan(&tracer, "child", parent.context());
    child.Set("text", "a");
    child.Set("text", "b");
    child.Set("number", int64_t{7});
    child.Set("real", 0.5);
    child.Set("yes", true);
    child.AddEvent("began", {{"n", int64_t{1}}});
    child.AddLink(other);
    child.AddLink({});
    child.SetStatus(SpanStatus::kError, "broken");
  }
  auto spans = TakeAll(&tracer);
  ASSERT_EQ(spans.size(), 2u);
  const SpanRecord& child = spans[0];
  const SpanRecord& parent = spans[1];
  EXPECT_EQ(parent.name, "parent");
  EXPECT_EQ(parent.kind, SpanKind::kServer);
  EXPECT_EQ(parent.parent_span_id, "");
  EXPECT_EQ(child.context.trace_id, parent.context.trace_id);
  EXPECT_EQ(child.parent_span_id, parent.context.span_id);
  EXPECT_EQ(TextOf(child, "text"), "b");
  EXPECT_EQ(child.attributes.size(), 4u);
  ASSERT_EQ(child.events.size(), 1u);
  EXPECT_EQ(child.events[0].name, "began");
  ASSERT_EQ(child.links.size(), 1u);
  EXPECT_EQ(child.links[0].span_id, other.span_id);
  EXPECT_EQ(child.status, SpanStatus::kError);
  EXPECT_EQ(child.status_message, "broken");
  EXPECT_LE(before, parent.start_nanos);
  EXPECT_LE(parent.start_nanos, child.start_nanos);
  EXPECT_LE(child.start_nanos, child.end_nanos);
  EXPECT_LE(child.end_nanos, parent.end_nanos);
}

TEST(Tracer, ASpanEndsOnceAndNothingIsAddedLater) {
  Tracer tracer(true, 1, 100);
  Span span = StartSpan(&tracer, "s", {});
  Span moved = std::move(span);
  moved.End();
  moved.End();
  moved.Set("late", "x");
  EXPECT_FALSE(moved.recording());
  EXPECT_TRUE(moved.context().valid());
  auto spans = TakeAll(&tracer);
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(TextOf(spans[0], "late"), "(absent)");
}

TEST(Tracer, ASpanThatIsAssignedEndsTheOneBefore) {
  Tracer tracer(true, 1, 100);
  Span span = StartSpan(&tracer, "first", {});
  span = StartSpan(&tracer, "second", {});
  EXPECT_EQ(TakeAll(&tracer).size(), 1u);
}

TEST(Tracer, TimesOfThePastAreInOrder) {
  Tracer tracer(true, 1, 100);
  StartSpan(&tracer, "a", {}).EndAt(100, 200);
  StartSpan(&tracer, "b", {}).EndAt(100, 50);
  auto spans = TakeAll(&tracer);
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].end_nanos, 200);
  EXPECT_EQ(spans[1].end_nanos, 100);
}

TEST(Tracer, TheCallerDecidesForItsTrace) {
  Tracer none(true, 0, 100), all(true, 1, 100);
  StartSpan(&none, "root", {}).End();
  StartSpan(&none, "of a caller", NewTrace(true)).End();
  StartSpan(&all, "of a caller", NewTrace(false)).End();
  auto spans = TakeAll(&none);
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].name, "of a caller");
  EXPECT_TRUE(TakeAll(&all).empty());
}

TEST(Tracer, WithoutAnExporterThereAreIdsAlone) {
  Tracer tracer(false, 1, 100);
  Span root = StartSpan(&tracer, "root", {});
  EXPECT_TRUE(root.context().valid());
  EXPECT_FALSE(root.context().sampled());
  Span child = StartSpan(&tracer, "child", NewTrace(true));
  EXPECT_TRUE(child.context().sampled());  // the next one may record it
  EXPECT_FALSE(child.recording());
  child.End();
  EXPECT_TRUE(TakeAll(&tracer).empty());
  EXPECT_EQ(tracer.dropped(), 0);
  Span nothing = StartSpan(nullptr, "x", NewTrace(true));
  nothing.Set("a", "b");
  nothing.End();
  EXPECT_FALSE(nothing.context().valid());
}

TEST(Tracer, WhatDoesNotFitIsDroppedAndCounted) {
  Tracer tracer(true, 1, 3);
  for (int i = 0; i < 5; ++i) StartSpan(&tracer, std::to_string(i), {}).End();
  EXPECT_EQ(tracer.dropped(), 2);
  auto first = tracer.Take(2, milliseconds(0));
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].name, "0");
  EXPECT_EQ(TakeAll(&tracer).size(), 1u);
  tracer.Close();
  StartSpan(&tracer, "late", {}).End();
  EXPECT_EQ(tracer.dropped(), 3);
}

TEST(Tracer, PartsOfASpanAreBounded) {
  Tracer tracer(true, 1, 100);
  Span span = StartSpan(&tracer, std::string(1000, 'n'), {});
  for (int i = 0; i < 1000; ++i) {
    span.Set("a" + std::to_string(i), std::string(1000, 'v'));
    span.AddEvent(std::string(1000, 'e'), {{"t", std::string(1000, 't')}});
    span.AddLink(NewTrace(true));
  }
  span.SetStatus(SpanStatus::kError, std::string(1000, 's'));
  span.End();
  SpanRecord record = TakeAll(&tracer)[0];
  EXPECT_EQ(record.name.size(), 256u);
  EXPECT_EQ(record.attributes.size() + record.dropped_attributes, 1000u);
  EXPECT_EQ(record.attributes.size(), 64u);
  EXPECT_EQ(TextOf(record, "a0").size(), 256u);
  EXPECT_EQ(record.events.size(), 128u);
  EXPECT_EQ(record.dropped_events, 1000 - 128);
  EXPECT_EQ(record.links.size(), 32u);
  EXPECT_EQ(record.dropped_links, 1000 - 32);
  EXPECT_EQ(record.status_message.size(), 256u);
  EXPECT_EQ(std::get<std::string>(record.events[0].attributes[0].value).size(),
            256u);
}

TEST(Tracer, TakeWaitsForEnoughOrForItsLimit) {
  Tracer tracer(true, 1, 100);
  std::thread maker([&] {
    for (int i = 0; i < 4; ++i) StartSpan(&tracer, "s", {}).End();
  });
  EXPECT_EQ(tracer.Take(4, milliseconds(30'000)).size(), 4u);
  maker.join();
  EXPECT_TRUE(tracer.Take(1, milliseconds(10)).empty());
  tracer.Close();
  EXPECT_TRUE(tracer.Take(1, milliseconds(30'000)).empty());
}

}  // namespace
}  // namespace fold
