#include "compiler/ir/rewriter.h"

#include <algorithm>
#include <set>
#include <utility>

namespace fold {
namespace {

// The numbers that node and value types keep: where an absorbed constant may
// have gone.
std::set<double> NumbersOf(const Node& node) {
  std::set<double> numbers;
  for (const Step& step : node.steps) {
    numbers.insert({step.low, step.high, step.epsilon});
  }
  for (const auto& [key, attribute] : node.attributes) {
    if (const auto* i = std::get_if<int64_t>(&attribute)) {
      numbers.insert(static_cast<double>(*i));
    } else if (const auto* d = std::get_if<double>(&attribute)) {
      numbers.insert(*d);
    } else if (const auto* is = std::get_if<std::vector<int64_t>>(&attribute)) {
      for (int64_t x : *is) numbers.insert(static_cast<double>(x));
    } else if (const auto* ds = std::get_if<std::vector<double>>(&attribute)) {
      numbers.insert(ds->begin(), ds->end());
    }
  }
  return numbers;
}

void AddNumbers(const TensorType& type, std::set<double>& numbers) {
  for (int64_t size : type.shape) numbers.insert(static_cast<double>(size));
  if (!type.encoding) return;
  const Encoding& e = *type.encoding;
  numbers.insert(e.scales.begin(), e.scales.end());
  for (int64_t z : e.zero_points) numbers.insert(static_cast<double>(z));
  if (e.code_low) numbers.insert(static_cast<double>(*e.code_low));
  if (e.code_high) numbers.insert(static_cast<double>(*e.code_high));
}

// `to` says what `from` says; it may know more of which codes can come: its
// range may be a part of that of `from`.
bool Carries(const Encoding& to, const Encoding& from) {
  return to.scales == from.scales && to.zero_points == from.zero_points &&
         to.axis == from.axis && to.block == from.block &&
         to.rounding == from.rounding &&
         (!from.code_low || (to.code_low && *to.code_low >= *from.code_low)) &&
         (!from.code_high ||
          (to.code_high && *to.code_high <= *from.code_high));
}

// Equal but for the axis.
bool SameParameters(Encoding from, const Encoding& to) {
  from.axis = to.axis;
  return Carries(to, from);
}

// Holds one proposal's sheet against the graph.
class SheetCheck {
 public:
  SheetCheck(const Graph& graph, const Proposal& proposal)
      : graph_(graph), proposal_(proposal), sheet_(proposal.sheet) {
    for (const Node& node : proposal.added) {
      for (ValueId v : node.operands) read_.insert(v);
      for (ValueId v : node.results) made_.insert(v);
    }
    for (NodeId id : proposal.removed) removed_.insert(id);
  }

  std::string Fault() const {
    for (NodeId id : proposal_.removed) {
      const Node& node = graph_.node(id);
      if (node.erased) return "a removed node is gone already";
      for (ValueId result : node.results) {
        if (!result.valid()) continue;
        const std::string fault = ResultFault(result);
        if (!fault.empty()) return fault;
      }
      for (ValueId operand : node.operands) {
        if (!operand.valid()) continue;
        std::string fault = EncodingFault(operand);
        if (fault.empty()) fault = ConstantFault(operand);
        if (!fault.empty()) return fault;
      }
    }
    for (const Node& node : proposal_.added) {
      for (ValueId v : node.operands) {
        if (v.valid() && MadeByRemoved(v)) {
          return "a new node reads '" + Name(v) + "', which goes away";
        }
      }
    }
    if (!sheet_.exceptional_preserved && sheet_.exceptional_domain.empty()) {
      return "exceptional values change on an unstated domain";
    }
    return ProvenanceFault();
  }

 private:
  const std::string& Name(ValueId id) const { return graph_.value(id).name; }
  bool MadeByRemoved(ValueId id) const {
    const NodeId producer = graph_.value(id).producer;
    return producer.valid() && removed_.count(producer) && !made_.count(id);
  }
  bool ReadElsewhere(ValueId id) const {
    if (graph_.IsOutput(id)) return true;
    for (NodeId user : graph_.UsersOf(id)) {
      if (!removed_.count(user)) return true;
    }
    return false;
  }
  const ResultMove* FindResult(ValueId id) const {
    for (const ResultMove& move : sheet_.results) {
      if (move.from == id) return &move;
    }
    return nullptr;
  }

