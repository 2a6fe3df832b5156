#include "compiler/import/wire_check.h"

#include <google/protobuf/descriptor.h>

#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/labels.h"
#include "onnx/onnx_pb.h"

namespace fold::importer {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

enum WireType { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

class WireCheck {
 public:
  WireCheck(std::span<const uint8_t> bytes, const ImportLimits& limits,
            Diagnostics* sink)
      : bytes_(bytes), limits_(limits), sink_(sink) {}

  // Reads the message of `type` (null: unknown, taken as opaque) up to `end`.
  bool Message(const Descriptor* type, size_t end) {
    if (static_cast<int>(path_.size()) > limits_.max_nesting) {
      return Fault("messages are nested deeper than " +
                   std::to_string(limits_.max_nesting));
    }
    while (at_ < end) {
      uint64_t tag;
      if (!Varint(end, &tag)) return false;
      const uint64_t number = tag >> 3;
      if (number == 0 || number > 0x1fffffff) {
        return Fault("a field number out of range");
      }
      const auto* field = type->FindFieldByNumber(static_cast<int>(number));
      if (!Field(field, static_cast<int>(tag & 7), end)) return false;
    }
    return true;
  }

 private:
  bool Field(const FieldDescriptor* field, int wire_type, size_t end) {
    path_.push_back(field ? std::string_view(field->name()) : "?");
    const bool good = FieldBody(field, wire_type, end);
    path_.pop_back();
    return good;
  }

  bool FieldBody(const FieldDescriptor* field, int wire_type, size_t end) {
    uint64_t value;
    switch (wire_type) {
      case kVarint:
        return (field || Count()) && Varint(end, &value);
      case kFixed64:
        return (field || Count()) && Skip(8, end);
      case kFixed32:
        return (field || Count()) && Skip(4, end);
      case kLength:
        return Count() && LengthDelimited(field, end);
      default:
        return Fault("wire type " + std::to_string(wire_type) +
                     " is none that ONNX uses");
    }
  }

  bool LengthDelimited(const FieldDescriptor* field, size_t end) {
    uint64_t length;
    if (!Varint(end, &length)) return false;
    if (length > end - at_) {
      return Fault("claims " + std::to_string(length) + " bytes where " +
                   std::to_string(end - at_) + " are left");
    }
    const size_t field_end = at_ + static_cast<size_t>(length);
    if (field && field->type() == FieldDescriptor::TYPE_MESSAGE) {
      return Message(field->message_type(), field_end);
    }
    if (field && field->type() == FieldDescriptor::TYPE_STRING &&
        field->name() != "doc_string" &&
        !IsUtf8({reinterpret_cast<const char*>(&bytes_[0]) + at_,
                 static_cast<size_t>(length)})) {
      return Fault("text that is not UTF-8");
    }
    at_ = field_end;
    return true;
  }

  bool Varint(size_t end, uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ >= end) return Fault("ends in the middle of a number");
      const uint8_t byte = bytes_[at_++];
      if (shift < 64) *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return Fault("a number of more than ten bytes");
  }

  bool Skip(size_t size, size_t end) {
    if (size > end - at_) return Fault("ends in the middle of a number");
    at_ += size;
    return true;
  }

  bool Count() {
    if (++items_ <= limits_.max_items) return true;
    return sink_->Add(DiagnosticCode::model_too_large, Path(),
                      "the file has more than " +
                          std::to_string(limits_.max_items) +
                          " messages and strings");
  }

  bool Fault(const std::string& what) {
    return sink_->Add(DiagnosticCode::model_unreadable, Path(),
                      "at byte " + std::to_string(at_) + ": " + what);
  }

  // "graph.node.attribute": the innermost fields if there are many.
  std::string Path() const {
    constexpr size_t kShown = 8;
    const size_t first = path_.size() > kShown ? path_.size() - kShown : 0;
    std::string path = first > 0 ? "..." : "";
    for (size_t i = first; i < path_.size(); ++i) {
      if (i > first) path += ".";
      path += path_[i];
    }
    return path.empty() ? "model" : path;
  }

  std::span<const uint8_t> bytes_;
  const ImportLimits& limits_;
  Diagnostics* sink_;
  size_t at_ = 0;
  int64_t items_ = 0;
  std::vector<std::string_view> path_;
};

}  // namespace

bool CheckWire(std::span<const uint8_t> bytes, const ImportLimits& limits,
               Diagnostics* sink) {
  if (bytes.empty()) {
    return sink->Add(DiagnosticCode::model_unreadable, "model",
                     "the file is empty");
  }
  if (bytes.size() > limits.max_model_bytes) {
    return sink->Add(DiagnosticCode::model_too_large, "model",
                     "the file has " + std::to_string(bytes.size()) +
                         " bytes; the limit is " +
                         std::to_string(limits.max_model_bytes));
  }
  return WireCheck(bytes, limits, sink)
      .Message(onnx::ModelProto::descriptor(), bytes.size());
}

}  // namespace fold::importer
