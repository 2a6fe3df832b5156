// The migration sheet: what a rewrite says becomes of everything that it takes
// away. The rewriter holds the sheet against the graph before and after, and
// refuses the rewrite where an item is missing or false.
#ifndef FOLD_COMPILER_IR_MIGRATION_H_
#define FOLD_COMPILER_IR_MIGRATION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace fold {

// An old result and the value that stands for it from now on.
struct ResultMove {
  ValueId from, to;
};

// The quantization of an old value and where it lives now.
struct EncodingMove {
  enum class Destination : uint8_t {
    kType,       // in the type of value `to`, its axis remapped to `to_axis`
    kAttribute,  // in attributes of the new node that makes `to`: the scales in
                 // `attribute`, the zero points in `zero_attribute`, which may
                 // be empty where all of them are 0
    kMerged,     // equal to the encoding that `to` already carries
    kDead,       // nowhere: no output depends on what is removed
    kNumbers,    // of a constant: `to` is a constant of the real numbers that
                 // its codes stand for
  };
  ValueId from, to;
  Destination destination = Destination::kType;
  int from_axis = -1, to_axis = -1;
  std::string attribute = {}, zero_attribute = {};
};

// One step of how a new constant comes from an old one.
struct Derivation {
  enum class Kind : uint8_t {
    kReshaped,   // the same elements in the same order, in the new shape
    kPermuted,   // new axis i is old axis perm[i]
    kCollapsed,  // all elements are equal, and one stands for them
    kNegated,
    kCast,       // every number kept in another element type
    kQuantized,  // the codes of its numbers in the encoding of value `like`
    kEvaluated,  // what `node` evaluates to, which reads it and does what a
                 // removed node does
    kNamed,      // only named: ConstantMove::verify holds it against the graph
  };
  Kind kind;
  std::vector<int64_t> perm = {};
  ValueId like = {};
  Node node = {};
};
std::string_view DerivationName(Derivation::Kind kind);

// Where an absorbed constant's numbers are, each of them and in order.
struct Slot {
  enum class Kind : uint8_t {
    kNone,        // not said: refused
    kScales,      // of the encoding of `to`
    kZeroPoints,  // of the encoding of `to`
    kCodeLow,     // the ends of the range of codes of `to`, or beyond the range
    kCodeHigh,    // that the old value had already
    kClipLow,     // bounds of clip step `step` of the new node that makes `to`
    kClipHigh,
    kAttribute,  // attribute `attribute` of that node
    kShape,      // the shape of `to`; -1 and 0 as Reshape reads them
  };
  Kind kind = Kind::kNone;
  int step = -1;
  std::string attribute = {};
  ValueId of = {};  // for kMade: the value, in place of `to`
};

// Why nothing has to become of a constant.
enum class Unneeded : uint8_t {
  kUnsaid,      // refused
  kDead,        // no output depends on what is removed
  kWholeRange,  // the lower or upper bound (`slot`: kCodeLow, kCodeHigh) that
                // no code of the type of `to` passes
  kNamed,       // for `reason`: ConstantMove::verify holds it against the graph
};

// Who else reads a constant that a rewrite takes away from its readers.
enum class Sharing : uint8_t {
  kSingleUse,    // nobody
  kCoordinated,  // others, and the rewrite takes it from all of them
  kSplit,        // others, who keep it as it is: the rewrite has its own
};

struct ConstantMove;
// "" if what `move` says is so in `graph`, which the change has not reached
// yet; else what is not.
using VerifyMove =
    std::function<std::string(const Graph& graph, const ConstantMove& move)>;

// A constant that the removed nodes read, or one that new nodes read.
struct ConstantMove {
  enum class Kind : uint8_t {
    kMoved,        // `to` == `from`: read by a new node, or a result, as it is
    kTransformed,  // `to` is a new constant, `from` taken through `how`
    kCloned,       // `to` is an equal constant of its own
    kAbsorbed,     // its numbers, taken through `how`, are in `slot`
    kUnneeded,     // nothing depends on it, because of `why`
    kMade,         // `to` is what `slot` of value `slot.of` says, or `number`
                   // taken through `how`; there is no `from`
  };
  ValueId from, to;
  Kind kind = Kind::kMoved;
  std::string reason = {};  // for people, and the name of what is kNamed
  std::vector<Derivation> how = {};
  Slot slot = {};
  Unneeded why = Unneeded::kUnsaid;
  double number = 0;
  VerifyMove verify = {};
  // Filled in by the rewriter.
  Sharing sharing = Sharing::kSingleUse;
};

// Something that was known of a removed value and has no destination.
struct LostFact {
  enum class Kind : uint8_t { kName, kShape, kElementType, kScales, kZeros };
  Kind kind;
  ValueId value;
};
std::string_view LostFactName(LostFact::Kind kind);

// A node that a rewrite removed or added.
struct RewrittenNode {
  OpId op{};
  std::string name;  // UserName
  std::vector<std::string> sources;
  std::vector<ValueId> operands, results;
};

// What a rewrite costs and saves, apart from correctness.
struct RewriteCost {
  // Constants that are read now and were not, and the other way round.
  int64_t constant_bytes_added = 0, constant_bytes_removed = 0;
  // What a run executes, and the bytes that it writes.
  int nodes_added = 0, nodes_removed = 0;
  int64_t run_bytes_added = 0, run_bytes_removed = 0;
  // From the proposal's beginning until it was applied; of this run alone.
  double seconds = 0;
};

struct MigrationSheet {
  // The rule's name, as in passes.def.
  std::string rule = {};
  std::vector<ResultMove> results = {};
  std::vector<EncodingMove> encodings = {};
  std::vector<ConstantMove> constants = {};
  // Rounding and exceptional values (NaN, infinities, -0, saturation):
  // preserved, or changed on the stated domain.
  bool exceptional_preserved = true;
  std::string exceptional_domain = {};
  // What is gone and follows from what is left (shapes, element types), and
  // what is gone and follows from nothing (names of inner values, and nothing
  // else: a scale needs a destination).
  std::vector<LostFact> inferable = {}, unrecoverable = {};
  // Why this form and not another: what each would cost. Empty where there was
  // no choice.
  std::string decision = {};
  // Filled in by the rewriter.
  RewriteCost cost = {};
  // The rewrite as users know it: names as they were before it. Filled in by
  // the rewriter.
  std::vector<RewrittenNode> removed = {}, added = {};
};

// What an item says, in a few words: "axis 0->1", "transformed permuted [1,0]",
// "absorbed in scales".
std::string EncodingMoveText(const EncodingMove& move);
std::string ConstantMoveText(const ConstantMove& move);

// A rewrite that did not happen.
struct Refusal {
  std::string rule;
  std::string node;    // the ONNX name of the node that stays
  std::string reason;  // the item without a destination, or the failed check
};

}  // namespace fold

#endif  // FOLD_COMPILER_IR_MIGRATION_H_
