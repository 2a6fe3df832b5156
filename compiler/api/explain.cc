#include "compiler/api/explain.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <vector>

#include "compiler/api/error_table.h"
#include "compiler/api/flags.h"
#include "compiler/api/report_file.h"
#include "compiler/base/nearest_name.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

std::string Quoted(std::string_view name) {
  return "'" + std::string(name) + "'";
}

template <typename Names>
std::string Listed(const Names& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

template <typename Names>
bool Has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <typename Nodes>
std::string NodeList(const Nodes& nodes) {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(nodes.size()));
  for (const v1::SheetNode& node : nodes) {
    names.push_back(node.kind() + " " + Quoted(node.name()));
  }
  return Listed(names);
}

// Tells one name's story.
class Story {
 public:
  Story(const v1::CompileReport& report, std::string_view name)
      : report_(report), name_(name) {}

  // "" if there is no such name.
  std::string Tell() {
    for (const v1::SheetNode& node : report_.imported().nodes()) {
      if (node.name() == name_ || Has(node.sources(), name_)) TellNode(node);
    }
    if (IsTensor()) TellTensor();
    for (const v1::OpRecord& op : report_.ops()) {
      if (op.name() == name_) TellOp(op);
    }
    return text_;
  }

 private:
  void Line(const std::string& line) { text_ += line + "\n"; }

  template <typename Visit>
  void EachSheet(Visit visit) const {
    for (const v1::PassRecord& pass : report_.passes()) {
      for (const v1::Sheet& sheet : pass.sheets()) visit(pass, sheet);
    }
  }

  // What a sheet did: "fold_qdq: conv 'c', relu 'r' -> conv 'c'".
  static std::string Rewrite(const v1::PassRecord& pass,
                             const v1::Sheet& sheet) {
    std::string text = "  " + pass.name() + ": " + NodeList(sheet.removed());
    text +=
        sheet.added().empty() ? " removed" : " -> " + NodeList(sheet.added());
    if (!sheet.changes().empty()) {
      text += ", which changes values where " + sheet.changes();
    }
    return text;
  }

  static std::string ItemText(const v1::SheetItem& item) {
    std::string text = "    " + Quoted(item.from());
    switch (item.kind()) {
      case v1::SheetItem::RESULT:
        text += " is now";
        break;
      case v1::SheetItem::ENCODING:
        text += ", its quantization: " + item.detail();
        break;
      case v1::SheetItem::CONSTANT:
        text = item.from().empty() ? "    a new constant"
                                   : text + ", a constant: " + item.detail();
        break;
      case v1::SheetItem::INFERABLE:
        return text + ": its " + item.detail() + " follows from what is left";
      default:
        return text + ": its " + item.detail() + " is lost";
    }
    return item.to().empty() ? text : text + " -> " + Quoted(item.to());
  }

  void TellNode(const v1::SheetNode& node) {
    const std::string source =
        node.sources().empty() ? node.name() : node.sources(0);
    Line("node " + Quoted(node.name()) + ": " + node.kind() + "(" +
         Listed(node.operands()) + ") -> " + Listed(node.results()));
    const v1::Sheet* last = nullptr;
    EachSheet([&](const v1::PassRecord& pass, const v1::Sheet& sheet) {
      const bool meant = std::any_of(
          sheet.removed().begin(), sheet.removed().end(),
          [&](const v1::SheetNode& n) { return Has(n.sources(), source); });
      if (!meant) return;
      last = &sheet;
      Line(Rewrite(pass, sheet));
      for (const v1::SheetItem& item : sheet.items()) Line(ItemText(item));
    });
    TellKept(node.name());
    TellEnd(source, last);
  }

  void TellKept(const std::string& name) {
    for (const v1::PassRecord& pass : report_.passes()) {
      for (const v1::Kept& kept : pass.kept()) {
        if (kept.node() == name) {
          Line("  " + pass.name() + " left it: " + kept.reason());
        }
      }
    }
  }

  // Where the ONNX node `source` is in the artifact, or why it is not.
  void TellEnd(const std::string& source, const v1::Sheet* last) {
    bool found = false;
    for (const v1::OpRecord& op : report_.ops()) {
      if (!Has(op.sources(), source)) continue;
      Line("  in the artifact: " + OpText(op));
      found = true;
    }
    if (found) return;
    for (const v1::SheetNode& node : report_.lowered().nodes()) {
      if (!Has(node.sources(), source)) continue;
      Line("  in the artifact's signature: " + node.kind() + " " +
           Quoted(node.name()));
      found = true;
    }
    if (!found) Line("  gone: " + WhyGone(last));
  }

  static std::string WhyGone(const v1::Sheet* last) {
    if (!last) return "it was not lowered";
    for (const v1::SheetItem& item : last->items()) {
      if (item.kind() != v1::SheetItem::RESULT) continue;
      return Quoted(item.to()) + " stands for its result";
    }
    return "no output depends on it";
  }

  static std::string OpText(const v1::OpRecord& op) {
    return "op " + Quoted(op.name()) + ", " + op.kind() + ", " +
           v1::Exactness_Name(op.exactness()) + ", from " +
           Listed(op.sources());
  }

  bool IsTensor() const {
    const v1::GraphRecord& graph = report_.imported();
    return Has(graph.inputs(), name_) || Has(graph.outputs(), name_) ||
           std::any_of(graph.nodes().begin(), graph.nodes().end(),
                       [&](const v1::SheetNode& node) {
                         return Has(node.operands(), name_) ||
                                Has(node.results(), name_);
                       });
  }

