#include "compiler/ops/depth_to_space.h"

#include "compiler/ops/specs.h"

namespace fold {
namespace {

std::optional<Shape> Infer(const OperandView& view, std::string* fault) {
  const auto parts = PartsOfDepthToSpace(view.node, view.types[0].shape);
  if (parts) return parts->result;
  *fault = "its blocks do not fit the channels";
  return std::nullopt;
}

}  // namespace

std::optional<DepthToSpaceParts> PartsOfDepthToSpace(const Node& node,
                                                     const Shape& x) {
  const int64_t block = node.attribute<int64_t>("blocksize", 0);
  const auto mode = node.attribute<std::string>("mode", "DCR");
  constexpr int64_t kLargest = 1 << 15;
  if (x.size() != 4 || block < 1 || block > kLargest ||
      x[1] % (block * block) != 0 || (mode != "DCR" && mode != "CRD")) {
    return std::nullopt;
  }
  const int64_t channels = x[1] / (block * block);
  DepthToSpaceParts parts;
  parts.result = {x[0], channels, x[2] * block, x[3] * block};
  if (mode == "DCR") {  // depth, column, row: the blocks come first
    parts.split = {x[0], block, block, channels, x[2], x[3]};
    parts.perm = {0, 3, 4, 1, 5, 2};
  } else {
    parts.split = {x[0], channels, block, block, x[2], x[3]};
    parts.perm = {0, 1, 4, 2, 5, 3};
  }
  return parts;
}

const OpSpec kDepthToSpaceSpec = {"blocksize,mode", EncodingRule::kPreserving,
                                  Infer, nullptr, false};

}  // namespace fold
