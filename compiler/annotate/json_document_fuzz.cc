// Any bytes are JSON or not; a tree of them is no larger than they are.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "compiler/annotate/json_document.h"

namespace {

size_t CountValues(const fold::JsonValue& value) {
  size_t count = 1;
  for (const fold::JsonValue& item : value.items) count += CountValues(item);
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fold::JsonValue root;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!fold::ParseJson(text, &root).empty()) return 0;
  if (CountValues(root) > size) std::abort();
  return 0;
}
