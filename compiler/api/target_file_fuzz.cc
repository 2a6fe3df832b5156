// A target descriptor of any bytes: as protobuf where they begin with 'b', as
// textproto otherwise. One that is good means the same after the way through
// the compiler's struct.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "compiler/api/convert.h"
#include "compiler/api/target_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1,
                              size - 1);
  foldd::v1::TargetDescriptor message;
  if (data[0] == 'b') {
    if (!message.ParseFromArray(rest.data(), static_cast<int>(rest.size()))) {
      return 0;
    }
  } else if (!fold::ParseTargetText(rest, &message).empty()) {
    return 0;
  }
  const fold::TargetDescriptor target = fold::FromProto(message);
  const auto problems = fold::CheckTargetMessage(message);
  for (const fold::TargetProblem& problem : problems) {
    if (problem.field.empty() || problem.message.empty()) std::abort();
  }
  if (!problems.empty()) return 0;
  if (fold::FromProto(fold::ToProto(target)) != target) std::abort();
  return 0;
}
