// foldopt: runs passes on a graph in its text form. For people and scripts
// that look at one step of the compiler; foldc compiles models.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/pass_manager.h"

namespace fold {
namespace {

constexpr int kUsage = 2, kModelAtFault = 3, kInternal = 5;

struct Flags {
  std::vector<std::string> passes;
  bool sheets = false, verify_each = false, help = false;
  std::string input = "-", output = "-";
};

std::vector<std::string> SplitCommas(std::string_view list) {
  std::vector<std::string> items;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) items.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return items;
}

// "" or what is wrong.
std::string ReadFlags(int argc, char** argv, Flags* flags) {
  bool has_input = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--help" || flag == "-h") {
      flags->help = true;
    } else if (flag == "--sheets") {
      flags->sheets = true;
    } else if (flag.substr(0, 9) == "--passes=") {
      flags->passes = SplitCommas(flag.substr(9));
    } else if (flag == "--verify=each" || flag == "--verify=end") {
      flags->verify_each = flag == "--verify=each";
    } else if (flag == "-o" && i + 1 < argc) {
      flags->output = argv[++i];
    } else if (flag.size() > 1 && flag[0] == '-') {
      return "unknown flag or no value: " + std::string(flag);
    } else if (has_input) {
      return "more than one input";
    } else {
      flags->input = flag;
      has_input = true;
    }
  }
  for (const std::string& pass : flags->passes) {
    if (FindPass(pass) == nullptr) return "there is no pass " + pass;
  }
  return "";
}

void PrintHelp() {
  std::printf(
      "usage: foldopt [--passes=A,B] [--sheets] [--verify=end|each]\n"
      "               [-o FILE] [FILE]\n"
      "Reads a graph in its text form (from standard input without FILE), "
      "runs\n"
      "the passes in the order given, and writes the graph.\n"
      "  --sheets       write the migration sheets behind it, as comments\n"
      "  --verify=each  check the graph after every pass, not only at the end\n"
      "Exit: 0 done, 2 usage, 3 the graph is at fault, 5 a pass broke it.\n"
      "\npasses:\n");
  for (const Pass& pass : Passes()) {
    std::printf("  %-22s %s -> %s: %s\n", std::string(pass.name).c_str(),
                std::string(StageName(pass.requires_stage)).c_str(),
                std::string(StageName(pass.ensures_stage)).c_str(),
                std::string(pass.summary).c_str());
  }
  std::printf("\noperators:\n");
#define OP(id, mnemonic, domain, onnx_name, min, max, spec) \
  std::printf("  %-28s %s%s%s\n", mnemonic, domain,         \
              *(domain) && *(onnx_name) ? "." : "", onnx_name);
#include "compiler/ops/ops.def"
#undef OP
}

bool ReadInput(const std::string& path, std::string* text) {
  if (path == "-") {
    text->assign(std::istreambuf_iterator<char>(std::cin), {});
    return true;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  text->assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

bool WriteOutput(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text << std::flush;
    return std::cout.good();
  }
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  return file.good();
}

// "" if the graph's text says all of it.
std::string VerifyText(const Graph& graph) {
  Graph again;
  ParseError error;
  const std::string text = Print(graph, Ops());
  if (!Parse(text, Ops(), &again, &error)) {
    return "its text does not parse: " + error.message + "\n" + error.caret;
  }
  return Print(again, Ops()) == text ? "" : "its text does not come back";
}

// Returns the exit code.
int Run(const Flags& flags, Graph* graph, std::vector<MigrationSheet>* sheets) {
  Diagnostics diagnostics;
  std::vector<Refusal> refusals;
  PassContext context;
  context.verify = flags.verify_each ? VerifyMode::kEach : VerifyMode::kEnd;
  const bool done =
      RunPasses(graph, flags.passes, context, &diagnostics, sheets, &refusals);
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    std::cerr << FormatDiagnostic(diagnostic) << "\n";
  }
  for (const Refusal& refusal : refusals) {
    std::cerr << "refused: " << refusal.rule << ": node '" << refusal.node
              << "': " << refusal.reason << "\n";
  }
  if (!done) {
    const int code = diagnostics.exit_code();
    return code ? code : kInternal;
  }
  const std::string fault = VerifyText(*graph);
  if (fault.empty()) return 0;
  std::cerr << "foldopt: the graph is broken: " << fault << "\n";
  return kInternal;
}

// The sheets as comments, so that the output stays a graph.
std::string SheetComments(const Graph& graph,
                          const std::vector<MigrationSheet>& sheets) {
  std::istringstream lines(PrintSheets(graph, sheets));
  std::string text, line;
  while (std::getline(lines, line)) text += "# " + line + "\n";
  return text;
}

int Main(int argc, char** argv) {
  Flags flags;
  const std::string fault = ReadFlags(argc, argv, &flags);
  if (!fault.empty()) {
    std::cerr << "foldopt: " << fault << " (--help lists all)\n";
    return kUsage;
  }
  if (flags.help) {
    PrintHelp();
    return 0;
  }
  std::string text;
  if (!ReadInput(flags.input, &text)) {
    std::cerr << "foldopt: cannot read " << flags.input << "\n";
    return kUsage;
  }
  Graph graph;
  ParseError error;
  if (!Parse(text, Ops(), &graph, &error)) {
    std::cerr << flags.input << ":" << error.line << ":" << error.column << ": "
              << error.message << "\n"
              << error.caret << "\n";
    return kModelAtFault;
  }
  std::vector<MigrationSheet> sheets;
  const int code = Run(flags, &graph, &sheets);
  if (code != 0) return code;
  std::string printed = Print(graph, Ops());
  if (flags.sheets) printed += SheetComments(graph, sheets);
  if (!WriteOutput(flags.output, printed)) {
    std::cerr << "foldopt: cannot write " << flags.output << "\n";
    return kInternal;
  }
  return 0;
}

}  // namespace
}  // namespace fold

int main(int argc, char** argv) { return fold::Main(argc, argv); }
