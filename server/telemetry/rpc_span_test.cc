#include "server/telemetry/rpc_span.h"

#include "gtest/gtest.h"

namespace fold {
namespace {

constexpr char kParent[] =
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

SpanRecord Serve(const std::string& traceparent, int code) {
  Tracer tracer(true, 1, 10);
  Span span =
      StartRpcSpan(&tracer, "foldd.v1.Compiler", "Compile", traceparent, "a=1");
  EndRpcSpan(&span, code, "why");
  auto spans = tracer.Take(10, std::chrono::milliseconds(0));
  EXPECT_EQ(spans.size(), 1u);
  return spans.empty() ? SpanRecord() : spans[0];
}

TEST(RpcSpan, GoesOnWithTheCallersTrace) {
  SpanRecord span = Serve(kParent, 0);
  EXPECT_EQ(span.context.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(span.parent_span_id, "00f067aa0ba902b7");
  EXPECT_EQ(span.context.tracestate, "a=1");
  EXPECT_EQ(span.name, "foldd.v1.Compiler/Compile");
  EXPECT_EQ(span.kind, SpanKind::kServer);
  EXPECT_EQ(span.status, SpanStatus::kUnset);
  ASSERT_EQ(span.attributes.size(), 4u);
  EXPECT_EQ(std::get<std::string>(span.attributes[0].value), "grpc");
  EXPECT_EQ(span.attributes[3].name, "rpc.grpc.status_code");
  EXPECT_EQ(std::get<int64_t>(span.attributes[3].value), 0);
}

TEST(RpcSpan, BeginsATraceWhereThereIsNone) {
  for (const char* text : {"", "nonsense"}) {
    SpanRecord span = Serve(text, 0);
    EXPECT_EQ(span.parent_span_id, "");
    EXPECT_EQ(span.context.tracestate, "");
    EXPECT_EQ(span.context.trace_id.size(), 32u);
  }
}

TEST(RpcSpan, FailsWhereTheServerIsAtFault) {
  for (int code = 0; code <= 16; ++code) {
    bool ours = code == 2 || code == 4 || (code >= 12 && code <= 15);
    SpanRecord span = Serve(kParent, code);
    EXPECT_EQ(span.status == SpanStatus::kError, ours) << code;
    EXPECT_EQ(span.status_message, ours ? "why" : "") << code;
  }
}

}  // namespace
}  // namespace fold