  void TellTensor() {
    Line("tensor " + Quoted(name_) + ": " +
         Places(report_.imported(), std::string(name_)));
    // What stands for the tensor: its value, and constants made of it.
    std::vector<std::string> keys = {std::string(name_)};
    EachSheet([&](const v1::PassRecord& pass, const v1::Sheet& sheet) {
      bool told = false;
      for (const v1::SheetItem& item : sheet.items()) {
        if (item.from().empty() || !Has(keys, item.from())) continue;
        if (!told) Line(Rewrite(pass, sheet));
        told = true;
        Line(ItemText(item));
        const bool stands = item.kind() == v1::SheetItem::RESULT ||
                            (item.kind() == v1::SheetItem::CONSTANT &&
                             (item.detail().starts_with("transformed") ||
                              item.detail().starts_with("cloned")));
        if (stands && !Has(keys, item.to())) keys.push_back(item.to());
      }
    });
    bool found = false;
    for (const std::string& key : keys) {
      const std::string places = Places(report_.lowered(), key);
      if (places == kNowhere) continue;
      Line("  in the end: " + Quoted(key) + ", " + places);
      found = true;
    }
    if (!found) Line("  gone: nothing reads or makes it any more");
  }

  static constexpr std::string_view kNowhere = "neither made nor read";

  // Who makes and who reads a value.
  static std::string Places(const v1::GraphRecord& graph,
                            const std::string& key) {
    std::string text;
    const auto add = [&](const std::string& more) {
      text += (text.empty() ? "" : ", ") + more;
    };
    if (Has(graph.inputs(), key)) add("an input");
    if (Has(graph.outputs(), key)) add("an output");
    std::vector<v1::SheetNode> makers, readers;
    for (const v1::SheetNode& node : graph.nodes()) {
      if (Has(node.results(), key)) makers.push_back(node);
      if (Has(node.operands(), key)) readers.push_back(node);
    }
    if (!makers.empty()) add("made by " + NodeList(makers));
    if (!readers.empty()) add("read by " + NodeList(readers));
    return text.empty() ? std::string(kNowhere) : text;
  }

  void TellOp(const v1::OpRecord& op) {
    Line(OpText(op));
    for (const v1::SheetNode& node : report_.imported().nodes()) {
      const bool source = std::any_of(
          node.sources().begin(), node.sources().end(),
          [&](const std::string& s) { return Has(op.sources(), s); });
      if (!source) continue;
      Line("  ONNX node " + Quoted(node.name()) + ": " + node.kind() + "(" +
           Listed(node.operands()) + ") -> " + Listed(node.results()));
    }
    EachSheet([&](const v1::PassRecord& pass, const v1::Sheet& sheet) {
      const bool makes = std::any_of(
          sheet.added().begin(), sheet.added().end(),
          [&](const v1::SheetNode& node) {
            return !node.sources().empty() &&
                   std::all_of(node.sources().begin(), node.sources().end(),
                               [&](const std::string& s) {
                                 return Has(op.sources(), s);
                               });
          });
      if (makes) Line(Rewrite(pass, sheet));
    });
  }

  const v1::CompileReport& report_;
  const std::string_view name_;
  std::string text_;
};

std::vector<std::string_view> KnownNames(const v1::CompileReport& report) {
  std::set<std::string_view> names;
  for (const v1::SheetNode& node : report.imported().nodes()) {
    names.insert(node.name());
    names.insert(node.sources().begin(), node.sources().end());
    names.insert(node.operands().begin(), node.operands().end());
    names.insert(node.results().begin(), node.results().end());
  }
  for (const v1::OpRecord& op : report.ops()) names.insert(op.name());
  names.erase("");
  return {names.begin(), names.end()};
}

int Fail(const char* program, int exit_code, const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", program, message.c_str());
  return exit_code;
}

}  // namespace

std::string Explain(const v1::CompileReport& report, std::string_view name,
                    std::string* text) {
  if (!report.has_imported()) {
    return "the report has no migration sheets: compile with --sheets";
  }
  const std::string story =
      name.empty() ? std::string() : Story(report, name).Tell();
  if (story.empty()) {
    return "no node, tensor or op '" + std::string(name) + "'" +
           DidYouMean(name, KnownNames(report));
  }
  *text += story;
  return "";
}

int ExplainMain(std::span<const std::string> arguments, const char* program) {
  std::string path;
  const std::vector<Flag> flags = {{"--report", "FILE",
                                    "a report of a compile with --sheets",
                                    SetText(&path)}};
  const ParsedLine line = ParseLine(arguments, flags);
  if (!line.error.empty()) return Fail(program, kExitUsage, line.error);
  if (line.positional.empty() || path.empty()) {
    return Fail(program, kExitUsage,
                "usage: " + std::string(program) +
                    " explain NODE|TENSOR|OP... --report FILE");
  }
  v1::CompileReport report;
  std::string fault = ReadReportFile(path, &report);
  std::string text;
  for (const std::string& name : line.positional) {
    if (fault.empty()) fault = Explain(report, name, &text);
  }
  if (!fault.empty()) return Fail(program, kExitInput, fault);
  std::fputs(text.c_str(), stdout);
  return kExitDone;
}

}  // namespace fold
