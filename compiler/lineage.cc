#include "compiler/lineage.h"

#include "compiler/ir/rewriter.h"
#include "compiler/ops/ops.h"

namespace fold {
namespace {

std::string KeyOf(const Graph& graph, ValueId id) {
  return id.valid() ? graph.value(id).first_name : std::string();
}

std::vector<std::string> KeysOf(const Graph& graph,
                                const std::vector<ValueId>& ids) {
  std::vector<std::string> keys;
  keys.reserve(ids.size());
  for (ValueId id : ids) keys.push_back(KeyOf(graph, id));
  return keys;
}

SheetNode Summarize(const Graph& graph, const RewrittenNode& node) {
  return {node.name, std::string(Ops().Mnemonic(node.op)), node.sources,
          KeysOf(graph, node.operands), KeysOf(graph, node.results)};
}

}  // namespace

SheetSummary SummarizeSheet(const Graph& graph, const MigrationSheet& sheet) {
  SheetSummary summary;
  for (const auto& node : sheet.removed) {
    summary.removed.push_back(Summarize(graph, node));
  }
  for (const auto& node : sheet.added) {
    summary.added.push_back(Summarize(graph, node));
  }
  const auto add = [&](SheetItem::Kind kind, ValueId from, ValueId to,
                       std::string detail) {
    summary.items.push_back(
        {kind, KeyOf(graph, from), KeyOf(graph, to), std::move(detail)});
  };
  for (const ResultMove& move : sheet.results) {
    add(SheetItem::Kind::kResult, move.from, move.to, "");
  }
  for (const EncodingMove& move : sheet.encodings) {
    add(SheetItem::Kind::kEncoding, move.from, move.to, EncodingMoveText(move));
  }
  for (const ConstantMove& move : sheet.constants) {
    add(SheetItem::Kind::kConstant, move.from, move.to, ConstantMoveText(move));
  }
  for (const LostFact& fact : sheet.inferable) {
    add(SheetItem::Kind::kInferable, fact.value, ValueId(),
        std::string(LostFactName(fact.kind)));
  }
  for (const LostFact& fact : sheet.unrecoverable) {
    add(SheetItem::Kind::kUnrecoverable, fact.value, ValueId(),
        std::string(LostFactName(fact.kind)));
  }
  summary.changes = sheet.exceptional_domain;
  summary.constant_bytes_added = sheet.cost.constant_bytes_added;
  summary.constant_bytes_removed = sheet.cost.constant_bytes_removed;
  summary.run_bytes_added = sheet.cost.run_bytes_added;
  summary.run_bytes_removed = sheet.cost.run_bytes_removed;
  summary.seconds = sheet.cost.seconds;
  return summary;
}

GraphSummary SummarizeGraph(const Graph& graph) {
  GraphSummary summary;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    summary.nodes.push_back(
        {UserName(graph, id), std::string(Ops().Mnemonic(node.op)),
         node.provenance.nodes, KeysOf(graph, node.operands),
         KeysOf(graph, node.results)});
  }
  summary.inputs = KeysOf(graph, graph.inputs);
  summary.outputs = KeysOf(graph, graph.outputs);
  return summary;
}

}  // namespace fold
