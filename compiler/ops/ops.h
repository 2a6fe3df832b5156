// The operators by name.
#ifndef FOLD_COMPILER_OPS_OPS_H_
#define FOLD_COMPILER_OPS_OPS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/ir/graph.h"
#include "compiler/ir/op_info.h"

namespace fold {

enum class Op : uint16_t {
#define OP(id, mnemonic, domain, onnx_name, min, max, spec) id,
#include "compiler/ops/ops.def"
#undef OP
};

constexpr OpId ToId(Op op) { return static_cast<OpId>(op); }
constexpr Op ToOp(OpId id) { return static_cast<Op>(id); }
inline Op OpOf(const Node& node) { return ToOp(node.op); }

// The table behind the printer, the parser and the verifier.
const OpTable& Ops();

// QONNX's operators stand in models under three names of their domain.
inline constexpr std::string_view kQonnxDomain = "qonnx.custom_op.general";
bool IsQonnxDomain(std::string_view domain);

// The operator that an ONNX node of this domain and name is imported as.
// QuantizeLinear and DequantizeLinear of com.microsoft are the same operators;
// so are QONNX's under any of its domain's names, and its IntQuant and Quant.
std::optional<Op> OpFromOnnx(std::string_view domain, std::string_view name);

}  // namespace fold

#endif  // FOLD_COMPILER_OPS_OPS_H_
