#include "compiler/import/versioned_ops.h"

#include <algorithm>

namespace fold::importer {
namespace {

// From the change logs of the operators in the onnx documentation, versions 7
// to 28.
constexpr VersionedOp kVersioned[] = {
    {"AveragePool", "19: which last window counts with ceil_mode"},
    {"BatchNormalization", "9: no spatial; 14: training_mode, fewer results"},
    {"Clip", "11: min and max are operands, not attributes"},
    {"MaxPool", "22: which last window counts with ceil_mode"},
    {"Pad", "11: pads and value are operands, not attributes; 18: axes"},
    {"ReduceMean", "18: axes are an operand, not an attribute"},
    {"Softmax",
     "13: along one axis, default -1; before, over the matrix that the axis "
     "(default 1) cuts the tensor into"},
    {"Squeeze", "13: axes are an operand, not an attribute"},
    {"Unsqueeze", "13: axes are an operand, not an attribute"},
};

}  // namespace

std::span<const VersionedOp> VersionedOps() { return kVersioned; }

bool MeaningDependsOnOpset(std::string_view domain, std::string_view name) {
  return domain.empty() &&
         std::any_of(std::begin(kVersioned), std::end(kVersioned),
                     [&](const VersionedOp& op) { return op.name == name; });
}

}  // namespace fold::importer
