// transpose(transpose(x)) is one transposition by both permutations, and
// nothing where they undo one another; a transposition that leaves every
// dimension in its place is nothing.
#include <numeric>

#include "compiler/ops/movement.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/pattern.h"

namespace fold::passes {
namespace {

constexpr char kRule[] = "cancel_transposes";

using Permutation = std::vector<int64_t>;

std::optional<Permutation> PermutationAt(const Graph& graph, const Node& node) {
  return PermutationOf(node, graph.value(node.operands[0]).type.shape.size());
}

bool IsIdentity(const Permutation& permutation) {
  for (size_t d = 0; d < permutation.size(); ++d) {
    if (permutation[d] != static_cast<int64_t>(d)) return false;
  }
  return true;
}

// The quantization of the value between two transpositions is that of the
// codes that are left.
void SayMoved(MigrationSheet& sheet, const Graph& graph, ValueId between,
              ValueId to) {
  const auto& from = graph.value(between).type.encoding;
  const auto& kept = graph.value(to).type.encoding;
  if (!from) return;
  sheet.encodings.push_back({between, to, EncodingMove::Destination::kType,
                             from->axis, kept ? kept->axis : -1});
}

// The value in front of `first` stands for the result of `last`.
bool Remove(Rewriter& rewriter, NodeId first, NodeId last) {
  const Graph& graph = rewriter.graph();
  const ValueId from = graph.node(last).results[0];
  const ValueId to = graph.node(first).operands[0];
  Proposal proposal;
  proposal.removed = {last};
  const ValueId between = graph.node(last).operands[0];
  if (first != last && graph.HasSingleUse(between)) {
    proposal.removed.insert(proposal.removed.begin(), first);
    SayMoved(proposal.sheet, graph, between, to);
  }
  proposal.sheet.rule = kRule;
  proposal.sheet.results = {{from, to}};
  SayNamesLost(proposal, graph);
  return rewriter.Apply(std::move(proposal));
}

// One transposition for `first` and `last`.
bool Compose(Rewriter& rewriter, NodeId first, NodeId last,
             const Permutation& permutation) {
  const Graph& graph = rewriter.graph();
  const Node& inner = graph.node(first);
  Node composed = graph.node(last);
  const Value old = graph.value(composed.results[0]);
  Proposal proposal;
  proposal.removed = {last};
  composed.operands = {inner.operands[0]};
  composed.attributes["perm"] = permutation;
  const ValueId between = graph.node(last).operands[0];
  const ValueId from = composed.results[0];
  const bool single = graph.HasSingleUse(between);
  if (single) composed.provenance.Merge(inner.provenance);
  proposal.sheet.rule = kRule;
  const ValueId result = rewriter.Declare(old.name, old.type);
  if (single) {
    proposal.removed.insert(proposal.removed.begin(), first);
    SayMoved(proposal.sheet, graph, between, result);
  }
  composed.results = {result};
  proposal.added = {composed};
  proposal.sheet.results = {{from, result}};
  SayNamesLost(proposal, graph);
  return rewriter.Apply(std::move(proposal));
}

bool Cancel(Rewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.graph();
  const Node& node = graph.node(id);
  const auto outer = PermutationAt(graph, node);
  if (!outer) return false;
  if (IsIdentity(*outer)) return Remove(rewriter, id, id);
  const NodeId before = graph.value(node.operands[0]).producer;
  if (!before.valid() || OpOf(graph.node(before)) != Op::kTranspose) {
    return false;
  }
  const auto inner = PermutationAt(graph, graph.node(before));
  if (!inner) return false;
  Permutation both;
  for (int64_t d : *outer) both.push_back((*inner)[d]);
  if (IsIdentity(both) && Remove(rewriter, before, id)) return true;
  return Compose(rewriter, before, id, both);
}

}  // namespace

bool cancel_transposes(Rewriter& rewriter, const PassEnvironment&) {
  bool changed = false;
  const std::vector<NodeId> order = rewriter.graph().order();
  for (NodeId id : order) {
    const Node& node = rewriter.graph().node(id);
    if (node.erased || OpOf(node) != Op::kTranspose) continue;
    changed |= Cancel(rewriter, id);
  }
  return changed;
}

}  // namespace fold::passes
