#include "compiler/api/reproducer.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

constexpr char kAboutName[] = "reproducer.json";
constexpr std::string_view kInputsFolder = "inputs/";
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

using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;
using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;
using Entry = std::unique_ptr<archive_entry, decltype(&archive_entry_free)>;

std::string ArchiveError(archive* from) {
  const char* text = archive_error_string(from);
  return text != nullptr ? text : "out of memory";
}

ssize_t ReadSome(int fd, char* buffer, size_t bytes) {
  ssize_t got;
  do {
    got = read(fd, buffer, bytes);
  } while (got < 0 && errno == EINTR);
  return got;
}

// Whether the header of a file of that name and size was written.
bool AddHeader(archive* to, const std::string& name, int64_t size) {
  Entry entry(archive_entry_new(), archive_entry_free);
  if (entry == nullptr) return false;
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), size);
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0600);
  archive_entry_set_mtime(entry.get(), 0, 0);
  return archive_write_header(to, entry.get()) == ARCHIVE_OK;
}

// Opens the file that was listed; -1: it is another one now.
int OpenInput(const std::string& folder, const InputFile& input) {
  int fd = open((folder + "/" + input.path).c_str(),
                O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status = {};
  if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_dev == input.device && status.st_ino == input.inode &&
      status.st_size == input.size_bytes) {
    return fd;
  }
  if (fd >= 0) close(fd);
  return -1;
}

// Copies an open input to the archive; "" or what went wrong.
std::string AddInput(int fd, const InputFile& input, archive* to,
                     v1::ReproducerFile* file) {
  if (!AddHeader(to, std::string(kInputsFolder) + input.path,
                 input.size_bytes)) {
    return ArchiveError(to);
  }
  std::string piece(kPieceBytes, '\0');
  Sha256 hash;
  int64_t left = input.size_bytes;
  while (left > 0) {
    auto want =
        static_cast<size_t>(std::min(left, static_cast<int64_t>(piece.size())));
    ssize_t got = ReadSome(fd, piece.data(), want);
    if (got <= 0) return input.path + " was cut short";
    auto bytes = static_cast<size_t>(got);
    hash.Update(std::string_view(piece.data(), bytes));
    if (archive_write_data(to, piece.data(), bytes) < 0) {
      return ArchiveError(to);
    }
    left -= got;
  }
  file->set_path(input.path);
  file->set_digest(hash.Finish());
  file->set_size_bytes(input.size_bytes);
  return "";
}

std::string AddAbout(const v1::Reproducer& about, archive* to) {
  std::string json;
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  if (!google::protobuf::util::MessageToJsonString(about, &json, options)
           .ok()) {
    return "the description is no text";
  }
  if (!AddHeader(to, kAboutName, static_cast<int64_t>(json.size())) ||
      archive_write_data(to, json.data(), json.size()) < 0) {
    return ArchiveError(to);
  }
  return "";
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
  if (!name.starts_with(kInputsFolder)) return "does not belong in a bundle";
  std::string path = name.substr(kInputsFolder.size());
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
  } else if (name == kAboutName) {
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

std::vector<InputFile> ListInputs(const std::string& folder) {
  std::vector<InputFile> inputs;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end;
       !error && at != end; at.increment(error)) {
    struct stat status = {};
    if (stat(at->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
      continue;
    }
    inputs.push_back({at->path().lexically_relative(folder), status.st_dev,
                      status.st_ino, status.st_size});
  }
  std::sort(inputs.begin(), inputs.end(), [](const auto& one, const auto& two) {
    return one.path < two.path;
  });
  return inputs;
}

std::string WriteReproducer(const std::string& folder,
                            const std::vector<InputFile>& inputs,
                            int64_t limit_bytes, v1::Reproducer about,
                            const std::string& path) {
  Writer to(archive_write_new(), archive_write_free);
  if (to == nullptr ||
      archive_write_set_format_pax_restricted(to.get()) != ARCHIVE_OK ||
      // Names are bytes, whatever the locale.
      archive_write_set_options(to.get(), "hdrcharset=BINARY") != ARCHIVE_OK ||
      archive_write_open_filename(to.get(), path.c_str()) != ARCHIVE_OK) {
    return ArchiveError(to.get());
  }
  about.clear_files();
  about.clear_left_out();
  int64_t bytes = 0;
  for (const InputFile& input : inputs) {
    Descriptor fd(OpenInput(folder, input));
    if (fd.get() < 0 || input.size_bytes > limit_bytes - bytes ||
        !IsSafePath(input.path)) {
      about.add_left_out(input.path);
      continue;
    }
    bytes += input.size_bytes;
    std::string fault = AddInput(fd.get(), input, to.get(), about.add_files());
    if (!fault.empty()) return fault;
  }
  std::string fault = AddAbout(about, to.get());
  if (!fault.empty()) return fault;
  return archive_write_close(to.get()) == ARCHIVE_OK ? ""
                                                     : ArchiveError(to.get());
}

std::string UnpackReproducer(const std::string& path, const std::string& folder,
                             v1::Reproducer* about) {
  Reader from(archive_read_new(), archive_read_free);
  if (from == nullptr ||
      archive_read_support_format_tar(from.get()) != ARCHIVE_OK ||
      archive_read_open_filename(from.get(), path.c_str(), kPieceBytes) !=
          ARCHIVE_OK) {
    return path + ": " + ArchiveError(from.get());
  }
  Unpacked found;
  archive_entry* entry = nullptr;
  int next;
  while ((next = archive_read_next_header(from.get(), &entry)) == ARCHIVE_OK) {
    std::string fault = UnpackEntry(from.get(), entry, folder, &found);
    if (!fault.empty()) return path + ": " + fault;
  }
  if (next != ARCHIVE_EOF) return path + ": " + ArchiveError(from.get());
  if (found.json.empty()) return path + ": no reproducer bundle";
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  if (!google::protobuf::util::JsonStringToMessage(found.json, about, options)
           .ok()) {
    return path + ": its description cannot be read";
  }
  std::string fault = CheckFiles(*about, found);
  return fault.empty() ? "" : path + ": " + fault;
}

}  // namespace fold
