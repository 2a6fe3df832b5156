// A small operator table for the tests of the text form: the graph's own code
// knows no operators.
#ifndef FOLD_COMPILER_IR_TEXT_TEST_OPS_H_
#define FOLD_COMPILER_IR_TEXT_TEST_OPS_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/op_info.h"

namespace fold {

// conv, split, sink and strict; strict must have exactly one operand.
class TextTestOps : public OpTable {
 public:
  static constexpr std::array<std::string_view, 4> kNames = {"conv", "split",
                                                             "sink", "strict"};
  std::string_view Mnemonic(OpId op) const override {
    return kNames[static_cast<int>(op)];
  }
  std::optional<OpId> Find(std::string_view mnemonic) const override {
    for (size_t i = 0; i < kNames.size(); ++i) {
      if (kNames[i] == mnemonic) return static_cast<OpId>(i);
    }
    return std::nullopt;
  }
  std::string Check(const Graph&, const Node& node) const override {
    const bool fits =
        Mnemonic(node.op) != "strict" || node.operands.size() == 1;
    return fits ? "" : "strict needs one operand";
  }
};

}  // namespace fold

#endif  // FOLD_COMPILER_IR_TEXT_TEST_OPS_H_
