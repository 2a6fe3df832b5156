// The stages of a compilation, in order. What holds at each is checked by
// compiler/passes/stage_check.h, never taken on trust.
#ifndef FOLD_COMPILER_IR_STAGE_H_
#define FOLD_COMPILER_IR_STAGE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace fold {

enum class Stage : uint8_t {
  imported,    // the graph says what the file says
  annotated,   // every quantized value carries its encoding in its type
  simplified,  // constants folded, BatchNorm in its linear op, identities gone
  folded,      // no fake-quantization left
  fused,       // activations, pads and requantizations absorbed
  legal,       // every op is one that the target has
  planned,     // an order, offsets and a peak are known
};

std::string_view StageName(Stage stage);
std::optional<Stage> ParseStage(std::string_view name);

}  // namespace fold

#endif  // FOLD_COMPILER_IR_STAGE_H_
