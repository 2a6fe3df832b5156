// A configuration file of any bytes is taken or refused with a reason; one
// that is taken is written so that it is taken again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "server/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fold::Config config, again;
  if (!fold::ParseConfigJson(text, &config).empty()) return 0;
  const std::string written = fold::ConfigJson(config);
  if (!fold::ParseConfigJson(written, &again).empty()) std::abort();
  if (fold::ConfigJson(again) != written) std::abort();
  return 0;
}
