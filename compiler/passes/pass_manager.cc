#include "compiler/passes/pass_manager.h"

#include <chrono>
#include <set>

#include "compiler/annotate/qonnx.h"
#include "compiler/passes/pattern.h"
#include "compiler/passes/stage_check.h"

namespace fold {
namespace {

int CountConversions(const Graph& graph) {
  int count = 0;
  for (NodeId id : graph.order()) {
    const Op op = OpOf(graph.node(id));
    count +=
        op == Op::kQuantizeLinear || op == Op::kDequantizeLinear || IsQonnx(op);
  }
  return count;
}

// Moves the graph on as far as the pass may bring it and the checks hold.
void Promote(Graph& graph, Stage furthest) {
  while (graph.stage < furthest) {
    const auto next = static_cast<Stage>(static_cast<int>(graph.stage) + 1);
    if (!CheckStage(graph, next).empty()) return;
    graph.stage = next;
  }
}

// A pass of an earlier stage that runs late may give later passes work again:
// then the graph is back at the stage that holds.
void Demote(Graph& graph, Stage furthest) {
  while (graph.stage > furthest && !CheckStage(graph, graph.stage).empty()) {
    graph.stage = static_cast<Stage>(static_cast<int>(graph.stage) - 1);
  }
}

// Why the graph is not at `wanted`: the first stage on the way that fails.
std::string MissingFor(const Graph& graph, Stage wanted) {
  for (int s = static_cast<int>(graph.stage) + 1; s <= static_cast<int>(wanted);
       ++s) {
    const std::string fault = CheckStage(graph, static_cast<Stage>(s));
    if (!fault.empty()) return "; " + fault;
  }
  return "; no pass that brings it there has run";
}

// The rewrites that weighed costs, by the values that they made anew.
std::vector<Refusal> DecisionsOf(const Graph& graph,
                                 const std::vector<MigrationSheet>& sheets) {
  std::vector<Refusal> decisions;
  for (const MigrationSheet& sheet : sheets) {
    if (sheet.decision.empty() || sheet.results.empty()) continue;
    const std::string& name = graph.value(sheet.results[0].to).name;
    decisions.push_back({sheet.rule, name, sheet.decision});
  }
  return decisions;
}

bool Verify(const Graph& graph, const std::string& pass, Diagnostics* sink) {
  std::string fault = CheckNodes(graph);
  if (!fault.empty()) {
    return sink->Add(DiagnosticCode::graph_broken, pass, fault);
  }
  fault = CheckInvariants(graph, graph.stage);
  return fault.empty() ||
         sink->Add(DiagnosticCode::stage_violated, pass, fault);
}

}  // namespace

int64_t ConstantBytes(const Graph& graph) {
  std::set<ValueId> read(graph.outputs.begin(), graph.outputs.end());
  for (NodeId id : graph.order()) {
    const auto& operands = graph.node(id).operands;
    read.insert(operands.begin(), operands.end());
  }
  int64_t bytes = 0;
  for (ValueId id : read) {
    if (graph.IsConstant(id)) {
      bytes += static_cast<int64_t>(graph.value(id).constant->bytes.size());
    }
  }
  return bytes;
}

bool RunPasses(Graph* graph, const std::vector<std::string>& names,
               const PassContext& context, Diagnostics* sink,
               std::vector<MigrationSheet>* sheets,
               std::vector<Refusal>* refusals,
               std::vector<PassRecord>* records) {
  for (const std::string& name : names) {
    const Pass* pass = FindPass(name);
    if (!pass) {
      return sink->Add(DiagnosticCode::unknown_pass, name,
                       "there is no such pass");
    }
    if (graph->stage < pass->requires_stage) {
      return sink->Add(
          DiagnosticCode::pass_order, name,
          "requires stage " + std::string(StageName(pass->requires_stage)) +
              ", graph is " + std::string(StageName(graph->stage)) +
              MissingFor(*graph, pass->requires_stage));
    }
    PassRecord record;
    record.name = name;
    record.nodes_before = static_cast<int>(graph->node_count());
    record.fake_quant_before = CountConversions(*graph);
    record.constant_bytes_before = ConstantBytes(*graph);
    record.start = std::chrono::steady_clock::now();
    const size_t errors = sink->all().size();
    Rewriter rewriter(*graph, &Ops());
    const bool changed =
        pass->run(rewriter, {sink, context.target, context.encodings});
    if (sink->all().size() > errors && sink->has_error()) return false;
    if (changed) Demote(*graph, pass->ensures_stage);
    Promote(*graph, pass->ensures_stage);
    if (context.verify == VerifyMode::kEach && !Verify(*graph, name, sink)) {
      return false;
    }
    record.seconds = std::chrono::duration<double>(
                         std::chrono::steady_clock::now() - record.start)
                         .count();
    record.nodes_after = static_cast<int>(graph->node_count());
    record.fake_quant_after = CountConversions(*graph);
    record.constant_bytes_after = ConstantBytes(*graph);
    record.rewrites = static_cast<int>(rewriter.applied().size());
    record.kept = rewriter.refused();
    record.decided = DecisionsOf(*graph, rewriter.applied());
    if (sheets) {
      sheets->insert(sheets->end(), rewriter.applied().begin(),
                     rewriter.applied().end());
    }
    if (refusals) {
      refusals->insert(refusals->end(), rewriter.refused().begin(),
                       rewriter.refused().end());
    }
    if (context.after) context.after(record, *graph);
    if (records) records->push_back(std::move(record));
  }
  return context.verify != VerifyMode::kEnd ||
         Verify(*graph, names.empty() ? "" : names.back(), sink);
}

}  // namespace fold
