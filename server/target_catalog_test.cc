#include "server/target_catalog.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::HasSubstr;
namespace v1 = foldd::v1;

class TargetCatalogTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "catalog_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void Write(const std::string& name, const v1::TargetDescriptor& target) {
    std::string text;
    google::protobuf::TextFormat::PrintToString(target, &text);
    std::ofstream(folder_ + "/" + name) << text;
  }
  std::string folder_;
};

TEST_F(TargetCatalogTest, HasTheBuiltinsAndTheFolder) {
  auto builtin = TargetCatalog::Load("");
  ASSERT_TRUE(builtin.ok()) << builtin.status();
  const v1::TargetDescriptor* x86 = builtin->Find("x86-64");
  ASSERT_NE(x86, nullptr);
  v1::TargetDescriptor mine = *x86;
  mine.set_name("mine");
  Write("mine.textproto", mine);
  Write("ignored.txt", mine);
  auto catalog = TargetCatalog::Load(folder_);
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  EXPECT_NE(catalog->Find("mine"), nullptr);
  EXPECT_NE(catalog->Find("x86-64"), nullptr);
  EXPECT_EQ(catalog->Find("other"), nullptr);
  EXPECT_EQ(catalog->all().size(), builtin->all().size() + 1);
  EXPECT_THAT(catalog->Unknown("mein"), HasSubstr("did you mean 'mine'"));
}

TEST_F(TargetCatalogTest, ListsTheFaultsOfAllFiles) {
  v1::TargetDescriptor empty;
  Write("a.textproto", empty);
  std::ofstream(folder_ + "/b.textproto") << "nmae: 1";
  auto catalog = TargetCatalog::Load(folder_);
  EXPECT_TRUE(absl::IsInvalidArgument(catalog.status()));
  EXPECT_THAT(catalog.status().ToString(), HasSubstr("a: architecture"));
  EXPECT_THAT(catalog.status().ToString(), HasSubstr("is not the file's"));
  EXPECT_THAT(catalog.status().ToString(), HasSubstr("nmae"));
  EXPECT_TRUE(
      absl::IsNotFound(TargetCatalog::Load(folder_ + "/none").status()));
}

}  // namespace
}  // namespace fold
