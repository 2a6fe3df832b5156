#include "compiler/emit/emitter.h"

#include <cstdlib>
#include <cstring>
#include <memory>

#include "runtime/format/reader.h"

namespace fold {
namespace {

// What the runtime's reader finds wrong with the bytes, "" if nothing.
std::string OpenFault(const std::vector<uint8_t>& bytes) {
  constexpr size_t kAlignment = format::kFileAlignment;
  const size_t rounded =
      (bytes.size() + kAlignment - 1) / kAlignment * kAlignment;
  std::unique_ptr<void, decltype(&std::free)> copy(
      std::aligned_alloc(kAlignment, rounded), &std::free);
  if (!copy) return "there is no memory to open it";
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  format::Fault fault;
  const bool good = format::OpenArtifact(copy.get(), bytes.size(), &fault);
  return good ? "" : fault.text;
}

}  // namespace

std::vector<uint8_t> Emit(const Program& program, std::string* fault) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(format_::Artifact::Pack(builder, &program.artifact),
                 format_::ArtifactIdentifier());
  const uint8_t* start = builder.GetBufferPointer();
  std::vector<uint8_t> bytes(start, start + builder.GetSize());
  *fault = OpenFault(bytes);
  return bytes;
}

}  // namespace fold
