// A pass: a name, the stages it stands between, and one function.
#ifndef FOLD_COMPILER_PASSES_PASS_H_
#define FOLD_COMPILER_PASSES_PASS_H_

#include <span>
#include <string_view>

#include "compiler/annotate/encoding_table.h"
#include "compiler/base/diagnostic.h"
#include "compiler/ir/rewriter.h"
#include "compiler/ir/stage.h"
#include "compiler/target/target.h"

namespace fold {

// What a pass may know beside the graph.
struct PassEnvironment {
  Diagnostics* sink = nullptr;  // takes the faults of the input
  // What the graph is compiled for; null: no target's wishes are known.
  const TargetDescriptor* target = nullptr;
  // External encodings to bind; null: there are none.
  const EncodingTable* encodings = nullptr;
};

struct Pass {
  std::string_view name;
  Stage requires_stage, ensures_stage;
  std::string_view summary;
  // Returns whether the graph changed.
  bool (*run)(Rewriter& rewriter, const PassEnvironment& environment);
};

// All passes, in the order of passes.def.
std::span<const Pass> Passes();
const Pass* FindPass(std::string_view name);

#define PASS(name, requires_stage, ensures_stage, summary) \
  bool name(Rewriter& rewriter, const PassEnvironment& environment);
namespace passes {
#include "compiler/passes/passes.def"
}  // namespace passes
#undef PASS

}  // namespace fold

#endif  // FOLD_COMPILER_PASSES_PASS_H_
