#include "server/cache/mark_folder.h"

#include <filesystem>
#include <fstream>

#include "compiler/api/sha256.h"
#include "gtest/gtest.h"
#include "server/cache/disk_layout.h"

namespace fold {
namespace {

TEST(MarkFolder, RemembersOverARestart) {
  std::string folder = testing::TempDir() + "marks_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::string name = FlatName({Space::kBlob, Sha256Hex("x"), "team"});
  std::string other = FlatName({Space::kAction, Sha256Hex("x")});
  {
    MarkFolder marks(folder);
    EXPECT_FALSE(marks.Find(name).has_value());
    ASSERT_TRUE(marks.Put(name, "first").ok());
    ASSERT_TRUE(marks.Put(name, "second").ok());
    ASSERT_TRUE(marks.Put(other, "").ok());
    EXPECT_EQ(marks.Find(name), "second");
  }
  std::ofstream(folder + "/" + name + ".new") << "half";
  {
    MarkFolder marks(folder);
    EXPECT_EQ(marks.All().size(), 2u);
    EXPECT_EQ(marks.Find(name), "second");
    ASSERT_TRUE(marks.Erase(name).ok());
    EXPECT_TRUE(absl::IsNotFound(marks.Erase(name)));
  }
  MarkFolder marks(folder);
  EXPECT_FALSE(marks.Find(name).has_value());
  EXPECT_TRUE(marks.Find(other).has_value());
}

TEST(MarkFolder, RefusesOtherNames) {
  std::string folder = testing::TempDir() + "marks_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  MarkFolder marks(folder);
  for (const char* bad : {"", "x", "../x", "_~blobs~x"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(marks.Put(bad, "text"))) << bad;
  }
  std::string name = FlatName({Space::kBlob, Sha256Hex("x")});
  EXPECT_TRUE(absl::IsInvalidArgument(
      marks.Put(name, std::string((1 << 20) + 1, 'x'))));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

}  // namespace
}  // namespace fold
