#include "compiler/api/convert_report.h"

#include <cmath>

#include "compiler/api/convert.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

v1::Exactness ExactnessToProto(Exactness exactness) {
  switch (exactness) {
    case Exactness::kProved:
      return v1::PROVED;
    case Exactness::kBounded:
      return v1::BOUNDED;
    case Exactness::kTarget:
      return v1::TARGET;
    case Exactness::kFloat:
      return v1::FLOAT;
  }
  return v1::EXACTNESS_UNSPECIFIED;
}

int64_t Microseconds(double seconds) { return std::llround(seconds * 1e6); }

void ArtifactToProto(const ArtifactSummary& from, v1::ArtifactSummary* to) {
  to->set_size_bytes(from.size_bytes);
  to->set_exactness(ExactnessToProto(from.exactness));
  to->set_integer_only(from.integer_only);
  to->set_arena_bytes(from.arena_bytes);
  to->set_arena_bytes_before_folding(from.arena_bytes_before_folding);
  to->set_constant_bytes(from.constant_bytes);
  to->set_peak_lower_bound(from.peak_lower_bound);
}

v1::SheetItem::Kind ItemKindToProto(SheetItem::Kind kind) {
  switch (kind) {
    case SheetItem::Kind::kResult:
      return v1::SheetItem::RESULT;
    case SheetItem::Kind::kEncoding:
      return v1::SheetItem::ENCODING;
    case SheetItem::Kind::kConstant:
      return v1::SheetItem::CONSTANT;
    case SheetItem::Kind::kInferable:
      return v1::SheetItem::INFERABLE;
    case SheetItem::Kind::kUnrecoverable:
      return v1::SheetItem::UNRECOVERABLE;
  }
  return v1::SheetItem::KIND_UNSPECIFIED;
}

void NodeToProto(const SheetNode& from, v1::SheetNode* to) {
  to->set_name(from.name);
  to->set_kind(from.kind);
  to->mutable_sources()->Assign(from.sources.begin(), from.sources.end());
  to->mutable_operands()->Assign(from.operands.begin(), from.operands.end());
  to->mutable_results()->Assign(from.results.begin(), from.results.end());
}

void SheetToProto(const SheetSummary& from, v1::Sheet* to) {
  for (const auto& node : from.removed) NodeToProto(node, to->add_removed());
  for (const auto& node : from.added) NodeToProto(node, to->add_added());
  for (const SheetItem& item : from.items) {
    v1::SheetItem* out = to->add_items();
    out->set_kind(ItemKindToProto(item.kind));
    out->set_from(item.from);
    out->set_to(item.to);
    out->set_detail(item.detail);
  }
  to->set_changes(from.changes);
  to->set_constant_bytes_added(from.constant_bytes_added);
  to->set_constant_bytes_removed(from.constant_bytes_removed);
  to->set_run_bytes_added(from.run_bytes_added);
  to->set_run_bytes_removed(from.run_bytes_removed);
}

void GraphToProto(const GraphSummary& from, v1::GraphRecord* to) {
  for (const auto& node : from.nodes) NodeToProto(node, to->add_nodes());
  to->mutable_inputs()->Assign(from.inputs.begin(), from.inputs.end());
  to->mutable_outputs()->Assign(from.outputs.begin(), from.outputs.end());
}

void PassToProto(const PassSummary& from, v1::PassRecord* to) {
  to->set_name(from.name);
  to->set_nodes_before(from.nodes_before);
  to->set_nodes_after(from.nodes_after);
  to->set_fake_quant_before(from.fake_quant_before);
  to->set_fake_quant_after(from.fake_quant_after);
  to->set_constant_bytes_before(from.constant_bytes_before);
  to->set_constant_bytes_after(from.constant_bytes_after);
  to->set_rewrites(from.rewrites);
  for (const auto& sheet : from.sheets) SheetToProto(sheet, to->add_sheets());
  for (const KeptNode& kept : from.kept) {
    v1::Kept* out = to->add_kept();
    out->set_node(kept.node);
    out->set_reason(kept.reason);
  }
  for (const KeptNode& decided : from.decided) {
    v1::Kept* out = to->add_decided();
    out->set_node(decided.node);
    out->set_reason(decided.reason);
  }
}

void OpToProto(const OpSummary& from, v1::OpRecord* to) {
  to->set_name(from.name);
  to->set_kind(from.kind);
  to->mutable_sources()->Assign(from.sources.begin(), from.sources.end());
  to->set_exactness(ExactnessToProto(from.exactness));
  to->set_error_steps(from.error_steps);
}

void MemoryToProto(const MemorySummary& from, v1::MemoryRecord* to) {
  to->set_name(from.name);
  to->set_size_bytes(from.size_bytes);
  to->set_constant_bytes(from.constant_bytes);
  to->set_arena_bytes(from.arena_bytes);
}

void RunToProto(const CompileReport& report, v1::RunRecord* run) {
  for (const PassSummary& pass : report.passes) {
    v1::PassTime* time = run->add_passes();
    time->set_name(pass.name);
    time->set_start_microseconds(Microseconds(pass.start_seconds));
    time->set_wall_microseconds(Microseconds(pass.seconds));
    for (const SheetSummary& sheet : pass.sheets) {
      time->add_sheet_microseconds(Microseconds(sheet.seconds));
    }
  }
  run->set_start_unix_microseconds(report.start_unix_microseconds);
  run->set_wall_microseconds(Microseconds(report.seconds));
  run->set_prover_microseconds(Microseconds(report.prover_seconds));
}

}  // namespace

CompileOptions FromProto(const v1::CompileOptions& message) {
  CompileOptions options;
  for (const v1::InputShape& shape : message.shapes()) {
    options.shapes.emplace_back(shape.name(),
                                std::vector<int64_t>(shape.dimensions().begin(),
                                                     shape.dimensions().end()));
  }
  options.io = message.io() == v1::IO_FLOAT       ? BoundaryIo::kFloat
               : message.io() == v1::IO_QUANTIZED ? BoundaryIo::kQuantized
                                                  : BoundaryIo::kUnspecified;
  for (int requirement : message.require()) {
    options.require_integer_only |= requirement == v1::INTEGER_ONLY;
    options.require_exact |= requirement == v1::EXACT_RESULT;
  }
  options.taps = message.taps();
  options.sheets = message.sheets();
  options.passes.assign(message.passes().begin(), message.passes().end());
  options.verify =
      message.verify() == v1::VERIFY_OFF    ? CompileOptions::Verify::kOff
      : message.verify() == v1::VERIFY_EACH ? CompileOptions::Verify::kEach
                                            : CompileOptions::Verify::kEnd;
  options.dump_after.assign(message.dump_after().begin(),
                            message.dump_after().end());
  return options;
}

v1::CompileReport ToProto(const CompileReport& report) {
  v1::CompileReport message;
  ArtifactToProto(report.artifact, message.mutable_artifact());
  for (const auto& pass : report.passes) {
    PassToProto(pass, message.add_passes());
  }
  for (const auto& op : report.ops) OpToProto(op, message.add_ops());
  for (const auto& memory : report.memory) {
    MemoryToProto(memory, message.add_memory());
  }
  for (const auto& diagnostic : report.diagnostics) {
    *message.add_diagnostics() = ToProto(diagnostic);
  }
  if (!report.imported.nodes.empty() || !report.imported.inputs.empty()) {
    GraphToProto(report.imported, message.mutable_imported());
    GraphToProto(report.lowered, message.mutable_lowered());
  }
  RunToProto(report, message.mutable_run());
  return message;
}

}  // namespace fold
