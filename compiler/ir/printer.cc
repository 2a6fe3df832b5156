#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/ir/text.h"
#include "compiler/ir/text_format.h"

namespace fold {
namespace {

template <typename T, typename Format>
std::string Joined(const std::vector<T>& items, std::string_view separator,
                   Format format) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) text += separator;
    text += format(items[i]);
  }
  return text;
}

// A list that says of what it is, empty or not.
template <typename T, typename Format>
std::string List(const std::vector<T>& items, std::string_view word,
                 Format format) {
  if (items.empty()) return std::string(word) + "[]";
  return "[" + Joined(items, ",", format) + "]";
}

class Printer {
 public:
  Printer(const Graph& graph, const OpTable& ops) : graph_(graph), ops_(ops) {}

  std::string Run() {
    printed_.resize(graph_.value_count());
    text_ = "fir 1 " + std::string(StageName(graph_.stage)) + "\n";
    PrintHeader();
    for (NodeId id : graph_.order()) {
      for (ValueId operand : graph_.node(id).operands) PrintConstant(operand);
      PrintNode(graph_.node(id));
    }
    for (ValueId id : graph_.outputs) PrintConstant(id);
    return text_ + "}\n";
  }

 private:
  std::string Name(ValueId id) const {
    if (!id.valid()) return "_";
    return "%" + FormatName(graph_.value(id).name);
  }

  std::string Typed(ValueId id) const {
    if (!id.valid()) return "_";
    const Value& value = graph_.value(id);
    std::string text = FormatType(value.type);
    if (!value.aliases.empty()) text += " alias" + QuotedList(value.aliases);
    return text;
  }

  void PrintHeader() {
    text_ += "graph @" + FormatName(graph_.name) + "(";
    text_ += Joined(graph_.inputs, ", ",
                    [&](ValueId id) { return Name(id) + ": " + Typed(id); });
    text_ += ") -> (";
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (i) text_ += ", ";
      text_ += Name(graph_.outputs[i]);
      const std::string& external = graph_.output_names[i];
      if (external != graph_.value(graph_.outputs[i]).name) {
        text_ += " as " + QuoteText(external);
      }
    }
    text_ += ") {\n";
  }

  // Constants stand in front of what first reads them.
  void PrintConstant(ValueId id) {
    if (!graph_.IsConstant(id) || printed_[id.index]) return;
    printed_[id.index] = true;
    text_ += "  " + Name(id) + " = const " + Typed(id) + " " +
             FormatElements(*graph_.value(id).constant, &splat_bytes_left_) +
             "\n";
  }

  void PrintNode(const Node& node) {
    const auto name = [&](ValueId id) { return Name(id); };
    const auto type = [&](ValueId id) { return Typed(id); };
    text_ += "  ";
    if (!node.results.empty()) {
      text_ += Joined(node.results, ", ", name) + " = ";
    }
    text_ += std::string(ops_.Mnemonic(node.op)) + "(" +
             Joined(node.operands, ", ", name) + ")";
    PrintAttributes(node.attributes);
    if (!node.steps.empty()) {
      text_ += " steps [" + Joined(node.steps, ", ", StepText) + "]";
    }
    if (!node.results.empty()) {
      text_ += " : " + Joined(node.results, ", ", type);
    }
    if (!node.name.empty()) text_ += " name " + QuoteText(node.name);
    if (!node.provenance.nodes.empty()) {
      text_ += " loc" + QuotedList(node.provenance.nodes);
    }
    text_ += "\n";
  }

  void PrintAttributes(const AttributeMap& attributes) {
    if (attributes.empty()) return;
    text_ += " {";
    bool first = true;
    for (const auto& [key, attribute] : attributes) {
      if (!first) text_ += ", ";
      first = false;
      text_ += FormatName(key) + "=" + AttributeText(attribute);
    }
    text_ += "}";
  }

  std::string AttributeText(const Attribute& attribute) {
    const auto integer = [](int64_t i) { return std::to_string(i); };
    if (const auto* i = std::get_if<int64_t>(&attribute)) return integer(*i);
    if (const auto* d = std::get_if<double>(&attribute)) {
      return FormatMarkedReal(*d);
    }
    if (const auto* s = std::get_if<std::string>(&attribute)) {
      return QuoteText(*s);
    }
    if (const auto* list = std::get_if<std::vector<int64_t>>(&attribute)) {
      return List(*list, "", integer);
    }
    if (const auto* list = std::get_if<std::vector<double>>(&attribute)) {
      return List(*list, "reals", FormatMarkedReal);
    }
    if (const auto* list = std::get_if<std::vector<std::string>>(&attribute)) {
      return List(*list, "strings",
                  [](const std::string& s) { return QuoteText(s); });
    }
    const TensorPtr& tensor = std::get<TensorPtr>(attribute);
    if (tensor == nullptr) return "none";
    return "tensor " + FormatElementAndShape(tensor->type, tensor->shape) +
           " " + FormatElements(*tensor, &splat_bytes_left_);
  }

  static std::string StepText(const Step& step) {
    std::string text(StepKindName(step.kind));
    if (step.kind == Step::Kind::kClip) {
      return text + "(" + FormatReal(step.low) + ", " + FormatReal(step.high) +
             ")";
    }
    text += "(" + Joined(step.operands, ",",
                         [](uint32_t i) { return std::to_string(i); });
    if (step.kind == Step::Kind::kBatchNorm) {
      text += " eps=" + FormatReal(step.epsilon);
    }
    return text + ")";
  }

  const Graph& graph_;
  const OpTable& ops_;
  std::vector<bool> printed_;
  int64_t splat_bytes_left_ = kMostSplatBytes;
  std::string text_;
};

