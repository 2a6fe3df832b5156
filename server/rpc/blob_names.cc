#include "server/rpc/blob_names.h"

#include <charconv>
#include <vector>

#include "compiler/api/sha256.h"

namespace fold {
namespace {

constexpr size_t kMaxNameBytes = 1024;
constexpr size_t kMaxUploadBytes = 64;

Failure Bad(const std::string& field, const std::string& message) {
  Failure failure = {"BAD_REQUEST",
                     "the request is at fault: " + field + " " + message};
  failure.violations = {{field, message}};
  return failure;
}

std::vector<std::string_view> Split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    size_t slash = text.find('/');
    parts.push_back(text.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    text.remove_prefix(slash + 1);
  }
}

bool ParseSize(std::string_view text, int64_t* size) {
  auto parsed = std::from_chars(text.data(), text.data() + text.size(), *size);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() &&
         *size >= 0 && std::to_string(*size) == text;  // one form alone
}

std::optional<Failure> ParseInstance(std::string_view text, BlobName* name) {
  if (text.empty() || !IsInstanceName(text)) {
    return Bad("resource_name", "has an instance that is no instance's name");
  }
  name->instance = text;
  return std::nullopt;
}

// blobs/HASH/SIZE from `parts[at]` on.
std::optional<Failure> ParseBlob(const std::vector<std::string_view>& parts,
                                 size_t at, BlobName* name) {
  if (at < parts.size() && parts[at] == "compressed-blobs") {
    return Bad("resource_name", "asks for a compressor that is not offered");
  }
  if (at + 3 > parts.size() || parts[at] != "blobs") {
    return Bad("resource_name", "has no blobs/HASH/SIZE");
  }
  name->hash = parts[at + 1];
  if (!IsSha256Hex(name->hash)) {
    return Bad("resource_name",
               "has a hash that is not 64 lower-case hexadecimal digits");
  }
  if (!ParseSize(parts[at + 2], &name->size)) {
    return Bad("resource_name", "has a size that is no number of bytes");
  }
  return std::nullopt;
}

}  // namespace

std::optional<Failure> ParseReadName(std::string_view text, BlobName* name) {
  if (text.size() > kMaxNameBytes) return Bad("resource_name", "is too long");
  std::vector<std::string_view> parts = Split(text);
  size_t at = 0;
  // No instance is called as a part of the syntax.
  if (parts[0] != "blobs" && parts[0] != "compressed-blobs") {
    if (auto failure = ParseInstance(parts[0], name)) return failure;
    at = 1;
  }
  if (auto failure = ParseBlob(parts, at, name)) return failure;
  if (parts.size() != at + 3) {
    return Bad("resource_name", "goes on behind the size");
  }
  return std::nullopt;
}

std::optional<Failure> ParseWriteName(std::string_view text, BlobName* name) {
  if (text.size() > kMaxNameBytes) return Bad("resource_name", "is too long");
  std::vector<std::string_view> parts = Split(text);
  size_t at = 0;
  if (parts[0] != "uploads") {
    if (auto failure = ParseInstance(parts[0], name)) return failure;
    at = 1;
  }
  if (at + 1 >= parts.size() || parts[at] != "uploads") {
    return Bad("resource_name", "has no uploads/UUID");
  }
  name->upload = parts[at + 1];
  if (name->upload.empty() || name->upload.size() > kMaxUploadBytes) {
    return Bad("resource_name", "has no UUID of 1 to 64 bytes");
  }
  return ParseBlob(parts, at + 2, name);
}

std::optional<Failure> CheckDigest(const std::string& field,
                                   const Digest& digest) {
  if (!IsSha256Hex(digest.hash())) {
    return Bad(field + ".hash", "must be 64 lower-case hexadecimal digits");
  }
  if (digest.size_bytes() < 0) {
    return Bad(field + ".size_bytes", "must not be negative");
  }
  return std::nullopt;
}

Failure BlobFailure(const absl::Status& status, const std::string& blob) {
  std::string message = blob + ": " + std::string(status.message());
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kOutOfRange:
      return {status.code() == absl::StatusCode::kNotFound
                  ? "BLOB_MISSING"
                  : "OFFSET_OUT_OF_RANGE",
              message};
    case absl::StatusCode::kDataLoss:
      return {"BLOB_CORRUPT", message};
    case absl::StatusCode::kInvalidArgument:
      return {"BLOB_WRONG", message};
    case absl::StatusCode::kFailedPrecondition:
      return {"ARTIFACT_RECALLED", message};
    case absl::StatusCode::kResourceExhausted:
      return {"STORAGE_FULL", message};
    default:
      return {"STORAGE_FAILED", message};
  }
}

}  // namespace fold
