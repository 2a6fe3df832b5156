// How many elements each window of an average pool counts: fewer at borders,
// unless padding counts (ONNX AveragePool, count_include_pad and ceil_mode).
#ifndef FOLD_COMPILER_LOWER_POOL_COUNTS_H_
#define FOLD_COMPILER_LOWER_POOL_COUNTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/program.h"
#include "compiler/ops/window.h"

namespace fold {

class PoolCounts {
 public:
  // For a pool over one or two spatial dimensions; nullopt for others.
  static std::optional<PoolCounts> Of(const Node& node, const Shape& input);

  // Divisor of output (i, j) = rows()[i] * columns()[j].
  const std::vector<int64_t>& rows() const { return rows_; }
  const std::vector<int64_t>& columns() const { return columns_; }
  // The different numbers in rows() and columns(), ascending.
  const std::vector<int64_t>& row_kinds() const { return row_kinds_; }
  const std::vector<int64_t>& column_kinds() const { return column_kinds_; }
  // Elements of a whole window.
  int64_t window_size() const;

  // Kernel, strides, dilations and pads.
  void Fill(format_::PoolParametersT* p) const;
  // row_classes and column_classes, numbering row_kinds × column_kinds.
  void FillClasses(format_::PoolParametersT* p) const;
  void FillDivisors(format_::PoolParametersT* p) const;

 private:
  WindowAxis height_, width_;
  std::vector<int64_t> rows_, columns_, row_kinds_, column_kinds_;
};

// Kernel, strides, dilations and pads of a max pool; false if it is not over
// one or two dimensions.
bool FillWindow(const Node& node, const Shape& input,
                format_::PoolParametersT* p);

}  // namespace fold

#endif  // FOLD_COMPILER_LOWER_POOL_COUNTS_H_
