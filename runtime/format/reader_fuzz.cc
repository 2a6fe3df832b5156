// The reader on any bytes: it must come back, and quickly.
#include <cstdlib>
#include <cstring>

#include "runtime/format/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy that ends with the allocation, at the alignment that is asked for.
  void* memory = nullptr;
  if (posix_memalign(&memory, fold::format::kFileAlignment, size + 1) != 0) {
    return 0;
  }
  std::memcpy(memory, data, size);
  fold::format::Fault fault;
  fold::format::OpenArtifact(memory, size, &fault);
  std::free(memory);
  return 0;
}
