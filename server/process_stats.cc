#include "server/process_stats.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace fold {
namespace {

namespace fs = std::filesystem;

// Fields of /proc/PID/stat behind the program's name, which may have blanks.
std::vector<std::string> StatFields() {
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)),
                   std::istreambuf_iterator<char>());
  size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream rest(text.substr(name_end + 1));
  return {std::istream_iterator<std::string>(rest),
          std::istream_iterator<std::string>()};
}

// proc(5) counts fields from 1; the state behind the name is the third.
int64_t Field(const std::vector<std::string>& fields, size_t number) {
  constexpr size_t kFirst = 3;
  size_t at = number - kFirst;
  return at < fields.size() ? std::atoll(fields[at].c_str()) : 0;
}

// When the machine started, seconds since the epoch.
double BootSeconds() {
  timespec now{};
  timespec up{};
  clock_gettime(CLOCK_REALTIME, &now);
  clock_gettime(CLOCK_BOOTTIME, &up);
  return static_cast<double>(now.tv_sec - up.tv_sec) +
         static_cast<double>(now.tv_nsec - up.tv_nsec) * 1e-9;
}

int64_t CountOpenFds() {
  std::error_code error;
  int64_t count = 0;
  for (fs::directory_iterator it("/proc/self/fd", error), end;
       !error && it != end; it.increment(error)) {
    ++count;
  }
  return count > 0 ? count - 1 : 0;  // one is the folder's own
}

}  // namespace

ProcessStats ReadProcessStats() {
  constexpr size_t kUserTime = 14, kSystemTime = 15, kThreads = 20,
                   kStartTime = 22, kVirtual = 23, kResident = 24;
  ProcessStats stats;
  auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  std::vector<std::string> fields = StatFields();
  if (fields.empty()) return stats;
  stats.cpu_seconds = static_cast<double>(Field(fields, kUserTime) +
                                          Field(fields, kSystemTime)) /
                      ticks;
  stats.threads = Field(fields, kThreads);
  stats.virtual_bytes = Field(fields, kVirtual);
  stats.resident_bytes = Field(fields, kResident) * sysconf(_SC_PAGESIZE);
  // Read once: the machine's clock may be set later.
  static const double start =
      BootSeconds() + static_cast<double>(Field(fields, kStartTime)) / ticks;
  stats.start_seconds = start;
  stats.open_fds = CountOpenFds();
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    stats.max_fds = static_cast<int64_t>(limit.rlim_cur);
  }
  return stats;
}

}  // namespace fold
