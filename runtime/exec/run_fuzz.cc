// Opens any bytes, and runs what opens: nothing that the reader lets through
// may leave its memory or be undefined. Sizes are kept small so that a run is
// short.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/include/fold/runtime.h"

namespace {

constexpr size_t kMost = 1 << 16;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

// Ends with the allocation, so that the address sanitizer sees its bounds.
Memory Allocate(size_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, 4096, bytes + 1) != 0) return nullptr;
  std::memset(memory, 0x3c, bytes);
  return Memory(memory);
}

struct Buffers {
  std::vector<Memory> memory;
  std::vector<void*> pointers;
  std::vector<size_t> sizes;
};

bool MakeBuffers(const fold_model& model, uint32_t count,
                 fold_status (*describe)(const fold_model*, uint32_t,
                                         fold_value*),
                 Buffers* buffers) {
  for (uint32_t i = 0; i < count && i < 64; ++i) {
    fold_value value;
    describe(&model, i, &value);
    if (value.bytes > kMost) return false;
    buffers->memory.push_back(Allocate(value.bytes));
    buffers->pointers.push_back(buffers->memory.back().get());
    buffers->sizes.push_back(value.bytes);
  }
  return count <= 64;
}

void ReadTap(void* context, uint32_t index, const void* stored) {
  const fold_model* model = static_cast<const fold_model*>(context);
  fold_value value;
  fold_tap(model, index, &value);
  const Memory copy = Allocate(value.bytes);
  fold_read_tap(model, index, stored, copy.get());
}

void RunOnce(const fold_model& model) {
  Buffers inputs;
  Buffers outputs;
  const size_t arena_bytes = fold_arena_bytes(&model);
  if (arena_bytes > kMost || fold_tap_count(&model) > 64 ||
      !MakeBuffers(model, fold_input_count(&model), fold_input, &inputs) ||
      !MakeBuffers(model, fold_output_count(&model), fold_output, &outputs)) {
    return;
  }
  const Memory arena = Allocate(arena_bytes);
  fold_run_options options = {};
  options.arena = arena.get();
  options.arena_bytes = arena_bytes;
  options.inputs = inputs.pointers.data();
  options.input_bytes = inputs.sizes.data();
  options.input_count = static_cast<uint32_t>(inputs.sizes.size());
  options.outputs = outputs.pointers.data();
  options.output_bytes = outputs.sizes.data();
  options.output_count = static_cast<uint32_t>(outputs.sizes.size());
  options.tap = ReadTap;
  options.tap_context = const_cast<fold_model*>(&model);
  if (fold_run(&model, &options, nullptr) != FOLD_OK) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Memory file = Allocate(size);
  if (size > 0) std::memcpy(file.get(), data, size);
  fold_model model;
  if (fold_open(file.get(), size, &model, nullptr) == FOLD_OK) RunOnce(model);
  return 0;
}