  std::string ResultFault(ValueId result) const {
    const ResultMove* move = FindResult(result);
    if (!move) {
      if (!graph_.IsOutput(result) && graph_.UsersOf(result).empty()) return "";
      if (!ReadElsewhere(result)) return EncodingFault(result);
      return "result '" + Name(result) + "' has no destination";
    }
    if (!move->to.valid() || MadeByRemoved(move->to)) {
      return "result '" + Name(result) + "' goes to a value that goes away";
    }
    const TensorType& from = graph_.value(result).type;
    const TensorType& to = graph_.value(move->to).type;
    // A real number is the same in a wider float type; an output's type is
    // part of the model's signature.
    const bool wider = IsFloat(from.element) && IsFloat(to.element) &&
                       !graph_.IsOutput(result);
    if ((from.element != to.element && !wider) || from.shape != to.shape) {
      return "result '" + Name(result) + "' changes its type or shape";
    }
    if (!from.encoding ||
        (to.encoding && Carries(*to.encoding, *from.encoding))) {
      return "";
    }
    for (const EncodingMove& move : sheet_.encodings) {
      if (move.from == result) return MoveFault(*from.encoding, move);
    }
    return "result '" + Name(result) + "' loses its quantization";
  }

  // "" if the encoding of `id`, if any, lives on.
  std::string EncodingFault(ValueId id) const {
    const std::optional<Encoding>& encoding = graph_.value(id).type.encoding;
    if (!encoding || read_.count(id) || ReadElsewhere(id)) return "";
    // What stands for a result is read by whoever read the result.
    for (const ResultMove& move : sheet_.results) {
      if (move.to == id) return "";
    }
    const ResultMove* result = FindResult(id);
    if (result) return "";  // ResultFault has compared the types
    for (const EncodingMove& move : sheet_.encodings) {
      if (move.from == id) return MoveFault(*encoding, move);
    }
    return "the quantization of '" + Name(id) + "' has no destination";
  }

  std::string MoveFault(const Encoding& from, const EncodingMove& move) const {
    const std::string what = "the quantization of '" + Name(move.from) + "' ";
    if (!move.to.valid() || MadeByRemoved(move.to)) {
      return what + "goes to a value that goes away";
    }
    const TensorType& type = graph_.value(move.to).type;
    switch (move.destination) {
      case EncodingMove::Destination::kMerged:
        return type.encoding && *type.encoding == from
                   ? ""
                   : what + "is not the one of '" + Name(move.to) + "'";
      case EncodingMove::Destination::kType: {
        if (!type.encoding || !SameParameters(from, *type.encoding)) {
          return what + "is not in the type of '" + Name(move.to) + "'";
        }
        if (from.axis != move.from_axis ||
            type.encoding->axis != move.to_axis) {
          return what + "is declared on another axis than it has";
        }
        const auto channels = static_cast<int64_t>(from.scales.size());
        if (move.to_axis >= 0 && from.block == 0 &&
            type.shape[move.to_axis] != channels) {
          return what + "does not fit the axis it moves to";
        }
        return "";
      }
      case EncodingMove::Destination::kAttribute: {
        const std::set<double> numbers = NumbersMadeWith(move.to);
        for (double scale : from.scales) {
          if (!numbers.count(scale)) {
            return what + "is not in the node that makes '" + Name(move.to) +
                   "'";
          }
        }
        return "";
      }
      case EncodingMove::Destination::kNumbers:
        return NumbersLiveOn(from, move)
                   ? ""
                   : what + "does not give the numbers of '" + Name(move.to) +
                         "'";
    }
    return "";
  }

