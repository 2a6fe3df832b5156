// Lowering of small graphs, for the tests of this folder.
#ifndef FOLD_COMPILER_LOWER_TEST_LOWERING_H_
#define FOLD_COMPILER_LOWER_TEST_LOWERING_H_

#include <string>
#include <vector>

#include "compiler/lower/lower.h"
#include "compiler/ops/test_graph.h"

namespace fold {

// A target with every kernel and every requantization.
inline TargetDescriptor AnyTarget() {
  TargetDescriptor target;
  target.name = "any";
  for (std::string_view kind : TargetOpKinds()) {
    TargetOp op;
    op.kind = std::string(kind);
    target.ops.push_back(op);
  }
  target.requant.forms = {RequantForm::kMul64, RequantForm::kHalfEven64,
                          RequantForm::kRemainder, RequantForm::kMul128,
                          RequantForm::kThresholds};
  target.float_islands = true;
  return target;
}

// The same without one kernel.
inline TargetDescriptor Without(const std::string& kind) {
  TargetDescriptor target = AnyTarget();
  std::vector<TargetOp> kept;
  for (const TargetOp& op : target.ops) {
    if (op.kind != kind) kept.push_back(op);
  }
  target.ops = kept;
  return target;
}

struct Lowered {
  bool good = false;
  Program program;
  Diagnostics sink;

  const format_::OpT& op(size_t i) const { return *program.artifact.ops[i]; }
  const format_::TensorT& tensor(int i) const {
    return *program.artifact.tensors[i];
  }
  std::vector<format_::Opcode> opcodes() const {
    std::vector<format_::Opcode> opcodes;
    for (const auto& op : program.artifact.ops) opcodes.push_back(op->opcode);
    return opcodes;
  }
  // The constant that `tensor` is, as numbers of T.
  template <typename T>
  std::vector<T> constant(int i) const {
    const auto* bytes = program.artifact.constants.data() + tensor(i).offset;
    const auto* numbers = reinterpret_cast<const T*>(bytes);
    return std::vector<T>(numbers, numbers + tensor(i).bytes / sizeof(T));
  }
  std::string Text() const {
    std::string text;
    for (const Diagnostic& d : sink.all()) text += FormatDiagnostic(d) + "\n";
    return text;
  }
};

inline Lowered LowerText(const std::string& text,
                         const TargetDescriptor& target = AnyTarget(),
                         const LowerOptions& options = {}) {
  const Graph graph = GraphOf(text);
  Lowered lowered;
  lowered.good = Lower(graph, target, options, &lowered.program, &lowered.sink);
  EXPECT_EQ(lowered.good, !lowered.sink.has_error()) << lowered.Text();
  return lowered;
}

// The lowering fails, and its first error has this code and names this node.
inline void ExpectFault(const Lowered& lowered, DiagnosticCode code,
                        const std::string& node, const std::string& message) {
  EXPECT_FALSE(lowered.good);
  for (const Diagnostic& d : lowered.sink.all()) {
    if (d.severity() != Severity::kError) continue;
    EXPECT_STREQ(KindOf(d.code).name, KindOf(code).name);
    EXPECT_EQ(d.node, node);
    EXPECT_NE(d.message.find(message), std::string::npos) << d.message;
    return;
  }
  ADD_FAILURE() << "no error";
}

}  // namespace fold

#endif  // FOLD_COMPILER_LOWER_TEST_LOWERING_H_
