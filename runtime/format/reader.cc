#include "runtime/format/reader.h"

#include <cstdarg>
#include <cstdio>

#include "runtime/format/check.h"

namespace fold::format {

bool Check::Fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(fault->text, sizeof(fault->text), format, arguments);
  va_end(arguments);
  return false;
}

bool Check::Spend(int64_t elements) {
  budget -= elements;
  return budget >= 0 || Fail("vectors are shared too often");
}

bool OpCheck::Fail(const char* format, ...) const {
  char text[160];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  const OpRule* rule = FindOpRule(op->opcode());
  return check->Fail("op %lld (%s, %.60s): %s", static_cast<long long>(index),
                     rule != nullptr ? rule->name : "?", NameOf(op->name()),
                     text);
}

namespace {

bool CheckPlan(Check* check) {
  const Plan* plan = check->artifact->plan();
  if (plan == nullptr) return check->Fail("there is no plan");
  if (plan->arena_bytes() > kMaxArenaBytes) {
    return check->Fail("the arena has %llu bytes",
                       static_cast<unsigned long long>(plan->arena_bytes()));
  }
  const uint32_t alignment = plan->arena_alignment();
  if (alignment == 0 || alignment > 4096 ||
      (alignment & (alignment - 1)) != 0) {
    return check->Fail("the arena's alignment is %u", alignment);
  }
  return true;
}

bool CheckAll(Check* check, const uint8_t* bytes, size_t size) {
  const Artifact& artifact = *check->artifact;
  if (artifact.format_version() != kFormatVersion) {
    return check->Fail("format version %u, this reader knows %u",
                       artifact.format_version(), kFormatVersion);
  }
  const Span<uint8_t> constants = ConstantsOf(artifact);
  if (constants.size > 0 && (constants.data - bytes) % 64 != 0) {
    return check->Fail("constants are not aligned to 64 bytes");
  }
  // The builder pads the file to the constants' alignment.
  if (constants.size > 0 && size % 64 != 0) {
    return check->Fail("truncated: %zu bytes", size);
  }
  if (!CheckPlan(check) || !CheckTensors(check) || !CheckSignature(check)) {
    return false;
  }
  const int64_t ops = artifact.ops() != nullptr ? artifact.ops()->size() : 0;
  for (int64_t i = 0; i < ops; ++i) {
    if (!CheckOp(check, i)) return false;
  }
  return CheckTaps(check);
}

}  // namespace

const Artifact* OpenArtifact(const void* bytes, size_t size, Fault* fault) {
  Check check;
  check.fault = fault;
  fault->text[0] = '\0';
  if (bytes == nullptr || size < 16) {
    check.Fail("%zu bytes are too few for an artifact", size);
    return nullptr;
  }
  if (size > kMaxFileBytes) {
    check.Fail("%zu bytes are too many for an artifact", size);
    return nullptr;
  }
  if (reinterpret_cast<uintptr_t>(bytes) % kFileAlignment != 0) {
    check.Fail("the file's address is not a multiple of %zu", kFileAlignment);
    return nullptr;
  }
  const uint8_t* data = static_cast<const uint8_t*>(bytes);
  if (!ArtifactBufferHasIdentifier(data)) {
    check.Fail("not a .fold artifact");
    return nullptr;
  }
  flatbuffers::Verifier verifier(data, size, /*max_depth=*/16,
                                 /*max_tables=*/4000000);
  if (!VerifyArtifactBuffer(verifier)) {
    check.Fail("truncated or damaged: the FlatBuffer does not verify");
    return nullptr;
  }
  check.artifact = GetArtifact(data);
  check.budget = 16 * static_cast<int64_t>(size) + 4096;
  return CheckAll(&check, data, size) ? check.artifact : nullptr;
}

}  // namespace fold::format
