#include "compiler/ir/stage.h"

namespace fold {
namespace {
constexpr std::string_view kNames[] = {"imported", "annotated", "simplified",
                                       "folded",   "fused",     "legal",
                                       "planned"};
}  // namespace

std::string_view StageName(Stage stage) {
  return kNames[static_cast<int>(stage)];
}

std::optional<Stage> ParseStage(std::string_view name) {
  for (int i = 0; i < static_cast<int>(std::size(kNames)); ++i) {
    if (kNames[i] == name) return static_cast<Stage>(i);
  }
  return std::nullopt;
}

}  // namespace fold
