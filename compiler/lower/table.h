// Functions of one or two codes as tables, each entry rounded correctly.
#ifndef FOLD_COMPILER_LOWER_TABLE_H_
#define FOLD_COMPILER_LOWER_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/exact/table_entry.h"
#include "compiler/lower/lowering.h"

namespace fold {

// A constant tensor of codes of `type`.
int AddTable(Lowering& lowering, const std::string& name, ElementType type,
             const std::vector<int64_t>& entries);

// Warns (nan_reachable) of a value that is not a number, in the words of
// `message`.
void WarnNan(Lowering& lowering, NodeId node, const std::string& message);

// The type that codes of `type` are stored as: 4-bit codes take a byte.
ElementType StoredAs(ElementType type);

// The chains from the codes of operand 0 of a Requantize or scaled reciprocal
// to those of its result: one, or one for each channel.
std::vector<exact::TableProblem> ChannelTables(const Lowering& lowering,
                                               NodeId node);

// Add, Sub, Mul or Div of two operands `a` and `b`, placed already, as a table
// of all pairs of codes. An operand that is a constant of numbers stands for
// index tensors: code i is number i of `numbers`, which are given in order.
struct PairAxis {
  int tensor = -1;
  ElementType type = ElementType::u8;
  std::vector<exact::Rational> numbers;  // of the codes, from the lowest
  std::vector<bool> reachable;           // as many
};
bool LowerPairTable(Lowering& lowering, NodeId node, const PairAxis& a,
                    const PairAxis& b, const Perm& perm);

}  // namespace fold

#endif  // FOLD_COMPILER_LOWER_TABLE_H_
