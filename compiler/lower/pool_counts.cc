#include "compiler/lower/pool_counts.h"

#include <algorithm>
#include <string>

namespace fold {
namespace {

std::vector<int64_t> CountsAlong(const WindowAxis& axis, bool include_pad) {
  // What counts lies in [begin, end), in coordinates of the padded input.
  const int64_t begin = include_pad ? 0 : axis.pad_begin;
  const int64_t end =
      axis.pad_begin + axis.input + (include_pad ? axis.pad_end : 0);
  std::vector<int64_t> counts(axis.output);
  for (int64_t i = 0; i < axis.output; ++i) {
    for (int64_t k = 0; k < axis.kernel; ++k) {
      const int64_t at = i * axis.stride + k * axis.dilation;
      counts[i] += at >= begin && at < end;
    }
  }
  return counts;
}

std::vector<int64_t> KindsOf(std::vector<int64_t> counts) {
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

void FillAxes(const WindowAxis& h, const WindowAxis& w,
              format_::PoolParametersT* p) {
  p->kernel_height = static_cast<int>(h.kernel);
  p->kernel_width = static_cast<int>(w.kernel);
  p->stride_height = static_cast<int>(h.stride);
  p->stride_width = static_cast<int>(w.stride);
  p->dilation_height = static_cast<int>(h.dilation);
  p->dilation_width = static_cast<int>(w.dilation);
  p->pad_top = static_cast<int>(h.pad_begin);
  p->pad_left = static_cast<int>(w.pad_begin);
}

std::optional<std::vector<WindowAxis>> AxesOf(const Node& node,
                                              const Shape& input) {
  std::string fault;
  const Shape kernel = node.attribute<std::vector<int64_t>>("kernel_shape", {});
  auto axes = WindowOf(node, input, kernel, &fault);
  if (!axes || axes->empty() || axes->size() > 2) return std::nullopt;
  if (axes->size() == 1) axes->insert(axes->begin(), WindowAxis());
  return axes;
}

}  // namespace

std::optional<PoolCounts> PoolCounts::Of(const Node& node, const Shape& input) {
  const auto axes = AxesOf(node, input);
  if (!axes) return std::nullopt;
  const bool include = node.attribute<int64_t>("count_include_pad", 0) != 0;
  PoolCounts counts;
  counts.height_ = (*axes)[0];
  counts.width_ = (*axes)[1];
  counts.rows_ = CountsAlong(counts.height_, include);
  counts.columns_ = CountsAlong(counts.width_, include);
  counts.row_kinds_ = KindsOf(counts.rows_);
  counts.column_kinds_ = KindsOf(counts.columns_);
  if (counts.row_kinds_.front() == 0 || counts.column_kinds_.front() == 0) {
    return std::nullopt;  // a window over padding alone has no mean
  }
  return counts;
}

int64_t PoolCounts::window_size() const {
  return height_.kernel * width_.kernel;
}

void PoolCounts::Fill(format_::PoolParametersT* p) const {
  FillAxes(height_, width_, p);
}

void PoolCounts::FillClasses(format_::PoolParametersT* p) const {
  const auto number = [](const std::vector<int64_t>& kinds, int64_t count) {
    return static_cast<int>(
        std::lower_bound(kinds.begin(), kinds.end(), count) - kinds.begin());
  };
  if (row_kinds_.size() == 1 && column_kinds_.size() == 1) return;
  for (int64_t count : rows_) {
    p->row_classes.push_back(number(row_kinds_, count));
  }
  for (int64_t count : columns_) {
    p->column_classes.push_back(number(column_kinds_, count));
  }
  p->column_class_count = static_cast<int>(column_kinds_.size());
}

void PoolCounts::FillDivisors(format_::PoolParametersT* p) const {
  p->row_divisors.assign(rows_.begin(), rows_.end());
  p->column_divisors.assign(columns_.begin(), columns_.end());
}

bool FillWindow(const Node& node, const Shape& input,
                format_::PoolParametersT* p) {
  const auto axes = AxesOf(node, input);
  if (axes) FillAxes((*axes)[0], (*axes)[1], p);
  return axes.has_value();
}

}  // namespace fold
