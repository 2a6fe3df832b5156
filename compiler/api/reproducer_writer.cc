#include "compiler/api/reproducer_writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include "compiler/api/reproducer.h"
#include "compiler/api/sha256.h"
#include "google/protobuf/util/json_util.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
namespace v1 = foldd::v1;

constexpr size_t kPieceBytes = size_t{1} << 20;

using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;
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
  if (!AddHeader(to, std::string(kReproducerInputs) + input.path,
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
  if (!AddHeader(to, kReproducerAbout, static_cast<int64_t>(json.size())) ||
      archive_write_data(to, json.data(), json.size()) < 0) {
    return ArchiveError(to);
  }
  return "";
}

}  // namespace

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
    int fd = input.size_bytes <= limit_bytes - bytes && IsSafePath(input.path)
                 ? OpenInput(folder, input)
                 : -1;
    if (fd < 0) {
      about.add_left_out(input.path);
      continue;
    }
    bytes += input.size_bytes;
    std::string fault = AddInput(fd, input, to.get(), about.add_files());
    close(fd);
    if (!fault.empty()) return fault;
  }
  std::string fault = AddAbout(about, to.get());
  if (!fault.empty()) return fault;
  return archive_write_close(to.get()) == ARCHIVE_OK ? ""
                                                     : ArchiveError(to.get());
}

}  // namespace fold
