// What a job says is any bytes in any pieces: the first byte is the size of
// the pieces. How they are cut makes no difference.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "compiler/api/job_events.h"

namespace {

std::vector<std::string> Read(std::string_view bytes, size_t piece,
                              bool* broken) {
  fold::JobEventParser parser;
  std::vector<std::string> events;
  while (!bytes.empty()) {
    parser.Append(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    foldd::v1::JobEvent event;
    while (parser.Next(&event)) events.push_back(event.SerializeAsString());
  }
  *broken = parser.broken();
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1,
                               size - 1);
  bool broken_whole = false, broken_cut = false;
  const auto whole = Read(bytes, bytes.size() + 1, &broken_whole);
  const auto cut = Read(bytes, size_t{data[0]} + 1, &broken_cut);
  if (whole != cut || broken_whole != broken_cut) std::abort();
  return 0;
}
