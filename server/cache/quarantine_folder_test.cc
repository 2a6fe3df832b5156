#include "server/cache/quarantine_folder.h"

#include <filesystem>
#include <fstream>

#include "compiler/api/sha256.h"
#include "gtest/gtest.h"
#include "server/cache/disk_layout.h"

namespace fold {
namespace {

namespace fs = std::filesystem;

class QuarantineFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "quarantine_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    fs::create_directory(folder_ + "/q");
  }
  void Take(QuarantineFolder& quarantine, const std::string& name, int size) {
    std::ofstream(folder_ + "/file") << std::string(size, 'x');
    quarantine.Take(folder_ + "/file", KeyOf(name), size);
    EXPECT_FALSE(fs::exists(folder_ + "/file"));
  }
  static Key KeyOf(const std::string& name) {
    return {Space::kBlob, Sha256Hex(name)};
  }
  int Files() {
    int count = 0;
    for (const auto& file : fs::directory_iterator(folder_ + "/q")) {
      count += file.is_regular_file();
    }
    return count;
  }
  std::string folder_;
};

TEST_F(QuarantineFolderTest, TheOldestGoes) {
  QuarantineFolder quarantine(folder_ + "/q", 3, 1000);
  for (const char* name : {"a", "b", "c", "d"}) Take(quarantine, name, 100);
  auto items = quarantine.Items();
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].name, FlatName(KeyOf("b")));
  EXPECT_EQ(quarantine.bytes(), 300);
  Take(quarantine, "e", 900);
  EXPECT_EQ(quarantine.Items().size(), 2u);
  EXPECT_EQ(Files(), 2);
}

TEST_F(QuarantineFolderTest, WhatIsTooLargeIsRemoved) {
  QuarantineFolder quarantine(folder_ + "/q", 3, 1000);
  Take(quarantine, "a", 1001);
  EXPECT_EQ(quarantine.bytes(), 0);
  EXPECT_EQ(Files(), 0);
}

TEST_F(QuarantineFolderTest, TheSameAgainCountsOnce) {
  QuarantineFolder quarantine(folder_ + "/q", 3, 1000);
  Take(quarantine, "a", 100);
  Take(quarantine, "a", 200);
  EXPECT_EQ(quarantine.bytes(), 200);
  EXPECT_EQ(quarantine.Items().size(), 1u);
}

TEST_F(QuarantineFolderTest, LoadsWhatWasLeftAndKeepsToItsBounds) {
  {
    QuarantineFolder quarantine(folder_ + "/q", 10, 10'000);
    for (int i = 0; i < 6; ++i) Take(quarantine, std::to_string(i), 100);
  }
  QuarantineFolder quarantine(folder_ + "/q", 4, 10'000);
  EXPECT_EQ(quarantine.bytes(), 400);
  EXPECT_EQ(Files(), 4);
  EXPECT_EQ(quarantine.Shrink(150), 200);
  EXPECT_EQ(quarantine.Shrink(1000), 200);
  EXPECT_EQ(Files(), 0);
}

}  // namespace
}  // namespace fold
