// What an artifact holds, for people: signature, ops, memory.
#ifndef FOLD_CLIENT_ARTIFACT_TEXT_H_
#define FOLD_CLIENT_ARTIFACT_TEXT_H_

#include <cstddef>
#include <string>

#include "runtime/format/reader.h"

namespace fold {

// Of an artifact that OpenArtifact has checked; `file_bytes` is its size.
std::string ArtifactText(const format::Artifact& artifact, size_t file_bytes);

}  // namespace fold

#endif  // FOLD_CLIENT_ARTIFACT_TEXT_H_
