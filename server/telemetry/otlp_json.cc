#include "server/telemetry/otlp_json.h"

#include <charconv>

#include "nlohmann/json.hpp"

namespace fold {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kScope[] = "foldd";
constexpr size_t kMaxAnswerBytes = 256;

Json Text(const std::string& text) { return Json{{"stringValue", text}}; }

Json ValueOf(const SpanAttribute& attribute) {
  if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    return Text(*text);
  }
  if (const auto* number = std::get_if<int64_t>(&attribute.value)) {
    return Json{{"intValue", std::to_string(*number)}};
  }
  if (const auto* real = std::get_if<double>(&attribute.value)) {
    return Json{{"doubleValue", *real}};
  }
  return Json{{"boolValue", std::get<bool>(attribute.value)}};
}

Json Attributes(const std::vector<SpanAttribute>& attributes) {
  Json list = Json::array();
  for (const SpanAttribute& attribute : attributes) {
    list.push_back({{"key", attribute.name}, {"value", ValueOf(attribute)}});
  }
  return list;
}

Json EventOf(const SpanEvent& event) {
  Json out = {{"timeUnixNano", std::to_string(event.time_nanos)},
              {"name", event.name}};
  if (!event.attributes.empty()) {
    out["attributes"] = Attributes(event.attributes);
  }
  return out;
}

Json LinkOf(const TraceContext& link) {
  Json out = {{"traceId", link.trace_id}, {"spanId", link.span_id}};
  if (!link.tracestate.empty()) out["traceState"] = link.tracestate;
  out["flags"] = link.flags;
  return out;
}

void AddLists(const SpanRecord& span, Json* out) {
  (*out)["attributes"] = Attributes(span.attributes);
  if (!span.events.empty()) {
    Json& events = (*out)["events"] = Json::array();
    for (const SpanEvent& event : span.events) events.push_back(EventOf(event));
  }
  if (!span.links.empty()) {
    Json& links = (*out)["links"] = Json::array();
    for (const TraceContext& link : span.links) links.push_back(LinkOf(link));
  }
  auto dropped = [out](const char* name, int64_t count) {
    if (count > 0) (*out)[name] = count;
  };
  dropped("droppedAttributesCount", span.dropped_attributes);
  dropped("droppedEventsCount", span.dropped_events);
  dropped("droppedLinksCount", span.dropped_links);
}

Json SpanOf(const SpanRecord& span) {
  Json out = {{"traceId", span.context.trace_id},
              {"spanId", span.context.span_id}};
  if (!span.context.tracestate.empty()) {
    out["traceState"] = span.context.tracestate;
  }
  if (!span.parent_span_id.empty()) out["parentSpanId"] = span.parent_span_id;
  out["flags"] = span.context.flags;
  out["name"] = span.name;
  out["kind"] = static_cast<int>(span.kind);
  out["startTimeUnixNano"] = std::to_string(span.start_nanos);
  out["endTimeUnixNano"] = std::to_string(span.end_nanos);
  AddLists(span, &out);
  Json status = Json::object();
  if (span.status != SpanStatus::kUnset) {
    status["code"] = static_cast<int>(span.status);
  }
  if (!span.status_message.empty()) status["message"] = span.status_message;
  out["status"] = std::move(status);
  return out;
}

}  // namespace

std::string OtlpJson(const TelemetryResource& resource,
                     std::span<const SpanRecord> spans) {
  Json list = Json::array();
  for (const SpanRecord& span : spans) list.push_back(SpanOf(span));
  auto attribute = [](const char* key, const std::string& value) {
    return Json{{"key", key}, {"value", Text(value)}};
  };
  Json request;
  Json& one = request["resourceSpans"][0];
  one["resource"]["attributes"] =
      Json::array({attribute("service.name", kScope),
                   attribute("service.version", resource.service_version),
                   attribute("service.instance.id", resource.instance_id)});
  Json& scope = one["scopeSpans"][0];
  scope["scope"]["name"] = kScope;
  scope["scope"]["version"] = resource.service_version;
  scope["spans"] = std::move(list);
  return request.dump(-1, ' ', false, Json::error_handler_t::replace);
}

int64_t RejectedSpans(const std::string& response, std::string* message) {
  auto json =
      nlohmann::json::parse(response, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("partialSuccess")) return 0;
  const auto& partial = json["partialSuccess"];
  if (!partial.is_object()) return 0;
  if (partial.contains("errorMessage") && partial["errorMessage"].is_string()) {
    *message =
        partial["errorMessage"].get<std::string>().substr(0, kMaxAnswerBytes);
  }
  if (!partial.contains("rejectedSpans")) return 0;
  // A 64-bit number: by the rules a string, from some servers a number.
  const auto& count = partial["rejectedSpans"];
  if (count.is_number_integer()) return count.get<int64_t>();
  int64_t rejected = 0;
  if (count.is_string()) {
    const auto& text = count.get_ref<const std::string&>();
    std::from_chars(text.data(), text.data() + text.size(), rejected);
  }
  return rejected;
}

}  // namespace fold
