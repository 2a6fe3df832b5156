#include "compiler/annotate/bind_table.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/annotate/annotate.h"
#include "compiler/annotate/table_coverage.h"
#include "compiler/base/nearest_name.h"
#include "compiler/ir/rewriter.h"
#include "compiler/ops/op_spec.h"

namespace fold {
namespace {

using Kind = EncodingEntry::Kind;
using Port = EncodingEntry::Port;

constexpr size_t kMostUnmatched = 20;      // errors; further ones are counted
constexpr size_t kMostCandidates = 20000;  // to look for a near miss among
constexpr size_t kMostNamed = 5;           // float entries in the note

// Whether two encodings turn every real number into the same real number:
// equal but for where their codes begin to count.
bool SameGrid(const Encoding& a, const Encoding& b) {
  if (a.scales != b.scales || a.axis != b.axis || a.block != b.block ||
      a.rounding != b.rounding ||
      a.zero_points.size() != b.zero_points.size() || !a.code_low ||
      !b.code_low) {
    return false;
  }
  const int64_t shift = *b.code_low - *a.code_low;
  for (size_t i = 0; i < a.zero_points.size(); ++i) {
    if (a.zero_points[i] + shift != b.zero_points[i]) return false;
  }
  return *a.code_high + shift == *b.code_high;
}

// `encoding` of codes of `type`, with the whole type's codes if it has no
// narrower ones.
Encoding WithCodes(Encoding encoding, ElementType type) {
  if (!encoding.code_low) encoding.code_low = LowestCode(type);
  if (!encoding.code_high) encoding.code_high = HighestCode(type);
  return encoding;
}

// Who states an encoding: an entry of a table, or a node.
std::string Author(const Encoding& encoding) {
  const std::string& source = encoding.source;
  const bool entry = source.rfind("activation_encodings '", 0) == 0 ||
                     source.rfind("param_encodings '", 0) == 0;
  return entry ? source : "node '" + source + "'";
}

class Binder {
 public:
  Binder(Graph& graph, const EncodingTable& table, Diagnostics* sink)
      : graph_(graph), table_(table), sink_(sink) {}

  bool Run() {
    const size_t before = sink_->all().size();
    CollectNames();
    for (const EncodingEntry& entry : table_.entries) {
      const ValueId id = Resolve(entry);
      if (!id.valid()) continue;
      if (entry.is_float) {
        floats_.insert(id);
        float_names_.push_back(SourceOf(entry));
      } else {
        Bind(entry, id);
      }
    }
    for (const Gap& gap : UncoveredTensors(graph_, table_, floats_)) {
      Unmatched(gap.node, "reads '" + graph_.value(gap.value).name +
                              "', which no entry quantizes" +
                              NearestOf(graph_.value(gap.value).name, strays_));
    }
    if (unmatched_ > kMostUnmatched) {
      sink_->Add(DiagnosticCode::unmatched_encoding, "--encodings",
                 "has " + std::to_string(unmatched_ - kMostUnmatched) +
                     " further names that do not match");
    }
    SayFloats();
    return !std::any_of(
        sink_->all().begin() + static_cast<std::ptrdiff_t>(before),
        sink_->all().end(), [](const Diagnostic& diagnostic) {
          return diagnostic.severity() == Severity::kError;
        });
  }

 private:
  void CollectNames() {
    for (uint32_t i = 0; i < graph_.value_count(); ++i) {
      const Value& value = graph_.value(ValueId(i));
      if (!Live(ValueId(i))) continue;
      values_.emplace(value.name, ValueId(i));
      for (const std::string& alias : value.aliases) {
        values_.emplace(alias, ValueId(i));
      }
    }
    for (NodeId id : graph_.order()) {
      const std::string& name = graph_.node(id).name;
      if (name.empty()) continue;
      const auto [at, fresh] = nodes_.emplace(name, id);
      if (!fresh) at->second = NodeId();  // two nodes of one name
    }
    for (const EncodingEntry& entry : table_.entries) {
      if (entry.port == Port::kInput) {
        inputs_.emplace(std::pair(entry.name, entry.place), &entry);
      }
    }
    for (const auto& [name, id] : values_) value_names_.push_back(name);
    for (const auto& [name, id] : nodes_) node_names_.push_back(name);
  }

  bool Live(ValueId id) const {
    const Value& value = graph_.value(id);
    return !value.producer.valid() || !graph_.node(value.producer).erased;
  }

  void Unmatched(const std::string& where, const std::string& message) {
    if (++unmatched_ > kMostUnmatched) return;
    sink_->Add(DiagnosticCode::unmatched_encoding, where, message);
  }