// The lines of one sheet.
class SheetPrinter {
 public:
  SheetPrinter(const Graph& graph, const MigrationSheet& sheet)
      : graph_(graph), sheet_(sheet) {}

  std::string Run() {
    const RewriteCost& cost = sheet_.cost;
    text_ =
        "sheet " + sheet_.rule +
        " removed=" + std::to_string(cost.nodes_removed) +
        " added=" + std::to_string(cost.nodes_added) + " constant_bytes=" +
        Change(cost.constant_bytes_added, cost.constant_bytes_removed) +
        " run_bytes=" + Change(cost.run_bytes_added, cost.run_bytes_removed) +
        "\n";
    for (const ResultMove& move : sheet_.results) {
      Line(move.from, move.to, "result");
    }
    for (const EncodingMove& move : sheet_.encodings) PrintEncoding(move);
    for (const ConstantMove& move : sheet_.constants) PrintConstant(move);
    for (const LostFact& fact : sheet_.inferable) PrintFact("inferable", fact);
    for (const LostFact& fact : sheet_.unrecoverable) {
      PrintFact("unrecoverable", fact);
    }
    if (!sheet_.decision.empty()) {
      text_ +=
          "decided " + QuoteText(sheet_.decision) + " by " + sheet_.rule + "\n";
    }
    if (!sheet_.exceptional_preserved) {
      text_ += "changes " + QuoteText(sheet_.exceptional_domain) + " by " +
               sheet_.rule + "\n";
    }
    return text_;
  }

 private:
  std::string Name(ValueId id) const {
    if (!id.valid()) return "_";
    if (id.index >= graph_.value_count()) return "%?";
    return "%" + FormatName(graph_.value(id).name);
  }

  void Line(ValueId from, ValueId to, const std::string& what) {
    text_ += "migrate " + Name(from) + " -> " + Name(to) + " " + what + " by " +
             sheet_.rule + "\n";
  }

  static std::string Change(int64_t added, int64_t removed) {
    return "+" + std::to_string(added) + "-" + std::to_string(removed);
  }

  void PrintFact(const char* word, const LostFact& fact) {
    text_ += std::string(word) + " " + std::string(LostFactName(fact.kind)) +
             " of " + Name(fact.value) + " by " + sheet_.rule + "\n";
  }

  void PrintEncoding(const EncodingMove& move) {
    Line(move.from, move.to, EncodingMoveText(move));
  }

  void PrintConstant(const ConstantMove& move) {
    Line(move.from, move.to, ConstantMoveText(move));
  }

  const Graph& graph_;
  const MigrationSheet& sheet_;
  std::string text_;
};

}  // namespace

std::string Print(const Graph& graph, const OpTable& ops) {
  return Printer(graph, ops).Run();
}

std::string PrintSheets(const Graph& graph,
                        std::span<const MigrationSheet> sheets) {
  std::string text;
  for (const MigrationSheet& sheet : sheets) {
    text += SheetPrinter(graph, sheet).Run();
  }
  return text;
}

}  // namespace fold
