#include "compiler/tools/model_folder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fold {

ModelFolder::ModelFolder(std::string_view model_path) {
  size_t slash = model_path.rfind('/');
  folder_ = slash == std::string_view::npos
                ? "."
                : std::string(model_path.substr(0, slash + 1));
}

ModelFolder::~ModelFolder() {
  for (const auto& [name, bytes] : files_) {
    if (!bytes.empty()) {
      munmap(const_cast<uint8_t*>(bytes.data()), bytes.size());
    }
  }
}

std::optional<std::span<const uint8_t>> ModelFolder::Open(
    std::string_view name) {
  auto known = files_.find(name);
  if (known != files_.end()) return known->second;
  if (name.empty() || name == "." || name == ".." ||
      name.find('/') != std::string_view::npos ||
      name.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  std::string path = folder_ + "/" + std::string(name);
  // A pipe must not keep us waiting.
  int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  struct stat status;
  std::optional<std::span<const uint8_t>> found;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    auto size = static_cast<size_t>(status.st_size);
    void* bytes = size == 0
                      ? nullptr
                      : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (size == 0) {
      found.emplace();
    } else if (bytes != MAP_FAILED) {
      found.emplace(static_cast<const uint8_t*>(bytes), size);
    }
  }
  close(fd);
  if (found) files_.emplace(name, *found);
  return found;
}

std::map<std::string, Digest> ModelFolder::Digests() const {
  std::map<std::string, Digest> digests;
  for (const auto& [name, bytes] : files_) {
    digests[name] =
        DigestOf({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  return digests;
}

}  // namespace fold