  ValueId Nowhere(const EncodingEntry& entry, const std::string& message) {
    strays_.push_back(entry.name);
    Unmatched(entry.is_float ? SourceOf(entry) : entry.encoding.source,
              message);
    return ValueId();
  }

  std::string NearestOf(const std::string& name,
                        const std::vector<std::string_view>& names) const {
    return unmatched_ < kMostUnmatched && names.size() <= kMostCandidates
               ? DidYouMean(name, names)
               : "";
  }

  ValueId Resolve(const EncodingEntry& entry) {
    const ValueId id =
        entry.port == Port::kTensor ? FindTensor(entry) : FindPlace(entry);
    if (!id.valid()) return id;
    if (!IsFloat(graph_.value(id).type.element)) {
      return Nowhere(
          entry,
          "names a tensor of type " +
              std::string(ElementTypeName(graph_.value(id).type.element)) +
              "; an entry quantizes a float tensor");
    }
    if (entry.kind == Kind::kParameter && !ConstantOf(graph_, id)) {
      return Nowhere(entry,
                     "names a tensor that is computed from the "
                     "model's inputs and no parameter");
    }
    return id;
  }

  ValueId FindTensor(const EncodingEntry& entry) {
    const auto at = values_.find(entry.name);
    if (at != values_.end()) return at->second;
    return Nowhere(entry, "names no tensor of the model" +
                              NearestOf(entry.name, value_names_));
  }

  ValueId FindPlace(const EncodingEntry& entry) {
    const auto at = nodes_.find(entry.name);
    if (at == nodes_.end()) {
      return Nowhere(entry, "names no node of the model" +
                                NearestOf(entry.name, node_names_));
    }
    if (!at->second.valid()) {
      return Nowhere(entry, "names two nodes of the model");
    }
    const Node& node = graph_.node(at->second);
    const auto& places =
        entry.port == Port::kInput ? node.operands : node.results;
    const auto place = static_cast<size_t>(entry.place);
    if (place >= places.size() || !places[place].valid()) {
      return Nowhere(entry, "names a place that the node does not have");
    }
    const ValueId id = places[place];
    if (entry.port == Port::kInput && !AllReadersAgree(entry, id)) {
      return Nowhere(entry,
                     "quantizes '" + graph_.value(id).name +
                         "' for one node, and others read it too; give the "
                         "tensor an entry, or each of its readers");
    }
    return id;
  }

  // Each reader of `id` has this entry at its place.
  bool AllReadersAgree(const EncodingEntry& entry, ValueId id) const {
    if (graph_.IsOutput(id)) return false;
    for (NodeId user : graph_.UsersOf(id)) {
      const Node& node = graph_.node(user);
      for (size_t i = 0; i < node.operands.size(); ++i) {
        if (node.operands[i] == id && !HasInputEntry(node.name, i, entry)) {
          return false;
        }
      }
    }
    return true;
  }

  bool HasInputEntry(const std::string& node, size_t place,
                     const EncodingEntry& like) const {
    const auto at = inputs_.find({node, static_cast<int64_t>(place)});
    return at != inputs_.end() && at->second->is_float == like.is_float &&
           at->second->encoding == like.encoding;
  }

  bool FitAxis(const EncodingEntry& entry, ValueId id, Encoding* encoding) {
    if (!entry.per_channel) return true;
    const Shape& shape = graph_.value(id).type.shape;
    const auto rank = static_cast<int64_t>(shape.size());
    std::optional<int64_t> axis =
        entry.axis ? entry.axis : ChannelAxisOfTensor(graph_, id);
    if (!axis) {
      return sink_->Add(DiagnosticCode::bad_axis, encoding->source,
                        "has a scale for each channel, and no linear operator "
                        "reads '" +
                            graph_.value(id).name +
                            "' that says which axis they run along");
    }
    if (*axis < 0) *axis += rank;
    const auto count = static_cast<int64_t>(encoding->scales.size());
    if (*axis < 0 || *axis >= rank || shape[*axis] != count) {
      return sink_->Add(
          DiagnosticCode::bad_axis, encoding->source,
          "has " + std::to_string(count) + " scales, which do not fit axis " +
              std::to_string(*axis) + " of '" + graph_.value(id).name + "'");
    }
    encoding->axis = static_cast<int>(*axis);
    return true;
  }

