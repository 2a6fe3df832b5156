#include "server/access/file_watch.h"

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace fold {
namespace {

using std::chrono::milliseconds;

void Write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

// Hands on what a watch saw last.
class Seen {
 public:
  void Set(const WatchedFiles& files) {
    std::lock_guard lock(mutex_);
    files_ = files;
    ++calls_;
    changed_.notify_all();
  }
  bool WaitFor(const std::string& bytes, size_t file) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, milliseconds(20'000), [&] {
      return files_.size() > file && files_[file].bytes == bytes;
    });
  }
  bool WaitForError(size_t file) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, milliseconds(20'000), [&] {
      return files_.size() > file && !files_[file].error.empty();
    });
  }
  int calls() {
    std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  WatchedFiles files_;
  int calls_ = 0;
};

TEST(FileWatch, SeesEachChangeOnce) {
  std::string a = testing::TempDir() + "file_watch_a";
  std::string b = testing::TempDir() + "file_watch_b";
  Write(a, "1");
  Write(b, "x");
  WatchedFiles start = ReadWatchedFiles({a, b});
  EXPECT_EQ(start[0].bytes, "1");
  Seen seen;
  FileWatch watch({a, b}, start, milliseconds(5),
                  [&](const auto& files) { seen.Set(files); });
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(seen.calls(), 0);
  // Same size, same time stamp.
  auto time = std::filesystem::last_write_time(a);
  Write(a + ".new", "2");
  std::filesystem::last_write_time(a + ".new", time);
  std::filesystem::rename(a + ".new", a);
  EXPECT_TRUE(seen.WaitFor("2", 0));
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(seen.calls(), 1);
  std::filesystem::remove(b);
  EXPECT_TRUE(seen.WaitForError(1));
  Write(b, "y");
  EXPECT_TRUE(seen.WaitFor("y", 1));
}

TEST(FileWatch, RefusesWhatIsTooLongAndReadsNoPathAsEmpty) {
  std::string path = testing::TempDir() + "file_watch_long";
  Write(path, std::string((1 << 20) + 1, 'x'));
  WatchedFiles files = ReadWatchedFiles({path, "", "/no/such/file"});
  EXPECT_NE(files[0].error, "");
  EXPECT_EQ(files[0].bytes, "");
  EXPECT_EQ(files[1], WatchedFile());
  EXPECT_NE(files[2].error, "");
}

}  // namespace
}  // namespace fold
