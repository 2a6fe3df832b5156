// Exact codes of one-input chains, point by point: the entries of a table.
#ifndef FOLD_COMPILER_EXACT_TABLE_ENTRY_H_
#define FOLD_COMPILER_EXACT_TABLE_ENTRY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/exact/chain.h"

namespace fold::exact {

// What stands before the rounding.
enum class ValueKind { kFinite, kPositiveInfinity, kNegativeInfinity, kNan };

struct TableEntry {
  std::int64_t code = 0;
  // An infinity saturates by its sign; not-a-number becomes the zero point
  // (clamped), and the caller decides what to say about it.
  ValueKind kind = ValueKind::kFinite;
};

// The code of `start` after steps and quantization. Any step is allowed, also
// those that are not monotone.
TableEntry EvaluateChain(const Rational& start,
                         std::span<const ChainStep> steps,
                         const Quantization& quantization);

// Entries for input codes code_low … code_high, in that order, where code
// stands for the real number (code - zero_point) * scale.
struct TableProblem {
  std::int64_t code_low = -128;
  std::int64_t code_high = 127;
  std::int64_t zero_point = 0;
  Rational scale = 1;
  std::vector<ChainStep> steps;
  Quantization quantization;
};

// Requires at most 65,536 input codes.
std::vector<TableEntry> EvaluateTable(const TableProblem& problem);

std::optional<std::string> FindFault(const TableProblem& problem);

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_TABLE_ENTRY_H_
