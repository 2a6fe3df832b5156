#include "compiler/sandbox/limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "compiler/sandbox/sanitized.h"

namespace fold {
namespace {

struct Row {
  decltype(RLIMIT_AS) resource;
  const char* name;
  int64_t soft;
  int64_t hard;
};

std::string Set(const Row& row) {
  rlimit now = {};
  if (getrlimit(row.resource, &now) != 0) {
    return std::string(row.name) + ": " + std::strerror(errno);
  }
  rlimit limit = {std::min(static_cast<rlim_t>(row.soft), now.rlim_max),
                  std::min(static_cast<rlim_t>(row.hard), now.rlim_max)};
  if (setrlimit(row.resource, &limit) != 0) {
    return std::string(row.name) + ": " + std::strerror(errno);
  }
  return "";
}

}  // namespace

std::string SetLimits(const ResourceLimits& limits) {
  const Row asked[] = {
      {RLIMIT_AS, "memory", kSanitized ? 0 : limits.memory_bytes,
       limits.memory_bytes},
      {RLIMIT_CPU, "cpu", limits.cpu_seconds, limits.cpu_seconds + 1},
      {RLIMIT_FSIZE, "file", limits.file_bytes, limits.file_bytes},
      {RLIMIT_NOFILE, "open files", limits.open_files, limits.open_files},
  };
  for (const Row& row : asked) {
    if (row.soft <= 0) continue;
    std::string error = Set(row);
    if (!error.empty()) return error;
  }
  static constexpr Row kNothing[] = {
      {RLIMIT_NPROC, "processes", 0, 0},
      {RLIMIT_CORE, "core file", 0, 0},
      {RLIMIT_MEMLOCK, "locked memory", 0, 0},
      {RLIMIT_MSGQUEUE, "message queues", 0, 0},
  };
  for (const Row& row : kNothing) {
    std::string error = Set(row);
    if (!error.empty()) return error;
  }
  return "";
}

}  // namespace fold
