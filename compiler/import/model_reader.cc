#include "compiler/import/model_reader.h"

#include <google/protobuf/io/coded_stream.h>

#include "compiler/import/labels.h"
#include "compiler/import/wire_check.h"
#include "compiler/ops/ops.h"

namespace fold::importer {
namespace {

constexpr char kOnnxAlias[] = "ai.onnx";

bool Parse(std::span<const uint8_t> bytes, const ImportLimits& limits,
           onnx::ModelProto* model) {
  const int size = static_cast<int>(bytes.size());
  google::protobuf::io::CodedInputStream stream(bytes.data(), size);
  stream.SetTotalBytesLimit(size);
  stream.SetRecursionLimit(limits.max_nesting + 1);
  return model->ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

template <typename Nodes>
void RenameAlias(Nodes* nodes) {
  for (onnx::NodeProto& node : *nodes) {
    if (node.domain() == kOnnxAlias) node.clear_domain();
  }
}

bool CheckVersion(const std::string& domain, int64_t version,
                  Diagnostics* sink) {
  const std::string field = "opset_import '" + Readable(domain) + "'";
  int64_t oldest = 1, newest = INT32_MAX;
  if (domain.empty()) oldest = kOldestOnnxOpset, newest = kNewestOnnxOpset;
  if (domain == "com.microsoft") oldest = newest = kMicrosoftOpset;
  if (IsQonnxDomain(domain)) newest = kNewestQonnxOpset;
  if (version >= oldest && version <= newest) return true;
  return sink->Add(DiagnosticCode::unsupported_operator, field,
                   "version " + std::to_string(version) + "; foldd reads " +
                       std::to_string(oldest) + " to " +
                       std::to_string(newest));
}

void ImportQonnx(onnx::ModelProto* model, OpsetVersions* versions) {
  for (const onnx::NodeProto& node : model->graph().node()) {
    if (!IsQonnxDomain(node.domain())) continue;
    if (!versions->emplace(node.domain(), 1).second) continue;
    auto* import = model->add_opset_import();
    import->set_domain(node.domain());
    import->set_version(1);
  }
}

bool ReadVersions(onnx::ModelProto* model, OpsetVersions* versions,
                  Diagnostics* sink) {
  for (auto& import : *model->mutable_opset_import()) {
    if (import.domain() == kOnnxAlias) import.clear_domain();
    const int64_t version = import.version();
    if (!CheckVersion(import.domain(), version, sink)) return false;
    const auto [at, fresh] =
        versions->emplace(import.domain(), static_cast<int>(version));
    if (!fresh && at->second != version) {
      return sink->Add(DiagnosticCode::model_invalid,
                       "opset_import '" + Readable(import.domain()) + "'",
                       "the domain is imported in two versions");
    }
  }
  ImportQonnx(model, versions);
  return true;
}

}  // namespace

bool ReadModel(std::span<const uint8_t> bytes, const ImportLimits& limits,
               onnx::ModelProto* model, OpsetVersions* versions,
               Diagnostics* sink) {
  if (!CheckWire(bytes, limits, sink)) return false;
  if (!Parse(bytes, limits, model)) {
    return sink->Add(DiagnosticCode::model_unreadable, "model",
                     "protobuf cannot parse the file");
  }
  if (!model->has_graph()) {
    return sink->Add(DiagnosticCode::model_invalid, "graph",
                     "the file has no graph; is it an ONNX model?");
  }
  if (model->ir_version() < kOldestIrVersion ||
      model->ir_version() > kNewestIrVersion) {
    return sink->Add(DiagnosticCode::model_invalid, "ir_version",
                     "version " + std::to_string(model->ir_version()) +
                         "; foldd reads " + std::to_string(kOldestIrVersion) +
                         " to " + std::to_string(kNewestIrVersion));
  }
  RenameAlias(model->mutable_graph()->mutable_node());
  for (onnx::FunctionProto& function : *model->mutable_functions()) {
    RenameAlias(function.mutable_node());
    for (auto& import : *function.mutable_opset_import()) {
      if (import.domain() == kOnnxAlias) import.clear_domain();
    }
  }
  return ReadVersions(model, versions, sink);
}

}  // namespace fold::importer
