#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/text.h"
#include "compiler/ir/text_format.h"
#include "compiler/ir/text_lexer.h"
#include "compiler/ir/text_reader.h"

namespace fold {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const OpTable& ops, Graph* graph)
      : lexer_(text), ops_(ops), graph_(*graph) {}

  bool Run() {
    if (!ReadVersion() || !ReadHeader()) return false;
    while (!lexer_.Take("}")) {
      if (!ReadLine()) return false;
    }
    if (!lexer_.AtEnd()) {
      return lexer_.Fail(lexer_.at(), "expected the end after the graph");
    }
    return ResolveOutputs();
  }

  const ParseError& error() const { return lexer_.error(); }

 private:
  // An output's name is known before its value.
  struct OutputPlace {
    size_t at;
    std::string value, external;
  };

  bool ReadVersion() {
    int64_t version = 0;
    if (!lexer_.ExpectWord("fir")) return false;
    size_t at = lexer_.at();
    if (!lexer_.Integer(&version)) return false;
    if (version != 1) return lexer_.Fail(at, "only version 1 is known");
    at = lexer_.at();
    std::string_view stage;
    if (!lexer_.Word("a stage", &stage)) return false;
    const auto parsed = ParseStage(stage);
    if (!parsed) return lexer_.Fail(at, "there is no such stage");
    graph_.stage = *parsed;
    return true;
  }

  bool ReadHeader() {
    if (!lexer_.ExpectWord("graph") || !lexer_.Expect("@") ||
        !lexer_.Name(&graph_.name) || !lexer_.Expect("(")) {
      return false;
    }
    if (!lexer_.Take(")")) {
      do {
        if (!ReadInput()) return false;
      } while (lexer_.Take(","));
      if (!lexer_.Expect(")")) return false;
    }
    if (!lexer_.Expect("->")) return false;
    if (lexer_.Take("(")) {
      if (!lexer_.Take(")")) {
        do {
          if (!ReadOutput()) return false;
        } while (lexer_.Take(","));
        if (!lexer_.Expect(")")) return false;
      }
    } else if (!ReadOutput()) {
      return false;
    }
    return lexer_.Expect("{");
  }

  bool ReadInput() {
    const size_t at = lexer_.at();
    std::string name;
    TensorType type;
    std::vector<std::string> aliases;
    if (!lexer_.Expect("%") || !lexer_.Name(&name) || !lexer_.Expect(":") ||
        !ReadTyped(&type, &aliases)) {
      return false;
    }
    const ValueId id = Define(at, name, std::move(type), std::move(aliases));
    if (!id.valid()) return false;
    graph_.inputs.push_back(id);
    return true;
  }

  bool ReadOutput() {
    OutputPlace output;
    output.at = lexer_.at();
    if (!lexer_.Expect("%") || !lexer_.Name(&output.value)) return false;
    output.external = output.value;
    if (lexer_.TakeWord("as") && !lexer_.Quoted(&output.external)) return false;
    outputs_.push_back(std::move(output));
    return !lexer_.failed();
  }

  bool ResolveOutputs() {
    for (OutputPlace& output : outputs_) {
      const ValueId id = graph_.FindValue(output.value);
      if (!id.valid()) {
        return lexer_.Fail(output.at, "this output is never made");
      }
      graph_.outputs.push_back(id);
      graph_.output_names.push_back(std::move(output.external));
    }
    return true;
  }

  bool ReadTyped(TensorType* type, std::vector<std::string>* aliases) {
    if (!ReadType(lexer_, type)) return false;
    return !lexer_.TakeWord("alias") || ReadQuotedList(lexer_, aliases);
  }

  // A new value, or an invalid id where the name is taken.
  ValueId Define(size_t at, const std::string& name, TensorType type,
                 std::vector<std::string> aliases) {
    if (graph_.FindValue(name).valid()) {
      lexer_.Fail(at, "a value of this name is there already");
      return ValueId();
    }
    const ValueId id = graph_.AddValue(name, std::move(type));
    graph_.mutable_value(id).aliases = std::move(aliases);
    return id;
  }

  bool ReadLine() {
    struct Result {
      size_t at;
      std::optional<std::string> name;
    };
    std::vector<Result> results;
    const size_t start = lexer_.at();
    if (lexer_.Peek('%') || lexer_.Peek('_')) {
      do {
        Result result{lexer_.at(), std::nullopt};
        if (!lexer_.TakeWord("_") &&
            (!lexer_.Expect("%") || !lexer_.Name(&result.name.emplace()))) {
          return false;
        }
        results.push_back(std::move(result));
      } while (lexer_.Take(","));
      if (!lexer_.Expect("=")) return false;
    }
    if (results.size() == 1 && results[0].name && lexer_.TakeWord("const")) {
      return ReadConstant(start, *results[0].name);
    }
    Node node;
    if (!ReadOperation(&node)) return false;
    for (size_t i = 0; i < results.size(); ++i) {
      if (!lexer_.Expect(i == 0 ? ":" : ",")) return false;
      ValueId id;
      if (results[i].name) {
        TensorType type;
        std::vector<std::string> aliases;
        if (!ReadTyped(&type, &aliases)) return false;
        id = Define(results[i].at, *results[i].name, std::move(type),
                    std::move(aliases));
        if (!id.valid()) return false;
      } else if (!lexer_.ExpectWord("_")) {
        return false;
      }
      node.results.push_back(id);
    }
    return ReadProvenance(&node) && AddNode(start, std::move(node));
  }

  bool ReadConstant(size_t at, const std::string& name) {
    TensorType type;
    std::vector<std::string> aliases;
    TensorPtr tensor;
    if (!ReadTyped(&type, &aliases) ||
        !ReadElements(lexer_, type.element, type.shape, &splat_bytes_left_,
                      &tensor)) {
      return false;
    }
    const ValueId id = Define(at, name, std::move(type), std::move(aliases));
    if (!id.valid()) return false;
    graph_.mutable_value(id).constant = std::move(tensor);
    return true;
  }

  // `conv(%x, _) {…} steps […]`
  bool ReadOperation(Node* node) {
    const size_t at = lexer_.at();
    std::string_view mnemonic;
    if (!lexer_.Word("an operator", &mnemonic)) return false;
    const auto op = ops_.Find(mnemonic);
    if (!op) return lexer_.Fail(at, "there is no such operator");
    node->op = *op;
    if (!lexer_.Expect("(")) return false;
    if (!lexer_.Take(")")) {
      do {
        if (!ReadOperand(node)) return false;
      } while (lexer_.Take(","));
      if (!lexer_.Expect(")")) return false;
    }
    if (lexer_.Peek('{') &&
        !ReadAttributes(lexer_, &splat_bytes_left_, &node->attributes)) {
      return false;
    }
    return !lexer_.TakeWord("steps") ||
           ReadSteps(lexer_, node->operands.size(), &node->steps);
  }

  bool ReadOperand(Node* node) {
    const size_t at = lexer_.at();
    std::string name;
    if (lexer_.TakeWord("_")) {
      node->operands.emplace_back();
      return true;
    }
    if (!lexer_.Expect("%") || !lexer_.Name(&name)) return false;
    const ValueId id = graph_.FindValue(name);
    if (!id.valid()) {
      return lexer_.Fail(at, "there is no such value before this line");
    }
    node->operands.push_back(id);
    return true;
  }

  bool ReadProvenance(Node* node) {
    if (lexer_.TakeWord("name") && !lexer_.Quoted(&node->name)) return false;
    if (lexer_.TakeWord("loc")) {
      std::vector<std::string> sources;
      if (!ReadQuotedList(lexer_, &sources)) return false;
      for (const std::string& source : sources) node->provenance.Add(source);
    }
    return true;
  }

  bool AddNode(size_t at, Node node) {
    const NodeId id = graph_.AddNode(std::move(node));
    const std::string fault = ops_.Check(graph_, graph_.node(id));
    return fault.empty() || lexer_.Fail(at, fault);
  }

  TextLexer lexer_;
  const OpTable& ops_;
  Graph& graph_;
  std::vector<OutputPlace> outputs_;
  int64_t splat_bytes_left_ = kMostSplatBytes;
};

}  // namespace

bool Parse(std::string_view text, const OpTable& ops, Graph* graph,
           ParseError* error) {
  Graph parsed;
  Parser parser(text, ops, &parsed);
  if (!parser.Run()) {
    *error = parser.error();
    return false;
  }
  *graph = std::move(parsed);
  return true;
}

}  // namespace fold
