#include "server/cache/backup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "server/cache/disk_file.h"
#include "server/cache/disk_layout.h"
#include "server/cache/disk_stream.h"
#include "server/cache/mark_folder.h"
#include "server/cache/verifying_store.h"

namespace fold {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxRecordBytes = 64 << 20;

absl::Status CheckFolders(const std::string& from, const std::string& to) {
  if (!HasCurrentFormat(from)) {
    return absl::FailedPreconditionError(
        from +
        " is no cache of this version (a server that is started on an "
        "older one brings it to this)");
  }
  std::error_code error;
  fs::create_directories(to, error);
  if (error) return absl::InternalError(to + ": " + error.message());
  if (!fs::is_empty(to, error) || error) {
    return absl::FailedPreconditionError(to + " is not empty");
  }
  return absl::OkStatus();
}

// Copies and checks one entry's file. DATA_LOSS: it is wrong; nothing of it
// stays in `to`.
absl::Status CopyEntry(const FoundEntry& entry, const std::string& from,
                       const std::string& to) {
  auto reader = DiskReader::Open(
      PathOfEntry(from, entry.key),
      entry.key.space == Space::kBlob ? entry.key.hash : "", [](ino_t) {});
  if (!reader.ok()) return reader.status();
  std::string path = PathOfEntry(to, entry.key);
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error) return absl::InternalError(path + ": " + error.message());
  std::string record;
  DiskWriter::Hooks hooks;
  hooks.publish = [&](const std::string& aside) -> absl::Status {
    timespec times[2] = {entry.used, entry.used};
    utimensat(AT_FDCWD, aside.c_str(), times, 0);
    if (rename(aside.c_str(), path.c_str()) == 0) return absl::OkStatus();
    return SystemStatus("rename " + path);
  };
  hooks.end = [](const absl::Status&) {};
  auto writer = DiskWriter::Create(path + ".new", (*reader)->size(), "",
                                   std::move(hooks));
  if (!writer.ok()) return writer.status();
  for (;;) {
    absl::StatusOr<std::string> piece = (*reader)->Read(kMaxPieceBytes);
    if (!piece.ok()) return piece.status();
    if (piece->empty()) break;
    if (entry.key.space != Space::kBlob) record += *piece;
    if (record.size() > kMaxRecordBytes) break;
    absl::Status status = (*writer)->Append(*piece);
    if (!status.ok()) return status;
  }
  if (entry.key.space != Space::kBlob && !IsRightRecord(record)) {
    return absl::DataLossError("an entry's bytes are not what was written");
  }
  return (*writer)->Finish();
}

absl::Status CopyMarks(const std::string& from, const std::string& to,
                       CopyCounts* counts) {
  for (const char* name : {"/pins", "/recalls"}) {
    MarkFolder source(from + name);
    MarkFolder target(to + name);
    for (const auto& [mark, text] : source.All()) {
      absl::Status status = target.Put(mark, text);
      if (!status.ok()) return status;
      ++counts->marks;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CopyCache(const std::string& from, const std::string& to,
                       CopyCounts* counts) {
  absl::Status status = CheckFolders(from, to);
  if (status.ok()) status = BeginCopy(to);
  // Marks first: an entry that is pinned before it is there does no harm.
  if (status.ok()) status = CopyMarks(from, to, counts);
  if (!status.ok()) return status;
  ScanEntries(from, [&](const FoundEntry& entry) {
    if (!status.ok()) return;
    absl::Status copied = CopyEntry(entry, from, to);
    if (absl::IsNotFound(copied)) return;  // evicted meanwhile
    if (absl::IsDataLoss(copied)) {
      counts->wrong.push_back(FlatName(entry.key));
      return;
    }
    if (!copied.ok()) {
      status = copied;
      return;
    }
    ++counts->entries;
    counts->bytes += entry.size;
  });
  if (!status.ok()) return status;
  sync();  // the folders' names, before it is declared whole
  return EndCopy(to);
}

}  // namespace fold
