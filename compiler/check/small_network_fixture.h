// A small quantized network as an ONNX model, and an artifact for it written
// by hand: what the checker must accept, and what mutations start from.
// Covers convolution (MUL64, per channel), depthwise convolution with float
// weights behind Q and BatchNormalization (THRESHOLDS), max pooling, addition,
// average pooling (REMAINDER), two matrix products (requantized, and raw
// accumulators), a table, and both boundaries.
#ifndef COMPILER_CHECK_SMALL_NETWORK_FIXTURE_H_
#define COMPILER_CHECK_SMALL_NETWORK_FIXTURE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "runtime/format/fold_generated.h"

namespace fold::check {

struct Range {
  int64_t low;
  int64_t high;
};

struct SmallNetwork {
  onnx::ModelProto model;
  format::ArtifactT artifact;
  // Reachable accumulators of each channel (window class), by op name.
  std::map<std::string, std::vector<Range>> reachable;

  std::string ModelBytes() const { return model.SerializeAsString(); }
};

SmallNetwork MakeSmallNetwork();

std::vector<uint8_t> Pack(const format::ArtifactT& artifact);
format::OpT* FindOp(format::ArtifactT* artifact, const std::string& name);

}  // namespace fold::check

#endif  // COMPILER_CHECK_SMALL_NETWORK_FIXTURE_H_
