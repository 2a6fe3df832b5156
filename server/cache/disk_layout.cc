#include "server/cache/disk_layout.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "compiler/api/sha256.h"
#include "server/cache/disk_file.h"

namespace fold {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 2;
constexpr char kFormat[] = "foldd-cache 2\n";
// Older servers do not know it, so that none meets a folder half moved.
constexpr char kUpgrading[] = "foldd-cache 2 upgrading\n";
constexpr char kCopying[] = "foldd-cache copy under way\n";
constexpr std::string_view kFormatName = "foldd-cache ";
constexpr char kDefaultInstance[] = "_";
constexpr size_t kMaxFormatBytes = 256;

std::string FolderOfInstance(const std::string& instance) {
  return instance.empty() ? kDefaultInstance : instance;
}

bool IsFolder(const std::string& path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// The version that a format file states; 0: it does not.
int VersionIn(std::string_view text) {
  if (text.substr(0, kFormatName.size()) != kFormatName) return 0;
  text.remove_prefix(kFormatName.size());
  int version = 0;
  auto parsed =
      std::from_chars(text.data(), text.data() + text.size(), version);
  return parsed.ec == std::errc() ? version : 0;
}

// Moves what is in `from` to where it is missing in `to`, and removes `from`.
absl::Status MergeFolder(const std::string& from, const std::string& to) {
  std::error_code error;
  if (!IsFolder(to)) {
    if (rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
    return SystemStatus("rename " + from);
  }
  for (const auto& item : fs::directory_iterator(from, error)) {
    std::string target = to + "/" + item.path().filename().string();
    if (IsFolder(item.path()) && IsFolder(target)) {
      absl::Status status = MergeFolder(item.path(), target);
      if (!status.ok()) return status;
    } else if (rename(item.path().c_str(), target.c_str()) != 0) {
      return SystemStatus("rename " + item.path().string());
    }
  }
  if (error)
    return absl::InternalError("read " + from + ": " + error.message());
  return rmdir(from.c_str()) == 0 ? absl::OkStatus()
                                  : SystemStatus("rmdir " + from);
}

absl::Status UpgradeFromFirst(const std::string& root) {
  absl::Status status = WriteFileDurably(root + "/format", kUpgrading);
  if (!status.ok()) return status;
  std::string home = root + "/instances/" + kDefaultInstance;
  for (const std::string& folder : {root + "/instances", home}) {
    status = MakeFolder(folder);
    if (!status.ok()) return status;
  }
  for (Space space : kSpaces) {
    std::string from = root + "/" + FolderOf(space);
    if (!IsFolder(from)) continue;  // moved before a kill
    status = MergeFolder(from, home + "/" + FolderOf(space));
    if (!status.ok()) return status;
  }
  for (const std::string& folder : {home, root}) {
    status = SyncFolder(folder);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Unreadable(const std::string& root, const std::string& text) {
  int version = VersionIn(text);
  if (version > kVersion) {
    return absl::FailedPreconditionError(
        root + " was written by a newer server (format " +
        std::to_string(version) + "); this one reads up to format " +
        std::to_string(kVersion) +
        ": start the newer server, restore a backup, or use another folder");
  }
  if (text == kCopying) {
    return absl::FailedPreconditionError(
        root + " is a copy that was not finished: remove it, and copy again");
  }
  return absl::FailedPreconditionError(
      root + "/format is not that of a cache: is this another folder?");
}

absl::Status MakeParts(const std::string& root) {
  for (const char* name :
       {"instances", "pins", "recalls", "temp", "quarantine"}) {
    absl::Status status = MakeFolder(root + "/" + name);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void ScanInstance(const std::string& folder, const std::string& instance,
                  const std::function<void(const FoundEntry&)>& found) {
  for (Space space : kSpaces) {
    std::error_code error;
    fs::recursive_directory_iterator files(folder + "/" + FolderOf(space),
                                           error);
    for (; files != fs::recursive_directory_iterator();
         files.increment(error)) {
      if (error) break;
      struct stat status;
      std::string name = files->path().filename();
      if (!IsSha256Hex(name) || lstat(files->path().c_str(), &status) != 0 ||
          !S_ISREG(status.st_mode)) {
        continue;
      }
      found({{space, name, instance}, status.st_size, status.st_mtim});
    }
  }
}

}  // namespace

const char* FolderOf(Space space) {
  switch (space) {
    case Space::kBlob:
      return "blobs";
    case Space::kAction:
      return "actions";
    case Space::kManifest:
      return "manifests";
  }
  return "";
}

std::string PathOfEntry(const std::string& root, const Key& key) {
  return root + "/instances/" + FolderOfInstance(key.instance) + "/" +
         FolderOf(key.space) + "/" + key.hash.substr(0, 2) + "/" + key.hash;
}

std::string FlatName(const Key& key) {
  return FolderOfInstance(key.instance) + "~" + FolderOf(key.space) + "~" +
         key.hash;
}

std::optional<Key> ParseFlatName(std::string_view name) {
  size_t first = name.find('~');
  size_t second = name.find('~', first + 1);
  if (first == name.npos || second == name.npos) return std::nullopt;
  Key key;
  key.instance = std::string(name.substr(0, first));
  if (key.instance == kDefaultInstance) {
    key.instance.clear();
  } else if (key.instance.empty() || !IsInstanceName(key.instance)) {
    return std::nullopt;
  }
  key.hash = std::string(name.substr(second + 1));
  if (!IsSha256Hex(key.hash)) return std::nullopt;
  for (Space space : kSpaces) {
    if (name.substr(first + 1, second - first - 1) == FolderOf(space)) {
      key.space = space;
      return key;
    }
  }
  return std::nullopt;
}

absl::Status PrepareLayout(const std::string& root) {
  absl::StatusOr<std::string> format =
      ReadSmallFile(root + "/format", kMaxFormatBytes);
  if (!format.ok() && !absl::IsNotFound(format.status())) {
    return format.status();
  }
  std::string text = format.ok() ? *format : "";
  bool fresh = text.empty();  // or killed in the midst of making it
  if (VersionIn(text) == 1 || text == kUpgrading ||
      (fresh && IsFolder(root + "/" + FolderOf(Space::kBlob)))) {
    absl::Status status = UpgradeFromFirst(root);
    if (!status.ok()) return status;
  } else if (!fresh && text != kFormat) {
    return Unreadable(root, text);
  }
  absl::Status made = MakeParts(root);
  if (!made.ok()) return made;
  if (text == kFormat) return absl::OkStatus();
  return WriteFileDurably(root + "/format", kFormat);
}

bool HasCurrentFormat(const std::string& root) {
  auto text = ReadSmallFile(root + "/format", kMaxFormatBytes);
  return text.ok() && *text == kFormat;
}

absl::Status BeginCopy(const std::string& root) {
  absl::Status status = WriteFileDurably(root + "/format", kCopying);
  return status.ok() ? MakeParts(root) : status;
}

absl::Status EndCopy(const std::string& root) {
  return WriteFileDurably(root + "/format", kFormat);
}

void ScanEntries(const std::string& root,
                 const std::function<void(const FoundEntry&)>& found) {
  std::error_code error;
  for (const auto& folder :
       fs::directory_iterator(root + "/instances", error)) {
    std::string name = folder.path().filename();
    if (!IsFolder(folder.path())) continue;
    if (name == kDefaultInstance) {
      ScanInstance(folder.path(), "", found);
    } else if (IsInstanceName(name)) {
      ScanInstance(folder.path(), name, found);
    }
  }
}

}  // namespace fold
