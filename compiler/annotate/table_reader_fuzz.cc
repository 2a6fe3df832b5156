// An encoding table of any bytes is read, or refused with an error; what is
// read keeps what the header promises.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "compiler/annotate/table_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fold::EncodingTable table;
  fold::Diagnostics sink;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool good = fold::ReadEncodingTable(text, &table, &sink);
  if (good == sink.has_error()) std::abort();
  if (!good) return 0;
  for (const fold::EncodingEntry& entry : table.entries) {
    if (entry.name.empty() && fold::SourceOf(entry).empty()) std::abort();
    if (entry.is_float) continue;
    if (entry.encoding.code_low > entry.encoding.code_high) std::abort();
  }
  return 0;
}
