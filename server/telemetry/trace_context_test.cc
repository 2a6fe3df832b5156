#include "server/telemetry/trace_context.h"

#include <set>

#include "gtest/gtest.h"

namespace fold {
namespace {

constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kSpan[] = "00f067aa0ba902b7";

std::string Header(const std::string& version, const std::string& rest = "") {
  return version + "-" + kTrace + "-" + kSpan + "-01" + rest;
}

std::string State(const std::string& text) {
  auto context = ParseTraceparent(Header("00"), text);
  return context ? context->tracestate : "(none)";
}

TEST(TraceContext, ReadsVersion00) {
  auto context = ParseTraceparent(Header("00"), "rojo=00f067aa0ba902b7");
  ASSERT_TRUE(context.has_value());
  EXPECT_EQ(context->trace_id, kTrace);
  EXPECT_EQ(context->span_id, kSpan);
  EXPECT_TRUE(context->sampled());
  EXPECT_EQ(context->tracestate, "rojo=00f067aa0ba902b7");
  EXPECT_EQ(FormatTraceparent(*context), Header("00"));
}

TEST(TraceContext, UnsampledStaysUnsampled) {
  std::string header = std::string("00-") + kTrace + "-" + kSpan + "-00";
  auto context = ParseTraceparent(header);
  ASSERT_TRUE(context.has_value());
  EXPECT_FALSE(context->sampled());
  EXPECT_EQ(FormatTraceparent(*context), header);
}

TEST(TraceContext, OnlyTheKnownFlagIsHandedOn) {
  auto context =
      ParseTraceparent(std::string("00-") + kTrace + "-" + kSpan + "-ff");
  ASSERT_TRUE(context.has_value());
  EXPECT_EQ(FormatTraceparent(*context), Header("00"));
}

TEST(TraceContext, ALaterVersionIsReadAsFarAsItIsKnown) {
  EXPECT_TRUE(ParseTraceparent(Header("01")));
  EXPECT_TRUE(ParseTraceparent(Header("cc", "-what-comes-later")));
  EXPECT_TRUE(ParseTraceparent(Header("cc", "-")));
  EXPECT_FALSE(ParseTraceparent(Header("cc", ".what-comes-later")));
  EXPECT_EQ(FormatTraceparent(*ParseTraceparent(Header("cc", "-x"))),
            Header("00"));
}

TEST(TraceContext, WhatIsWrongIsNoTrace) {
  std::string trace = kTrace, span = kSpan;
  const std::string wrong[] = {
      "",
      "00",
      Header("ff"),
      Header("0"),
      Header("0g"),
      Header("0A"),
      Header("00", "-more"),
      Header("00", "-"),
      Header("00", "0"),
      "00-" + std::string(32, '0') + "-" + span + "-01",
      "00-" + trace + "-" + std::string(16, '0') + "-01",
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + span + "-01",
      "00-" + trace + "-00F067AA0BA902B7-01",
      "00-" + trace.substr(1) + "-" + span + "-01",
      "00-" + trace + "-" + span.substr(1) + "-01x",
      "00-" + trace + "-" + span + "-1",
      "00-" + trace + "-" + span + "-0x",
      "00_" + trace + "-" + span + "-01",
      "00-" + trace + "_" + span + "-01",
      "00-" + trace + "-" + span + "_01",
      std::string(55, '\0'),
  };
  for (const std::string& text : wrong) {
    EXPECT_FALSE(ParseTraceparent(text)) << text;
  }
  // Every single wrong byte in place of a right one.
  for (size_t at = 0; at < Header("00").size(); ++at) {
    std::string text = Header("00");
    text[at] = '*';
    EXPECT_FALSE(ParseTraceparent(text)) << text;
  }
}

TEST(TraceContext, TracestateKeepsItsGrammarOrIsDroppedAlone) {
  EXPECT_EQ(State("a=1,b=2"), "a=1,b=2");
  EXPECT_EQ(State(" a=1 ,\tb=2 ,, "), "a=1,b=2");
  EXPECT_EQ(State("fw529a3039@dt=FfAAAA,z9/_-*=x y!~"),
            "fw529a3039@dt=FfAAAA,z9/_-*=x y!~");
  for (const char* wrong : {"a", "a=", "=1", "A=1", "a=1,a=2", "a@b@c=1",
                            "a=1=2", "a=\x01", "a=\x7f", "-a=1", "a b=1"}) {
    EXPECT_EQ(State(wrong), "") << wrong;
  }
  EXPECT_EQ(State(std::string(257, 'k') + "=1"), "");
  EXPECT_EQ(State("k=" + std::string(257, 'v')), "");
}

TEST(TraceContext, TracestateIsBounded) {
  std::string many;
  for (int i = 0; i < 32; ++i) many += "k" + std::to_string(i) + "=v,";
  EXPECT_EQ(State(many) + ",", many);
  EXPECT_EQ(State(many + "one=more"), "");
  // Long entries go first, and then the last ones.
  std::string long_entry = "long=" + std::string(200, 'x');
  std::string part = "=" + std::string(100, 'y');
  std::string text = "a" + part + "," + long_entry + ",b" + part + ",c" + part +
                     ",d" + part + ",e" + part;
  EXPECT_EQ(State(text), "a" + part + ",b" + part + ",c" + part + ",d" + part);
  EXPECT_EQ(State("a" + part + "," + long_entry),
            "a" + part + "," + long_entry);
}

TEST(TraceContext, ChildrenShareTheTraceAlone) {
  auto parent = ParseTraceparent(Header("00"), "a=1");
  ASSERT_TRUE(parent.has_value());
  TraceContext child = NewChild(*parent);
  EXPECT_EQ(child.trace_id, parent->trace_id);
  EXPECT_NE(child.span_id, parent->span_id);
  EXPECT_EQ(child.span_id.size(), 16u);
  EXPECT_EQ(child.tracestate, "a=1");
  EXPECT_TRUE(child.sampled());
}

TEST(TraceContext, NewTracesAreValidAndDiffer) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    TraceContext context = NewTrace(i % 2 == 0);
    EXPECT_EQ(context.sampled(), i % 2 == 0);
    EXPECT_TRUE(ParseTraceparent(FormatTraceparent(context)));
    ids.insert(context.trace_id);
    ids.insert(context.span_id);
  }
  EXPECT_EQ(ids.size(), 2000u);
  EXPECT_EQ(FormatTraceparent(TraceContext()), "");
}

TEST(TraceContext, SamplesItsPartByTheIdAlone) {
  EXPECT_FALSE(SampleTrace(NewTrace(true).trace_id, 0));
  EXPECT_TRUE(SampleTrace(NewTrace(true).trace_id, 1));
  EXPECT_TRUE(SampleTrace(std::string(32, 'f'), 1));
  EXPECT_FALSE(SampleTrace(std::string(32, 'f'), 0.999));
  int sampled = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string id = NewTrace(true).trace_id;
    bool quarter = SampleTrace(id, 0.25);
    sampled += quarter;
    EXPECT_TRUE(!quarter || SampleTrace(id, 0.5));
  }
  EXPECT_GT(sampled, 800);  // 1,000 ± 27: more than seven deviations off
  EXPECT_LT(sampled, 1200);
}

}  // namespace
}  // namespace fold
