// Makes a failing network small: nodes, dimensions and parameters go as long as
// it keeps failing.
#ifndef FOLD_TESTS_REGRESS_SHRINK_H_
#define FOLD_TESTS_REGRESS_SHRINK_H_

#include <functional>
#include <string>

#include "onnx/onnx_pb.h"

namespace fold::regress {

// True if a network still shows the failure that is looked for. Is asked about
// networks that are not valid ONNX too, and has to say no to those.
using StillFails = std::function<bool(const onnx::ModelProto&)>;

// A network for which `fails` holds like for `model`, and from which no single
// step takes more away: an earlier result as the only output, a node replaced
// by its operand or by an input, a smaller dimension, a simpler constant, an
// attribute or operand less. Asks at most `most_questions` times.
onnx::ModelProto Shrink(const onnx::ModelProto& model, const StillFails& fails,
                        int most_questions = 3000);

// The network as a block for a golden file (docs/ir.md): the imported graph,
// behind a RUN line with the standard pipeline; and as the text that ModelOf
// reads. What cannot be imported has only the second.
std::string GoldenBlock(const onnx::ModelProto& model, const std::string& name);

}  // namespace fold::regress

#endif  // FOLD_TESTS_REGRESS_SHRINK_H_
