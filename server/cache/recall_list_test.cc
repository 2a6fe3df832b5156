#include "server/cache/recall_list.h"

#include "compiler/api/sha256.h"
#include "gtest/gtest.h"
#include "server/cache/memory_store.h"
#include "server/cache/recalling_store.h"

namespace fold {
namespace {

class RecallListTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "recalls_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  std::string folder_;
  const Key key_ = {Space::kBlob, Sha256Hex("bad")};
};

TEST_F(RecallListTest, SurvivesARestartAndCanBeUndone) {
  {
    RecallList list(folder_);
    ASSERT_TRUE(list.Add(key_, "wrong scale").ok());
  }
  RecallList list(folder_);
  EXPECT_EQ(list.Find(key_), "wrong scale");
  EXPECT_EQ(list.All().size(), 1u);
  EXPECT_EQ(list.All()[0].first, key_);
  Key elsewhere = key_;
  elsewhere.instance = "team";
  EXPECT_FALSE(list.Find(elsewhere).has_value());
  ASSERT_TRUE(list.Remove(key_).ok());
  EXPECT_TRUE(absl::IsNotFound(list.Remove(key_)));
  EXPECT_FALSE(list.Find(key_).has_value());
}

TEST_F(RecallListTest, WhatIsRecalledIsOutOfReachUntilItIsUndone) {
  RecallList list(folder_);
  MemoryStore memory(1 << 20);
  RecallingStore store(&memory, &list);
  auto bytes = std::make_shared<const std::string>("bad");
  ASSERT_TRUE(store.Put(key_, bytes).ok());
  ASSERT_TRUE(list.Add(key_, "").ok());
  EXPECT_TRUE(absl::IsNotFound(store.Get(key_).status()));
  EXPECT_FALSE(store.Touch(key_));
  EXPECT_FALSE(store.Hold(key_).has_value());
  EXPECT_TRUE(absl::IsFailedPrecondition(store.Put(key_, bytes)));
  ASSERT_TRUE(list.Remove(key_).ok());
  EXPECT_TRUE(store.Get(key_).ok());
  EXPECT_TRUE(store.Hold(key_).has_value());
}

}  // namespace
}  // namespace fold
