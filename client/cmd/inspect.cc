// foldctl inspect: what an artifact holds; no server is needed.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "client/artifact_text.h"
#include "client/cmd/command.h"
#include "compiler/api/error_table.h"
#include "runtime/format/reader.h"

namespace fold {
namespace {

// A file in memory, read-only, page-aligned as the reader wants it.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<size_t>(status.st_size);
      bytes_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    error_ = errno;
    if (fd >= 0) close(fd);
  }
  ~MappedFile() {
    if (valid()) munmap(bytes_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  bool valid() const { return bytes_ != MAP_FAILED; }
  const void* bytes() const { return bytes_; }
  size_t size() const { return size_; }
  std::string error() const {
    return error_ != 0 ? std::strerror(error_) : "the file is empty";
  }

 private:
  void* bytes_ = MAP_FAILED;
  size_t size_ = 0;
  int error_ = 0;
};

}  // namespace

int InspectCommand(std::span<const std::string> arguments) {
  ParsedLine line = ParseLine(arguments, {});
  if (!line.error.empty()) return UsageError(line.error);
  if (line.positional.size() != 1) {
    return UsageError("usage: foldctl inspect FILE");
  }
  errno = 0;
  MappedFile file(line.positional[0]);
  if (!file.valid()) {
    std::fprintf(stderr, "foldctl: cannot read '%s': %s\n",
                 line.positional[0].c_str(), file.error().c_str());
    return kExitInput;
  }
  format::Fault fault;
  const auto* artifact =
      format::OpenArtifact(file.bytes(), file.size(), &fault);
  if (artifact == nullptr) {
    std::fprintf(stderr, "foldctl: '%s' is not an artifact: %s\n",
                 line.positional[0].c_str(), fault.text);
    return kExitInput;
  }
  std::fputs(ArtifactText(*artifact, file.size()).c_str(), stdout);
  return kExitDone;
}

}  // namespace fold