  // The real numbers behind the codes of a constant are those of a new
  // constant, element by element, or are in the node that makes `to`.
  bool NumbersLiveOn(const Encoding& from, const EncodingMove& move) const {
    constexpr int kMostBytes = 2;  // wider codes have no exact double
    if (!graph_.IsConstant(move.from) || from.block > 0) return false;
    const Tensor& codes = *graph_.value(move.from).constant;
    if (ElementSize(codes.type) > kMostBytes) return false;
    const std::vector<double> numbers = RealNumbersOf(codes, from);
    if (graph_.IsConstant(move.to)) {
      const Tensor& reals = *graph_.value(move.to).constant;
      if (!IsFloat(reals.type) || reals.size() != codes.size()) return false;
      for (int64_t i = 0; i < reals.size(); ++i) {
        if (reals.real(i) != numbers[i]) return false;
      }
      return true;
    }
    const std::set<double> kept = NumbersMadeWith(move.to);
    return std::all_of(numbers.begin(), numbers.end(),
                       [&](double number) { return kept.count(number) > 0; });
  }

  // The numbers in the attributes and steps of the new node that makes `to`.
  std::set<double> NumbersMadeWith(ValueId to) const {
    for (const Node& node : proposal_.added) {
      if (std::count(node.results.begin(), node.results.end(), to)) {
        return NumbersOf(node);
      }
    }
    return {};
  }

  std::string ConstantFault(ValueId id) const {
    if (!graph_.IsConstant(id) || read_.count(id)) return "";
    for (const ConstantMove& move : sheet_.constants) {
      if (move.from == id) return ConstantMoveFault(move);
    }
    return "constant '" + Name(id) + "' has no destination";
  }

  std::string ConstantMoveFault(const ConstantMove& move) const {
    const std::string what = "constant '" + Name(move.from) + "' ";
    const Tensor& from = *graph_.value(move.from).constant;
    switch (move.kind) {
      case ConstantMove::Kind::kMoved:
        return what + "is declared moved and read by no new node";
      case ConstantMove::Kind::kUnneeded:
        return move.reason.empty() ? what + "is dropped without a reason" : "";
      case ConstantMove::Kind::kTransformed:
        return graph_.IsConstant(move.to) ? ""
                                          : what + "is transformed to nothing";
      case ConstantMove::Kind::kCloned:
        return graph_.IsConstant(move.to) &&
                       *graph_.value(move.to).constant == from
                   ? ""
                   : what + "differs from its clone";
      case ConstantMove::Kind::kAbsorbed:
        return Absorbed(from, move.to)
                   ? ""
                   : what + "is not in what it is said to be absorbed by";
    }
    return "";
  }

  // Every number of `constant` is among those of the type of `to` and of the
  // node that makes it.
  bool Absorbed(const Tensor& constant, ValueId to) const {
    if (!to.valid()) return false;
    std::set<double> numbers = NumbersMadeWith(to);
    const NodeId producer = graph_.value(to).producer;
    if (producer.valid()) numbers.merge(NumbersOf(graph_.node(producer)));
    AddNumbers(graph_.value(to).type, numbers);
    for (int64_t i = 0; i < constant.size(); ++i) {
      if (!numbers.count(constant.real(i))) return false;
    }
    return true;
  }

  std::string ProvenanceFault() const {
    if (proposal_.added.empty()) return "";
    Provenance kept;
    for (const Node& node : proposal_.added) kept.Merge(node.provenance);
    for (NodeId id : proposal_.removed) {
      for (const std::string& source : graph_.node(id).provenance.nodes) {
        if (!std::binary_search(kept.nodes.begin(), kept.nodes.end(), source)) {
          return "provenance '" + source + "' has no destination";
        }
      }
    }
    return "";
  }

