#include "compiler/api/report_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "google/protobuf/util/json_util.h"

namespace fold {
namespace {

std::string SystemError(std::string_view what, const std::string& path) {
  int error = errno;
  return std::string(what) + " '" + path + "': " + std::strerror(error);
}

// Writes all bytes; false with errno set if that fails.
bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return true;
}

std::string WriteInPlace(const std::string& path, std::string_view bytes) {
  int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return SystemError("cannot open", path);
  bool done = WriteAll(fd, bytes);
  std::string error = done ? "" : SystemError("cannot write", path);
  close(fd);
  return error;
}

}  // namespace

std::string ReportJson(const foldd::v1::CompileReport& report) {
  foldd::v1::CompileReport whole = report;
  whole.mutable_artifact();
  whole.mutable_run();
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  // Fails only for strings that are not UTF-8, which a parsed message and the
  // compiler's own do not have.
  if (!google::protobuf::util::MessageToJsonString(whole, &json, options)
           .ok()) {
    return "{}\n";
  }
  return json.ends_with('\n') ? json : json + "\n";
}

std::string WriteReportFile(const std::string& path,
                            const foldd::v1::CompileReport& report) {
  return WriteFileAtomically(path, path.ends_with(".binpb")
                                       ? report.SerializeAsString()
                                       : ReportJson(report));
}

std::string ReadReportFile(const std::string& path,
                           foldd::v1::CompileReport* report) {
  constexpr size_t kMostReportBytes = size_t{1} << 30;
  std::string bytes;
  std::string fault = ReadWholeFile(path, kMostReportBytes, &bytes);
  if (!fault.empty()) return fault;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const bool good =
      path.ends_with(".binpb")
          ? report->ParseFromString(bytes)
          : google::protobuf::util::JsonStringToMessage(bytes, report, options)
                .ok();
  return good ? "" : "'" + path + "' is not a report";
}

std::string WriteFileAtomically(const std::string& path,
                                std::string_view bytes) {
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return S_ISDIR(status.st_mode) ? "cannot write '" + path + "': a folder"
                                   : WriteInPlace(path, bytes);
  }
  std::string aside = path + ".XXXXXX";
  int fd = mkostemp(aside.data(), O_CLOEXEC);
  if (fd < 0) return SystemError("cannot create a file beside", path);
  mode_t mask = umask(0);
  umask(mask);
  // As it was created already in a job, which may not change modes.
  const mode_t mode = 0666 & ~mask;
  bool done = WriteAll(fd, bytes) && (mode == 0600 || fchmod(fd, mode) == 0) &&
              fsync(fd) == 0;
  std::string error = done ? "" : SystemError("cannot write", path);
  close(fd);
  if (error.empty() && rename(aside.c_str(), path.c_str()) != 0) {
    error = SystemError("cannot rename to", path);
  }
  if (!error.empty()) unlink(aside.c_str());
  return error;
}

bool IsDiskFull(std::string_view fault) {
  return fault.find(std::strerror(ENOSPC)) != fault.npos ||
         fault.find(std::strerror(EDQUOT)) != fault.npos;
}

std::string ReadWholeFile(const std::string& path, size_t limit,
                          std::string* bytes) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError("cannot open", path);
  std::string error;
  bytes->clear();
  struct stat status;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
      static_cast<size_t>(status.st_size) <= limit) {
    bytes->reserve(static_cast<size_t>(status.st_size));
  }
  char buffer[1 << 16];
  while (error.empty()) {
    ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = SystemError("cannot read", path);
    if (got <= 0) break;
    bytes->append(buffer, static_cast<size_t>(got));
    if (bytes->size() > limit) {
      error =
          "'" + path + "' is larger than " + std::to_string(limit) + " bytes";
    }
  }
  close(fd);
  return error;
}

}  // namespace fold
