#include "compiler/ir/sheet_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "compiler/ir/derivation.h"
#include "compiler/ir/sheet_view.h"

namespace fold {
namespace {

std::string RemovedFault(const SheetView& view) {
  const std::vector<NodeId>& removed = view.proposal.removed;
  if (removed.empty()) return "nothing is removed";
  std::set<NodeId> seen;
  for (NodeId id : removed) {
    if (!seen.insert(id).second) return "a node is removed twice";
    if (view.graph.node(id).erased) return "a removed node is gone already";
  }
  return "";
}

std::string AddedFault(const SheetView& view) {
  std::set<ValueId> made;
  for (const Node& node : view.proposal.added) {
    for (ValueId v : node.operands) {
      if (!v.valid()) continue;
      if (view.Goes(v)) {
        return "a new node reads '" + view.Name(v) + "', which goes away";
      }
      const bool later = view.IsMade(v) && !made.count(v);
      if (!view.Stays(v) || later) {
        return "a new node reads '" + view.Name(v) + "', which nothing makes";
      }
    }
    for (ValueId v : node.results) {
      if (!v.valid()) continue;
      const bool taken =
          !view.Known(v) || view.graph.IsConstant(v) ||
          view.graph.value(v).producer.valid() ||
          std::count(view.graph.inputs.begin(), view.graph.inputs.end(), v) > 0;
      if (taken || !made.insert(v).second) {
        return "a new node makes '" + view.Name(v) + "', which is made already";
      }
    }
    const std::string fault =
        view.ops ? view.ops->Check(view.graph, node) : std::string();
    if (!fault.empty()) return "new node '" + node.name + "': " + fault;
  }
  return "";
}

// Readers of what is replaced come behind what replaces it. Looked for only
// where the order of the nodes does not say so already.
bool WouldCycle(const SheetView& view) {
  const Graph& graph = view.graph;
  std::set<NodeId> readers;
  for (const ResultMove& move : view.sheet.results) {
    for (NodeId user : graph.UsersOf(move.from)) {
      if (!view.IsRemoved(user)) readers.insert(user);
    }
  }
  std::vector<NodeId> waiting;
  const auto reach = [&](ValueId v) {
    const NodeId producer = v.valid() ? graph.value(v).producer : NodeId();
    if (producer.valid() && !view.IsRemoved(producer)) {
      waiting.push_back(producer);
    }
  };
  for (const Node& node : view.proposal.added) {
    for (ValueId v : node.operands) reach(v);
  }
  for (const ResultMove& move : view.sheet.results) reach(move.to);
  std::set<NodeId> seen;
  while (!waiting.empty()) {
    const NodeId id = waiting.back();
    waiting.pop_back();
    const bool before =
        std::all_of(readers.begin(), readers.end(),
                    [&](NodeId r) { return graph.Precedes(id, r); });
    if (before || !seen.insert(id).second) continue;
    if (readers.count(id)) return true;
    for (ValueId v : graph.node(id).operands) reach(v);
  }
  return false;
}

// What `to` stands for is the constant that `from` evaluates to.
std::string EvaluationFault(const SheetView& view, const ResultMove& move) {
  const Node& node = view.graph.node(view.graph.value(move.from).producer);
  const Tensor& constant = *view.graph.value(move.to).constant;
  const TensorPtr value =
      view.ops ? view.ops->Evaluate(view.graph, node) : nullptr;
  if (value) {
    return SameNumbers(*value, constant)
               ? ""
               : "result '" + view.Name(move.from) +
                     "' is not what the node evaluates to";
  }
  for (const ConstantMove& other : view.sheet.constants) {
    if (other.to == move.to) return "";  // ConstantsFault derives it
  }
  return "result '" + view.Name(move.from) +
         "' becomes a constant that nothing computes";
}

std::string ResultFault(const SheetView& view, const ResultMove& move) {
  const Graph& graph = view.graph;
  const std::string what = "result '" + view.Name(move.from) + "' ";
  if (!view.Goes(move.from)) {
    return "the sheet moves '" + view.Name(move.from) +
           "', which no removed node makes";
  }
  if (!view.Stays(move.to)) return what + "goes to a value that goes away";
  const TensorType& from = graph.value(move.from).type;
  const TensorType& to = graph.value(move.to).type;
  // A real number is the same in a wider float type; an output's type is part
  // of the model's signature.
  const bool wider = IsFloat(from.element) && IsFloat(to.element) &&
                     !graph.IsOutput(move.from);
  if ((from.element != to.element && !wider) || from.shape != to.shape) {
    return what + "changes its type or shape";
  }
  return graph.IsConstant(move.to) ? EvaluationFault(view, move) : "";
}

std::string ResultsFault(const SheetView& view) {
  std::set<ValueId> said;
  for (const ResultMove& move : view.sheet.results) {
    std::string fault = ResultFault(view, move);
    if (!fault.empty()) return fault;
    if (!said.insert(move.from).second) {
      return "result '" + view.Name(move.from) + "' has two destinations";
    }
  }
  for (NodeId id : view.proposal.removed) {
    for (ValueId v : view.graph.node(id).results) {
      if (v.valid() && !said.count(v) && view.IsReadElsewhere(v)) {
        return "result '" + view.Name(v) + "' has no destination";
      }
    }
  }
  return WouldCycle(view) ? "what replaces a result depends on its readers"
                          : "";
}

std::string ProvenanceFault(const SheetView& view) {
  if (view.proposal.added.empty()) return "";
  Provenance kept, known;
  for (const Node& node : view.proposal.added) kept.Merge(node.provenance);
  for (NodeId id : view.nearby()) known.Merge(view.graph.node(id).provenance);
  for (NodeId id : view.proposal.removed) {
    for (const std::string& source : view.graph.node(id).provenance.nodes) {
      if (!std::binary_search(kept.nodes.begin(), kept.nodes.end(), source)) {
        return "provenance '" + source + "' has no destination";
      }
    }
  }
  for (const std::string& source : kept.nodes) {
    if (!std::binary_search(known.nodes.begin(), known.nodes.end(), source)) {
      return "provenance '" + source + "' is not one of the removed nodes'";
    }
  }
  return "";
}

// Operators that make infinities or NaN of finite numbers, and how many.
std::map<OpId, int> ExceptionalOps(const SheetView& view, bool removed) {
  std::map<OpId, int> count;
  if (removed) {
    for (NodeId id : view.proposal.removed) {
      const Node& node = view.graph.node(id);
      for (OpId op : view.ops->Exceptional(view.graph, node)) ++count[op];
    }
  } else {
    for (const Node& node : view.proposal.added) {
      for (OpId op : view.ops->Exceptional(view.graph, node)) ++count[op];
    }
  }
  return count;
}

std::string ExceptionalFault(const SheetView& view) {
  const MigrationSheet& sheet = view.sheet;
  if (!sheet.exceptional_preserved) {
    return sheet.exceptional_domain.empty()
               ? "exceptional values change on an unstated domain"
               : "";
  }
  if (!sheet.exceptional_domain.empty()) {
    return "exceptional values are said to be preserved and to change on '" +
           sheet.exceptional_domain + "'";
  }
  if (!view.ops || view.IsDead()) return "";
  const bool evaluated = view.proposal.added.empty() &&
                         std::all_of(sheet.results.begin(), sheet.results.end(),
                                     [&](const ResultMove& m) {
                                       return view.graph.IsConstant(m.to);
                                     });
  if (evaluated) return "";  // the numbers have been compared
  const auto before = ExceptionalOps(view, true);
  const auto after = ExceptionalOps(view, false);
  for (const auto& both : {before, after}) {
    for (const auto& [op, count] : both) {
      const auto in = [op = op](const auto& ops) {
        const auto at = ops.find(op);
        return at == ops.end() ? 0 : at->second;
      };
      if (in(before) == in(after)) continue;
      return "exceptional values of '" + std::string(view.ops->Mnemonic(op)) +
             "' are said to be preserved, and it " +
             (in(before) > in(after) ? "goes away" : "is new");
    }
  }
  return "";
}

// The shape of `fact.value`, inferred from what makes it.
std::string InferenceFault(const SheetView& view, const LostFact& fact) {
  const std::string what = "the " + std::string(LostFactName(fact.kind)) +
                           " of '" + view.Name(fact.value) + "' ";
  const bool of_name = fact.kind == LostFact::Kind::kName;
  if (of_name || fact.kind == LostFact::Kind::kScales ||
      fact.kind == LostFact::Kind::kZeros) {
    return what + "cannot be inferred";
  }
  if (fact.kind == LostFact::Kind::kElementType) return "";
  const Node& node = view.graph.node(view.graph.value(fact.value).producer);
  const auto shape = view.ops && node.results[0] == fact.value
                         ? view.ops->InferShape(view.graph, node)
                         : std::nullopt;
  return shape && *shape == view.graph.value(fact.value).type.shape
             ? ""
             : what + "does not follow from the operands";
}

std::string LostFault(const SheetView& view, const LostFact& fact) {
  const std::string what = "the " + std::string(LostFactName(fact.kind)) +
                           " of '" + view.Name(fact.value) + "' ";
  if (fact.kind != LostFact::Kind::kName) {
    return what + "is given up, and needs a destination";
  }
  return view.ResultMoveOf(fact.value)
             ? what + "is said to be lost and has a destination"
             : "";
}

std::string FactsFault(const SheetView& view) {
  std::set<ValueId> lost;
  for (const auto* facts : {&view.sheet.inferable, &view.sheet.unrecoverable}) {
    const bool inferable = facts == &view.sheet.inferable;
    for (const LostFact& fact : *facts) {
      if (!view.Known(fact.value) || !view.Goes(fact.value)) {
        return "the sheet gives up '" + view.Name(fact.value) +
               "', which no removed node makes";
      }
      std::string fault =
          inferable ? InferenceFault(view, fact) : LostFault(view, fact);
      if (!fault.empty()) return fault;
      if (!inferable && !lost.insert(fact.value).second) {
        return "the name of '" + view.Name(fact.value) + "' is lost twice";
      }
    }
  }
  for (NodeId id : view.proposal.removed) {
    for (ValueId v : view.graph.node(id).results) {
      if (v.valid() && !view.ResultMoveOf(v) && !lost.count(v)) {
        return "the name of '" + view.Name(v) + "' has no destination";
      }
    }
  }
  return "";
}

}  // namespace

std::string SheetFault(const Graph& graph, const Proposal& proposal,
                       const OpTable* ops) {
  if (proposal.removed.empty()) return "nothing is removed";
  const SheetView view(graph, proposal, ops);
  for (const auto& check :
       {RemovedFault, AddedFault, ResultsFault, EncodingsFault, ConstantsFault,
        ExceptionalFault, ProvenanceFault, FactsFault}) {
    std::string fault = check(view);
    if (!fault.empty()) return fault;
  }
  return "";
}

}  // namespace fold
