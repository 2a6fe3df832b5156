#include "server/process_stats.h"

#include <fcntl.h>
#include <unistd.h>

#include <ctime>
#include <vector>

#include "gtest/gtest.h"

namespace fold {
namespace {

TEST(ProcessStats, SaysWhatIsSo) {
  ProcessStats stats = ReadProcessStats();
  EXPECT_GT(stats.resident_bytes, 1 << 20);
  EXPECT_GT(stats.virtual_bytes, stats.resident_bytes);
  EXPECT_GE(stats.threads, 1);
  EXPECT_GE(stats.max_fds, stats.open_fds);
  auto now = static_cast<double>(time(nullptr));
  EXPECT_LE(stats.start_seconds, now + 2);
  EXPECT_GT(stats.start_seconds, now - 600);
}

TEST(ProcessStats, CountsDescriptors) {
  int64_t before = ReadProcessStats().open_fds;
  int fd = open("/dev/null", O_RDONLY);
  EXPECT_EQ(ReadProcessStats().open_fds, before + 1);
  close(fd);
  EXPECT_EQ(ReadProcessStats().open_fds, before);
}

TEST(ProcessStats, CountsProcessorTimeAndMemory) {
  ProcessStats before = ReadProcessStats();
  std::vector<char> held(size_t{32} << 20, 'x');
  volatile int64_t turns = 0;
  while (ReadProcessStats().cpu_seconds < before.cpu_seconds + 0.02) {
    turns = turns + held[static_cast<size_t>(turns) % held.size()];
  }
  EXPECT_GE(ReadProcessStats().resident_bytes,
            before.resident_bytes + (24 << 20));
}

}  // namespace
}  // namespace fold
