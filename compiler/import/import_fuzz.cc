// libFuzzer target: no bytes make the import crash, hang or leak.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "compiler/import/onnx_importer.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fold::WarmOnnx();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fold::ImportOptions options;
  options.limits.max_constant_bytes = 1 << 20;
  options.shapes = {{"x", {1, 3, 8, 8}}};
  fold::Graph graph;
  fold::Diagnostics sink;
  const bool good = fold::ImportOnnx({data, size}, options, &graph, &sink);
  if (good == sink.has_error()) std::abort();
  if (good && !fold::CheckStructure(graph).empty()) std::abort();
  return 0;
}
