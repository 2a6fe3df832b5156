#include "server/reproducer_folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "compiler/api/sha256.h"

namespace fold {
namespace {

namespace fs = std::filesystem;

constexpr char kSuffix[] = ".tar";
constexpr char kPartSuffix[] = ".part";

// The file's digest, "" if it cannot be read.
std::string DigestOfFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Sha256 hash;
  std::vector<char> piece(size_t{1} << 16);
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) ||
         file.gcount() > 0) {
    hash.Update(
        std::string_view(piece.data(), static_cast<size_t>(file.gcount())));
  }
  return file.eof() ? hash.Finish() : "";
}

// The same crash is the same bundle: what differs from run to run is left out.
foldd::v1::Reproducer WithoutTimes(foldd::v1::Reproducer about) {
  about.mutable_exit()->clear_cpu_microseconds();
  about.mutable_exit()->clear_peak_memory_bytes();
  return about;
}

}  // namespace

ReproducerFolder::ReproducerFolder(std::string folder, ReproducerLimits limits,
                                   Publish publish)
    : folder_(std::move(folder)),
      limits_(limits),
      publish_(std::move(publish)) {}

absl::StatusOr<std::unique_ptr<ReproducerFolder>> ReproducerFolder::Open(
    std::string folder, ReproducerLimits limits, Publish publish) {
  std::unique_ptr<ReproducerFolder> opened(
      new ReproducerFolder(std::move(folder), limits, std::move(publish)));
  absl::Status status = opened->Load();
  if (!status.ok()) return status;
  return opened;
}

absl::Status ReproducerFolder::Load() {
  std::error_code error;
  fs::create_directories(folder_, error);
  fs::permissions(folder_, fs::perms::owner_all, error);
  std::vector<std::pair<fs::file_time_type, Bundle>> found;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end;
       at.increment(error)) {
    fs::path path = at->path();
    std::error_code gone;
    if (path.extension() == kPartSuffix) fs::remove(path, gone);
    if (path.extension() != kSuffix || !IsSha256Hex(path.stem().string())) {
      continue;
    }
    Bundle bundle = {path.stem(), static_cast<int64_t>(at->file_size(gone))};
    if (!gone) found.emplace_back(at->last_write_time(gone), bundle);
  }
  if (error) {
    return absl::UnavailableError(folder_ + ": " + error.message());
  }
  std::sort(found.begin(), found.end(), [](const auto& one, const auto& two) {
    return std::pair(one.first, one.second.digest) <
           std::pair(two.first, two.second.digest);
  });
  std::lock_guard lock(mutex_);
  for (auto& [time, bundle] : found) {
    bytes_ += bundle.bytes;
    bundles_.push_back(std::move(bundle));
  }
  RemoveOldest();
  return absl::OkStatus();
}

std::string ReproducerFolder::PathOf(const std::string& digest) const {
  return folder_ + "/" + digest + kSuffix;
}

void ReproducerFolder::RemoveOldest() {
  while (!bundles_.empty() &&
         (static_cast<int64_t>(bundles_.size()) > limits_.count ||
          bytes_ > limits_.bytes)) {
    std::error_code ignored;
    fs::remove(PathOf(bundles_.front().digest), ignored);
    bytes_ -= bundles_.front().bytes;
    bundles_.pop_front();
  }
}

absl::Status ReproducerFolder::Add(const std::string& part,
                                   const std::string& digest) {
  std::error_code error;
  auto bytes = static_cast<int64_t>(fs::file_size(part, error));
  if (!error && bytes > limits_.bytes) {
    return absl::ResourceExhaustedError("the bundle is larger than all may be");
  }
  std::lock_guard lock(mutex_);
  if (!error) fs::rename(part, PathOf(digest), error);
  if (error) return absl::UnavailableError(error.message());
  auto same = [&](const Bundle& bundle) { return bundle.digest == digest; };
  auto known = std::find_if(bundles_.begin(), bundles_.end(), same);
  if (known != bundles_.end()) {
    bytes_ -= known->bytes;
    bundles_.erase(known);
  }
  bundles_.push_back({digest, bytes});
  bytes_ += bytes;
  RemoveOldest();
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReproducerFolder::Keep(
    const std::string& job_folder, const std::vector<InputFile>& inputs,
    const foldd::v1::Reproducer& about, const std::string& instance) {
  if (limits_.count == 0) {
    return absl::FailedPreconditionError("no bundles are kept here");
  }
  std::string part;
  {
    std::lock_guard lock(mutex_);
    part = folder_ + "/" + std::to_string(next_++) + kPartSuffix;
  }
  std::string fault = WriteReproducer(job_folder, inputs, limits_.bytes,
                                      WithoutTimes(about), part);
  std::string digest = fault.empty() ? DigestOfFile(part) : "";
  absl::Status status =
      digest.empty()
          ? absl::UnavailableError("the bundle cannot be written: " + fault)
          : Add(part, digest);
  if (!status.ok()) {
    std::error_code ignored;
    fs::remove(part, ignored);
    return status;
  }
  if (publish_) publish_(digest, PathOf(digest), instance);
  return digest;
}

int64_t ReproducerFolder::count() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(bundles_.size());
}

int64_t ReproducerFolder::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace fold
