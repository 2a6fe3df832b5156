// From a planned program to the artifact's bytes.
#ifndef FOLD_COMPILER_EMIT_EMITTER_H_
#define FOLD_COMPILER_EMIT_EMITTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/lower/program.h"

namespace fold {

// The bytes of a `.fold` file: the same for the same program, always. Opens
// what it wrote with the runtime's own reader; `*fault` is what that finds, ""
// if nothing.
std::vector<uint8_t> Emit(const Program& program, std::string* fault);

}  // namespace fold

#endif  // FOLD_COMPILER_EMIT_EMITTER_H_
