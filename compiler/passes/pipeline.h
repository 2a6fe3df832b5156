// Named pipelines as lists of passes.
#ifndef FOLD_COMPILER_PASSES_PIPELINE_H_
#define FOLD_COMPILER_PASSES_PIPELINE_H_

#include <string>
#include <vector>

namespace fold {

// From an imported graph to a fused one.
std::vector<std::string> StandardPipeline();

}  // namespace fold

#endif  // FOLD_COMPILER_PASSES_PIPELINE_H_
