// Opens a .fold artifact in place after checking it completely: the FlatBuffer
// itself, and then everything that the executor relies on. An artifact that
// passes cannot make the executor read or write outside the artifact, the
// arena and the caller's buffers, or do anything undefined, whatever its bytes;
// what it computes is its own business.
#ifndef RUNTIME_FORMAT_READER_H_
#define RUNTIME_FORMAT_READER_H_

#include <cstddef>
#include <cstdint>

#include "runtime/format/view.h"

namespace fold::format {

constexpr uint32_t kFormatVersion = 1;
constexpr size_t kFileAlignment = 64;
constexpr uint64_t kMaxFileBytes = 0x7fffffff;
constexpr uint64_t kMaxArenaBytes = uint64_t{1} << 40;

// What is wrong with a file, for people: the place and the rule. Long texts are
// cut.
struct Fault {
  char text[256] = "";
};

// `bytes` stays alive and unchanged for as long as the result is used, and is
// aligned to kFileAlignment. Null, with `fault` filled in, if the file is not
// an artifact of this version or breaks a rule. Takes time in proportion to
// `size`, allocates nothing, recurses nowhere.
const Artifact* OpenArtifact(const void* bytes, size_t size, Fault* fault);

// The artifact's constants; null and 0 if there are none.
inline Span<uint8_t> ConstantsOf(const Artifact& artifact) {
  return View(artifact.constants());
}

}  // namespace fold::format

#endif  // RUNTIME_FORMAT_READER_H_
