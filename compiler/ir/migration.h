// The migration sheet: what a rewrite says becomes of everything that it takes
// away. The rewriter holds the sheet against the graph before and after, and
// refuses the rewrite where an item is missing or false.
#ifndef FOLD_COMPILER_IR_MIGRATION_H_
#define FOLD_COMPILER_IR_MIGRATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/ids.h"

namespace fold {

// An old result and the value that stands for it from now on.
struct ResultMove {
  ValueId from, to;
};

// The quantization of an old value and where it lives now.
struct EncodingMove {
  enum class Destination : uint8_t {
    kType,       // in the type of value `to`, its axis remapped to `to_axis`
    kAttribute,  // in the attributes or steps of the node that makes `to`
    kMerged,     // equal to the encoding that `to` already carries
    kNumbers,    // of a constant: `to` is a constant of the real numbers that
                 // its codes stand for, or the node that makes `to` has them
                 // in its attributes or steps
  };
  ValueId from, to;
  Destination destination = Destination::kType;
  int from_axis = -1, to_axis = -1;
};

// A constant that the removed nodes read.
struct ConstantMove {
  enum class Kind : uint8_t {
    kMoved,        // `to` == `from`: read by a new node as it is
    kTransformed,  // `to` is a new constant computed from it
    kCloned,       // `to` is an equal constant of its own
    kAbsorbed,     // its numbers are in the type, attributes or steps of the
                   // node that makes `to`
    kUnneeded,     // the result does not depend on it; `reason` says why
  };
  ValueId from, to;
  Kind kind = Kind::kMoved;
  std::string reason;
};

struct MigrationSheet {
  // The rule's name, as in passes.def.
  std::string rule;
  std::vector<ResultMove> results;
  std::vector<EncodingMove> encodings;
  std::vector<ConstantMove> constants;
  // Rounding and exceptional values (NaN, infinities, -0, saturation):
  // preserved, or changed on the stated domain.
  bool exceptional_preserved = true;
  std::string exceptional_domain;
  // Items that could be inferred again (shapes) and that could not (scales,
  // names), in words.
  std::vector<std::string> inferable, unrecoverable;
  // Why this form and not another: what each would cost. Empty where there was
  // no choice.
  std::string decision;
  // Cost, apart from correctness. Filled in by the rewriter.
  int64_t constant_bytes_added = 0;
  int nodes_removed = 0, nodes_added = 0;
};

// A rewrite that did not happen.
struct Refusal {
  std::string rule;
  std::string node;    // the ONNX name of the node that stays
  std::string reason;  // the item without a destination, or the failed check
};

}  // namespace fold

#endif  // FOLD_COMPILER_IR_MIGRATION_H_