  // What the model says of the real numbers of `id`: the quantization that
  // made it, or the ones that its readers put it through.
  std::vector<Encoding> StatedAround(ValueId id) const {
    std::vector<Encoding> stated;
    const NodeId producer = graph_.value(id).producer;
    if (producer.valid() &&
        OpOf(graph_.node(producer)) == Op::kDequantizeLinear) {
      const ValueId codes = graph_.node(producer).operands[0];
      AddStated(producer, codes, CodesBefore(codes), &stated);
    }
    for (NodeId user : graph_.UsersOf(id)) {
      const Node& node = graph_.node(user);
      if (OpOf(node) != Op::kQuantizeLinear || node.operands[0] != id) continue;
      AddStated(user, node.results[0], CodesBehind(node.results[0]), &stated);
    }
    return stated;
  }

  struct Codes {
    std::optional<int64_t> low, high;
  };

  void AddStated(NodeId node, ValueId codes, Codes range,
                 std::vector<Encoding>* stated) const {
    Diagnostics ignored;
    auto encoding = EncodingOf(graph_, node, &ignored);
    if (!encoding) return;
    encoding->code_low = range.low;
    encoding->code_high = range.high;
    encoding->source = UserName(graph_, node);
    stated->push_back(WithCodes(*encoding, graph_.value(codes).type.element));
  }

  // The codes that a Clip between Q and DQ leaves.
  Codes CodesOf(const Node& clip) const {
    Codes codes;
    for (size_t at : {1, 2}) {
      if (at >= clip.operands.size()) continue;
      const TensorPtr bound = ConstantOf(graph_, clip.operands[at]);
      if (!bound || bound->size() != 1 || !IsInteger(bound->type)) continue;
      (at == 1 ? codes.low : codes.high) = bound->integer(0);
    }
    return codes;
  }
  Codes CodesBefore(ValueId codes) const {
    const NodeId producer = graph_.value(codes).producer;
    if (!producer.valid()) return {};
    const Node& node = graph_.node(producer);
    return OpOf(node) == Op::kClip ? CodesOf(node) : Codes{};
  }
  Codes CodesBehind(ValueId codes) const {
    const auto users = graph_.UsersOf(codes);
    if (users.size() != 1 || OpOf(graph_.node(users[0])) != Op::kClip) {
      return {};
    }
    return CodesOf(graph_.node(users[0]));
  }

  void Bind(const EncodingEntry& entry, ValueId id) {
    Encoding encoding = entry.encoding;
    if (!FitAxis(entry, id, &encoding)) return;
    std::optional<Encoding>& slot = graph_.mutable_value(id).type.encoding;
    std::vector<Encoding> others = StatedAround(id);
    if (slot) others.push_back(*slot);
    for (const Encoding& other : others) {
      if (SameGrid(other, encoding)) continue;
      sink_->Add(DiagnosticCode::conflicting_encoding, graph_.value(id).name,
                 "is quantized with " + FormatEncoding(encoding) + " by " +
                     Author(encoding) + " and with " + FormatEncoding(other) +
                     " by " + Author(other));
      return;
    }
    if (floats_.count(id)) {
      sink_->Add(
          DiagnosticCode::conflicting_encoding, graph_.value(id).name,
          "is quantized by " + encoding.source + " and float by another entry");
      return;
    }
    // What the model states already needs no second statement.
    const NodeId producer = graph_.value(id).producer;
    const bool from_codes = producer.valid() && OpOf(graph_.node(producer)) ==
                                                    Op::kDequantizeLinear;
    if (!slot && !from_codes) slot = encoding;
  }

  void SayFloats() {
    if (float_names_.empty()) return;
    std::string message = std::to_string(float_names_.size()) +
                          " entries are float and bind "
                          "nothing: ";
    for (size_t i = 0; i < std::min(kMostNamed, float_names_.size()); ++i) {
      message += (i == 0 ? "" : ", ") + float_names_[i];
    }
    if (float_names_.size() > kMostNamed) message += ", …";
    sink_->Add(DiagnosticCode::float_encoding, "--encodings", message);
  }

  Graph& graph_;
  const EncodingTable& table_;
  Diagnostics* sink_;
  std::map<std::string, ValueId> values_;
  std::map<std::string, NodeId> nodes_;  // invalid: a name of two nodes
  std::map<std::pair<std::string, int64_t>, const EncodingEntry*> inputs_;
  std::vector<std::string_view> value_names_, node_names_;
  std::vector<std::string_view> strays_;  // names of entries without a tensor
  std::set<ValueId> floats_;
  std::vector<std::string> float_names_;
  size_t unmatched_ = 0;
};

}  // namespace

bool BindEncodingTable(Graph& graph, const EncodingTable& table,
                       Diagnostics* sink) {
  return Binder(graph, table, sink).Run();
}

}  // namespace fold
