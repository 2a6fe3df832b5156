// What a compile did, as plain data: the compiler's side of the message
// foldd.v1.CompileReport (proto/foldd/v1/report.proto says what each field is).
#ifndef FOLD_COMPILER_REPORT_H_
#define FOLD_COMPILER_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"

namespace fold {

// Strongest first (design.md section 2).
enum class Exactness { kProved, kBounded, kTarget, kFloat };

struct ArtifactSummary {
  int64_t size_bytes = 0;
  Exactness exactness = Exactness::kProved;  // the weakest of the ops
  bool integer_only = false;
  int64_t arena_bytes = 0;
  int64_t arena_bytes_before_folding = 0;
  int64_t constant_bytes = 0;
  int64_t peak_lower_bound = 0;
};

struct KeptNode {
  std::string node, reason;
};

// A node that a rewrite removed or added. Values go by their keys: the name of
// the ONNX tensor, or the name that a pass made the value with.
struct SheetNode {
  std::string name, kind;  // the operator's name in the text form
  std::vector<std::string> sources;
  std::vector<std::string> operands, results;
};

struct SheetItem {
  enum class Kind { kResult, kEncoding, kConstant, kInferable, kUnrecoverable };
  Kind kind = Kind::kResult;
  std::string from, to;  // empty: none
  std::string detail;
};

// One rewrite's migration sheet (compiler/ir/migration.h).
struct SheetSummary {
  std::vector<SheetNode> removed, added;
  std::vector<SheetItem> items;
  std::string changes;
  int64_t constant_bytes_added = 0, constant_bytes_removed = 0;
  int64_t run_bytes_added = 0, run_bytes_removed = 0;
  double seconds = 0;  // of this run
};

// The nodes of a graph in order.
struct GraphSummary {
  std::vector<SheetNode> nodes;
  std::vector<std::string> inputs, outputs;
};

struct PassSummary {
  std::string name;
  int64_t nodes_before = 0, nodes_after = 0;
  int64_t fake_quant_before = 0, fake_quant_after = 0;
  int64_t constant_bytes_before = 0, constant_bytes_after = 0;
  int64_t rewrites = 0;
  std::vector<KeptNode> kept;
  std::vector<KeptNode> decided;     // values made anew, and what that costs
  double seconds = 0;                // of this run
  std::vector<SheetSummary> sheets;  // where asked for
  double start_seconds = 0;          // after the begin of the compile
};

struct OpSummary {
  std::string name;
  std::string kind;  // the kernel opcode
  std::vector<std::string> sources;
  Exactness exactness = Exactness::kProved;
  int64_t error_steps = 0;
};

struct MemorySummary {
  std::string name;
  int64_t size_bytes = 0;
  int64_t constant_bytes = 0;
  int64_t arena_bytes = 0;
};

struct CompileReport {
  ArtifactSummary artifact;
  std::vector<PassSummary> passes;
  std::vector<OpSummary> ops;
  std::vector<MemorySummary> memory;
  std::vector<Diagnostic> diagnostics;
  GraphSummary imported, lowered;       // where sheets are asked for
  int64_t start_unix_microseconds = 0;  // when this run began
  double seconds = 0;                   // of this run
  double prover_seconds = 0;  // the part of it that searched and proved
};

}  // namespace fold

#endif  // FOLD_COMPILER_REPORT_H_
