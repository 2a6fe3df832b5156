// Runs passes in a given order: checks the stage before, the promises after,
// and records what each did. Nothing else lives here.
#ifndef FOLD_COMPILER_PASSES_PASS_MANAGER_H_
#define FOLD_COMPILER_PASSES_PASS_MANAGER_H_

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ir/migration.h"
#include "compiler/passes/pass.h"

namespace fold {

// How much is checked beside the stages: nothing, the graph after the last
// pass, or the graph after each.
enum class VerifyMode { kOff, kEnd, kEach };

// What one pass did.
struct PassRecord {
  std::string name;
  int nodes_before = 0, nodes_after = 0;
  int fake_quant_before = 0, fake_quant_after = 0;  // Q and DQ nodes
  int64_t constant_bytes_before = 0, constant_bytes_after = 0;
  int rewrites = 0;
  std::vector<Refusal> kept;
  std::vector<Refusal> decided;  // rewrites made for a cost, and which
  std::chrono::steady_clock::time_point start;
  double seconds = 0;
};

struct PassContext {
  VerifyMode verify = VerifyMode::kEnd;
  // What the graph is compiled for; null: no target's wishes are known.
  const TargetDescriptor* target = nullptr;
  // External encodings to bind; null: there are none.
  const EncodingTable* encodings = nullptr;
  // Called after each pass, may be empty: dumps and progress.
  std::function<void(const PassRecord&, const Graph&)> after;
};

// Runs `passes` in order. An unknown name, or a pass whose stage has not been
// reached at its turn, is an error before that pass runs (unknown_pass,
// pass_order), and says what is missing. A pass that runs later than it might,
// and gives passes before it work again, takes the graph back to the stage that
// holds. A promise that a pass breaks is stage_violated or graph_broken.
// Sheets, refusals and records are appended where asked for. Returns false if
// there was an error.
bool RunPasses(Graph* graph, const std::vector<std::string>& passes,
               const PassContext& context, Diagnostics* sink,
               std::vector<MigrationSheet>* sheets,
               std::vector<Refusal>* refusals,
               std::vector<PassRecord>* records = nullptr);

// Bytes of the constants that live nodes or outputs read.
int64_t ConstantBytes(const Graph& graph);

}  // namespace fold

#endif  // FOLD_COMPILER_PASSES_PASS_MANAGER_H_
