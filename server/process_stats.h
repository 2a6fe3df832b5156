// What the kernel says of this process (/proc/self).
#ifndef FOLD_SERVER_PROCESS_STATS_H_
#define FOLD_SERVER_PROCESS_STATS_H_

#include <cstdint>

namespace fold {

struct ProcessStats {
  double cpu_seconds = 0;  // user and system
  int64_t resident_bytes = 0;
  int64_t virtual_bytes = 0;
  int64_t threads = 0;
  int64_t open_fds = 0;
  int64_t max_fds = 0;
  double start_seconds = 0;  // since the epoch
};

// Zeros where the kernel does not say.
ProcessStats ReadProcessStats();

}  // namespace fold

#endif  // FOLD_SERVER_PROCESS_STATS_H_
