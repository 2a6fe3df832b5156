#include "compiler/api/reproducer.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>

#include "compiler/api/sha256.h"
#include "google/protobuf/util/json_util.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
namespace v1 = foldd::v1;

constexpr size_t kPieceBytes = size_t{1} << 20;
constexpr size_t kMaxPathBytes = 512;
constexpr int64_t kMaxAboutBytes = int64_t{16} << 20;
constexpr int kMaxFiles = 10'000;
constexpr int64_t kMaxUnpackedBytes = int64_t{16} << 30;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;

std::string ArchiveError(archive* from) {
  const char* text = archive_error_string(from);
  return text != nullptr ? text : "out of memory";
}

// Reads the entry that `from` stands at, piece by piece.
template <typename Take>
std::string ReadEntry(archive* from, Take take) {
  std::string piece(kPieceBytes, '\0');
  for (;;) {
    la_ssize_t got = archive_read_data(from, piece.data(), piece.size());
    if (got == 0) return "";
    if (got < 0) return ArchiveError(from);
    std::string fault =
        take(std::string_view(piece.data(), static_cast<size_t>(got)));
    if (!fault.empty()) return fault;
  }
}

std::string WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return std::strerror(wrote < 0 ? errno : EIO);
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return "";
}

// What is in a bundle, as it is unpacked.
struct Unpacked {
  std::string json;
  std::map<std::string, v1::ReproducerFile> files;  // by path
  int64_t bytes = 0;
};

std::string UnpackInput(archive* from, const std::string& name,
                        const std::string& folder, Unpacked* out) {
  if (!name.starts_with(kReproducerInputs))
    return "does not belong in a bundle";
  std::string path = name.substr(kReproducerInputs.size());
  if (!IsSafePath(path)) return "has an unsafe name";
  std::string target = folder + "/" + path;
  std::error_code error;
  fs::create_directories(fs::path(target).parent_path(), error);
  Descriptor fd(open(target.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     0600));
  if (fd.get() < 0) return std::strerror(errno);
  Sha256 hash;
  int64_t size = 0;
  std::string fault = ReadEntry(from, [&](std::string_view bytes) {
    size += static_cast<int64_t>(bytes.size());
    out->bytes += static_cast<int64_t>(bytes.size());
    if (out->bytes > kMaxUnpackedBytes) return std::string("is too large");
    hash.Update(bytes);
    return WriteAll(fd.get(), bytes);
  });
  v1::ReproducerFile& file = out->files[path];
  file.set_digest(hash.Finish());
  file.set_size_bytes(size);
  return fault;
}

std::string UnpackEntry(archive* from, archive_entry* entry,
                        const std::string& folder, Unpacked* out) {
  const char* pathname = archive_entry_pathname(entry);
  std::string name = pathname != nullptr ? pathname : "";
  std::string fault;
  if (archive_entry_filetype(entry) != AE_IFREG ||
      archive_entry_hardlink(entry) != nullptr) {
    fault = "is no plain file";
  } else if (static_cast<int>(out->files.size()) >= kMaxFiles) {
    fault = "is one file too many";
  } else if (name == kReproducerAbout) {
    fault = ReadEntry(from, [&](std::string_view bytes) -> std::string {
      out->json.append(bytes);
      return static_cast<int64_t>(out->json.size()) > kMaxAboutBytes
                 ? "is too large"
                 : "";
    });
  } else {
    fault = UnpackInput(from, name, folder, out);
  }
  return fault.empty() ? "" : "'" + name + "': " + fault;
}

// Whether the files are those that the description lists.
std::string CheckFiles(const v1::Reproducer& about, const Unpacked& found) {
  for (const v1::ReproducerFile& file : about.files()) {
    auto at = found.files.find(file.path());
    if (at == found.files.end()) return "'" + file.path() + "' is missing";
    if (at->second.digest() != file.digest() ||
        at->second.size_bytes() != file.size_bytes()) {
      return "'" + file.path() + "' is damaged";
    }
  }
  if (found.files.size() != static_cast<size_t>(about.files_size())) {
    return "has files that its description does not list";
  }
  return "";
}

}  // namespace

bool IsSafePath(std::string_view path) {
  if (path.empty() || path.size() > kMaxPathBytes) return false;
  for (char c : path) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\') {
      return false;
    }
  }
  while (true) {
    size_t slash = path.find('/');
    std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

std::string UnpackReproducer(const std::string& path, const std::string& folder,
                             v1::Reproducer* about) {
  const std::string at = path + ": ";
  Reader from(archive_read_new(), archive_read_free);
  if (from == nullptr ||
      archive_read_support_format_tar(from.get()) != ARCHIVE_OK ||
      archive_read_open_filename(from.get(), path.c_str(), kPieceBytes) !=
          ARCHIVE_OK) {
    return at + ArchiveError(from.get());
  }
  Unpacked found;
  archive_entry* entry = nullptr;
  int next;
  while ((next = archive_read_next_header(from.get(), &entry)) == ARCHIVE_OK) {
    std::string fault = UnpackEntry(from.get(), entry, folder, &found);
    if (!fault.empty()) return at + fault;
  }
  if (next != ARCHIVE_EOF) return at + ArchiveError(from.get());
  if (found.json.empty()) return at + "no reproducer bundle";
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  if (!google::protobuf::util::JsonStringToMessage(found.json, about, options)
           .ok()) {
    return at + "its description cannot be read";
  }
  std::string fault = CheckFiles(*about, found);
  return fault.empty() ? "" : at + fault;
}

}  // namespace fold
