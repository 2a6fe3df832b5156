// Operators whose nodes mean different things in different operator sets. The
// importer converts none of them: it writes the set's version into the node's
// attribute "opset" (int64), and operators interpret it.
#ifndef FOLD_COMPILER_IMPORT_VERSIONED_OPS_H_
#define FOLD_COMPILER_IMPORT_VERSIONED_OPS_H_

#include <span>
#include <string_view>

namespace fold::importer {

struct VersionedOp {
  const char* name;  // in ai.onnx
  // What to look at the version for: "N: " is the first version of the change.
  const char* change;
};

// In alphabetical order. com.microsoft has one version, and its
// QLinearSoftmax an "opset" attribute of its own.
std::span<const VersionedOp> VersionedOps();

bool MeaningDependsOnOpset(std::string_view domain, std::string_view name);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_VERSIONED_OPS_H_
