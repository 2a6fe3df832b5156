// Any bytes may be parsed; what parses prints a text that parses to a graph
// that prints the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compiler/ir/text.h"
#include "compiler/ir/text_test_ops.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fold::TextTestOps ops;
  fold::Graph graph, again;
  fold::ParseError error;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!fold::Parse(text, ops, &graph, &error)) return 0;
  if (!fold::CheckStructure(graph).empty()) std::abort();
  const std::string printed = fold::Print(graph, ops);
  if (!fold::Parse(printed, ops, &again, &error)) std::abort();
  if (fold::Print(again, ops) != printed) std::abort();
  return 0;
}