  const Graph& graph_;
  const Proposal& proposal_;
  const MigrationSheet& sheet_;
  std::set<ValueId> read_, made_;
  std::set<NodeId> removed_;
};

// Where nothing is added, the provenance goes to the producer of what stands
// for the result, or to its readers if it has none.
void HandOverProvenance(Graph& graph, const Provenance& from, ValueId to) {
  const NodeId producer = graph.value(to).producer;
  if (producer.valid()) {
    graph.mutable_node(producer).provenance.Merge(from);
    return;
  }
  for (NodeId user : graph.UsersOf(to)) {
    graph.mutable_node(user).provenance.Merge(from);
  }
}

// Every operand of `id` is made before it, and all that it makes is read after.
bool InPlace(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  for (ValueId v : node.operands) {
    if (!v.valid()) continue;
    const NodeId producer = graph.value(v).producer;
    if (producer.valid() && !graph.Precedes(producer, id)) return false;
  }
  for (ValueId v : node.results) {
    if (!v.valid()) continue;
    for (NodeId user : graph.UsersOf(v)) {
      if (!graph.Precedes(id, user)) return false;
    }
  }
  return true;
}

// `to` stands for `from`: it takes the name if it is new, else an alias.
void HandOverName(Graph& graph, ValueId from, ValueId to, bool fresh) {
  if (fresh && graph.value(to).aliases.empty()) {
    graph.SwapNames(from, to);
  } else {
    graph.mutable_value(to).aliases.push_back(graph.value(from).name);
  }
  for (const std::string& alias : graph.value(from).aliases) {
    graph.mutable_value(to).aliases.push_back(alias);
  }
  graph.mutable_value(from).aliases.clear();
}

}  // namespace

ValueId Rewriter::Declare(std::string name, TensorType type,
                          TensorPtr constant) {
  if (constant) {
    return graph_.AddConstant(std::move(name), std::move(constant),
                              std::move(type.encoding));
  }
  return graph_.AddValue(std::move(name), std::move(type));
}

std::string Rewriter::Fault(const Proposal& proposal) const {
  return SheetCheck(graph_, proposal).Fault();
}

bool Rewriter::Apply(Proposal proposal) {
  const std::string fault = Fault(proposal);
  if (!fault.empty()) {
    Refuse(proposal.sheet.rule, proposal.removed.front(), fault);
    return false;
  }
  MigrationSheet& sheet = proposal.sheet;
  sheet.nodes_removed = static_cast<int>(proposal.removed.size());
  sheet.nodes_added = static_cast<int>(proposal.added.size());
  Provenance removed;
  std::set<ValueId> fresh;
  for (NodeId id : proposal.removed) removed.Merge(graph_.node(id).provenance);
  for (const Node& node : proposal.added) {
    for (ValueId v : node.results) fresh.insert(v);
  }
  std::set<ValueId> made;
  for (const ConstantMove& move : sheet.constants) {
    const bool makes = move.kind == ConstantMove::Kind::kTransformed ||
                       move.kind == ConstantMove::Kind::kCloned;
    if (makes && graph_.IsConstant(move.to) && made.insert(move.to).second) {
      sheet.constant_bytes_added +=
          static_cast<int64_t>(graph_.value(move.to).constant->bytes.size());
    }
  }
  const NodeId place = proposal.removed.back();
  std::vector<NodeId> changed;
  for (Node& node : proposal.added) {
    changed.push_back(graph_.InsertNode(std::move(node), place));
  }
  for (const ResultMove& move : sheet.results) {
    graph_.ReplaceUses(move.from, move.to);
    const NodeId producer = graph_.value(move.to).producer;
    if (producer.valid()) changed.push_back(producer);
    HandOverName(graph_, move.from, move.to, fresh.count(move.to) > 0);
  }
  for (NodeId id : proposal.removed) graph_.EraseNode(id);
  if (proposal.added.empty()) {
    for (const ResultMove& move : sheet.results) {
      HandOverProvenance(graph_, removed, move.to);
    }
  }
  for (NodeId id : changed) {
    if (graph_.node(id).erased || InPlace(graph_, id)) continue;
    graph_.SortNodes();
    break;
  }
  applied_.push_back(std::move(sheet));
  return true;
}

void Rewriter::Refuse(const std::string& rule, NodeId node,
                      std::string reason) {
  refused_.push_back({rule, UserName(graph_, node), std::move(reason)});
}

std::string UserName(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.name.empty()) return node.name;
  if (!node.provenance.nodes.empty()) return node.provenance.nodes.front();
  for (ValueId result : node.results) {
    if (result.valid()) return "->" + graph.value(result).name;
  }
  return "";
}

}  // namespace fold
