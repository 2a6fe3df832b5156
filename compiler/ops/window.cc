#include "compiler/ops/window.h"

namespace fold {
namespace {

using Ints = std::vector<int64_t>;

bool FitsRank(const Ints& values, size_t count) {
  return values.empty() || values.size() == count;
}

// SAME_UPPER and SAME_LOWER: ceil(input / stride) outputs.
void PadSame(bool lower, WindowAxis& axis) {
  const int64_t outputs = (axis.input + axis.stride - 1) / axis.stride;
  const int64_t total = std::max<int64_t>(
      0, (outputs - 1) * axis.stride + axis.reach() - axis.input);
  axis.pad_begin = lower ? total - total / 2 : total / 2;
  axis.pad_end = total - axis.pad_begin;
}

// Number of windows; with ceil_mode one may hang over the end, but none
// begins in the padding behind the input.
int64_t Outputs(const WindowAxis& axis, bool ceil_mode) {
  const int64_t room =
      axis.input + axis.pad_begin + axis.pad_end - axis.reach();
  if (room < 0) return 0;
  int64_t count = room / axis.stride + 1;
  if (ceil_mode && room % axis.stride != 0) ++count;
  if (ceil_mode && (count - 1) * axis.stride >= axis.input + axis.pad_begin) {
    --count;
  }
  return count;
}

}  // namespace

std::optional<std::vector<WindowAxis>> WindowOf(const Node& node,
                                                const Shape& input,
                                                const Shape& kernel,
                                                std::string* fault) {
  const size_t spatial = kernel.size();
  const Ints strides = node.attribute<Ints>("strides", {});
  const Ints dilations = node.attribute<Ints>("dilations", {});
  const Ints pads = node.attribute<Ints>("pads", {});
  const std::string mode = node.attribute<std::string>("auto_pad", "NOTSET");
  const bool ceil_mode = node.attribute<int64_t>("ceil_mode", 0) != 0;
  if (input.size() != spatial + 2 || !FitsRank(strides, spatial) ||
      !FitsRank(dilations, spatial) || !FitsRank(pads, 2 * spatial)) {
    *fault = "window attributes do not fit the input's rank";
    return std::nullopt;
  }
  if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" &&
      mode != "SAME_LOWER") {
    *fault = "auto_pad '" + mode + "' is not a mode of ONNX";
    return std::nullopt;
  }
  std::vector<WindowAxis> axes(spatial);
  for (size_t i = 0; i < spatial; ++i) {
    WindowAxis& axis = axes[i];
    axis.input = input[i + 2];
    axis.kernel = kernel[i];
    if (!strides.empty()) axis.stride = strides[i];
    if (!dilations.empty()) axis.dilation = dilations[i];
    constexpr int64_t kMost = int64_t{1} << 31;
    const auto sane = [](int64_t n) { return n >= 1 && n < kMost; };
    if (!sane(axis.kernel) || !sane(axis.stride) || !sane(axis.dilation) ||
        axis.kernel * axis.dilation >= kMost) {
      *fault = "kernel, stride or dilation is out of range";
      return std::nullopt;
    }
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      PadSame(mode == "SAME_LOWER", axis);
    } else if (!pads.empty() && mode != "VALID") {
      axis.pad_begin = pads[i];
      axis.pad_end = pads[i + spatial];
    }
    if (axis.pad_begin < 0 || axis.pad_end < 0 || axis.pad_begin >= kMost ||
        axis.pad_end >= kMost) {
      *fault = "negative or overflowing pads";
      return std::nullopt;
    }
    axis.output = Outputs(axis, ceil_mode);
    if (axis.output < 1) {
      *fault = "the window is larger than the padded input";
      return std::nullopt;
    }
  }
  return axes;
}

}  // namespace fold
