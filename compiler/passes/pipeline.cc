#include "compiler/passes/pipeline.h"

#include "compiler/annotate/annotate.h"
#include "compiler/annotate/bind_table.h"
#include "compiler/annotate/bind_written.h"
#include "compiler/passes/pass.h"

namespace fold {
namespace passes {

bool annotate(Rewriter& rewriter, const PassEnvironment& environment) {
  Graph& graph = rewriter.graph_to_annotate();
  if (!Annotate(graph, environment.sink)) return false;
  for (const NearMiss& near : BindWrittenChains(graph)) {
    rewriter.Refuse("annotate", near.node, near.reason);
  }
  return !environment.encodings ||
         BindEncodingTable(graph, *environment.encodings, environment.sink);
}

}  // namespace passes

namespace {
constexpr Pass kPasses[] = {
#define PASS(name, requires_stage, ensures_stage, summary) \
  {#name, Stage::requires_stage, Stage::ensures_stage, summary, passes::name},
#include "compiler/passes/passes.def"
#undef PASS
};
}  // namespace

std::span<const Pass> Passes() { return kPasses; }

const Pass* FindPass(std::string_view name) {
  for (const Pass& pass : kPasses) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

std::vector<std::string> StandardPipeline() {
  return {"annotate",
          "split_constants",
          "open_qlinear",
          "fold_written_quant",
          "expand_fake_quant",
          "expand_depth_to_space",
          "clip_from_min_max",
          "fold_constants",
          "dequantize_constants",
          "fold_constants",
          "form_reciprocal",
          "constants_to_right",
          "sink_movement",
          "cancel_transposes",
          "remove_identities",
          "fold_code_clip",
          "fold_batch_norm",
          "remove_dead",
          "move_before_quantize",
          "fold_qlinear",
          "fold_qdq",
          "cancel_transposes",
          "fuse_activation",
          "fuse_requantize",
          "remove_requantize",
          "remove_dead",
          "fuse_pad"};
}

}  // namespace fold
