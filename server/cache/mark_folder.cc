#include "server/cache/mark_folder.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "server/cache/disk_file.h"
#include "server/cache/disk_layout.h"

namespace fold {
namespace {

constexpr size_t kMaxTextBytes = 1 << 20;

}  // namespace

MarkFolder::MarkFolder(std::string folder) : folder_(std::move(folder)) {
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder_, error)) {
    std::string name = file.path().filename();
    if (!ParseFlatName(name)) continue;  // half-written, or a stranger
    auto text = ReadSmallFile(file.path(), kMaxTextBytes);
    if (text.ok()) marks_[name] = std::move(*text);
  }
}

absl::Status MarkFolder::Put(const std::string& name, const std::string& text) {
  if (!ParseFlatName(name)) return absl::InvalidArgumentError("bad mark");
  if (text.size() > kMaxTextBytes) {
    return absl::InvalidArgumentError("the mark's text is too long");
  }
  std::lock_guard writing(write_mutex_);
  absl::Status status = WriteFileDurably(folder_ + "/" + name, text);
  if (!status.ok()) return status;
  std::lock_guard lock(mutex_);
  marks_[name] = text;
  return absl::OkStatus();
}

absl::Status MarkFolder::Erase(const std::string& name) {
  std::lock_guard writing(write_mutex_);
  if (!Find(name)) return absl::NotFoundError("no such mark");
  if (unlink((folder_ + "/" + name).c_str()) != 0) {
    return SystemStatus("unlink " + folder_ + "/" + name);
  }
  absl::Status status = SyncFolder(folder_);
  std::lock_guard lock(mutex_);
  marks_.erase(name);
  return status;
}

std::optional<std::string> MarkFolder::Find(const std::string& name) const {
  std::lock_guard lock(mutex_);
  auto found = marks_.find(name);
  if (found == marks_.end()) return std::nullopt;
  return found->second;
}

std::map<std::string, std::string> MarkFolder::All() const {
  std::lock_guard lock(mutex_);
  return marks_;
}

}  // namespace fold
