#include <filesystem>
#include <fstream>

#include "compiler/api/sha256.h"
#include "gtest/gtest.h"
#include "server/cache/disk_layout.h"
#include "server/cache/disk_store.h"

namespace fold {
namespace {

Bytes Text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}
Key BlobKey(const std::string& text) { return {Space::kBlob, Sha256Hex(text)}; }

class PinsTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "pins_XXXXXX";
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
  }
  std::unique_ptr<DiskStore> Open(int64_t limit) {
    auto store = DiskStore::Open({root_, limit, 0});
    EXPECT_TRUE(store.ok()) << store.status();
    return std::move(*store);
  }
  std::string Put(DiskStore& store, char c) {
    std::string text(1000, c);
    EXPECT_TRUE(store.Put(BlobKey(text), Text(text)).ok()) << c;
    return text;
  }
  std::string root_;
};

TEST_F(PinsTest, WhatIsPinnedStaysAlsoOverARestart) {
  Key action = {Space::kAction, Sha256Hex("k")};
  Key blob;
  {
    auto store = Open(4000);
    blob = BlobKey(Put(*store, 'a'));
    ASSERT_TRUE(store->Put(action, Text("result")).ok());
    ASSERT_TRUE(store->Pin(action, {action, blob}, "release\n1.0").ok());
    EXPECT_EQ(store->pinned_bytes(), 1006);
  }
  auto store = Open(4000);
  for (char c : {'b', 'c', 'd', 'e', 'f'}) Put(*store, c);
  EXPECT_TRUE(store->Touch(blob));
  EXPECT_TRUE(store->Touch(action));
  EXPECT_TRUE(absl::IsFailedPrecondition(store->Remove(blob)));
  auto pins = store->Pins();
  ASSERT_EQ(pins.size(), 1u);
  EXPECT_EQ(pins[0].name, action);
  EXPECT_EQ(pins[0].note, "release 1.0");
  ASSERT_TRUE(store->Unpin(action).ok());
  EXPECT_TRUE(absl::IsNotFound(store->Unpin(action)));
  EXPECT_EQ(store->pinned_bytes(), 0);
  EXPECT_TRUE(store->Remove(blob).ok());
  store.reset();
  EXPECT_TRUE(Open(4000)->Pins().empty());
}

TEST_F(PinsTest, ABlobOfTwoPinsGoesWithTheSecond) {
  auto store = Open(10'000);
  Key blob = BlobKey(Put(*store, 'a'));
  Key one = {Space::kAction, Sha256Hex("1")},
      two = {Space::kAction, Sha256Hex("2")};
  ASSERT_TRUE(store->Put(one, Text("1")).ok());
  ASSERT_TRUE(store->Put(two, Text("2")).ok());
  ASSERT_TRUE(store->Pin(one, {one, blob}, "").ok());
  ASSERT_TRUE(store->Pin(two, {two, blob}, "").ok());
  ASSERT_TRUE(store->Pin(two, {two, blob}, "again").ok());
  ASSERT_TRUE(store->Unpin(one).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(store->Remove(blob)));
  ASSERT_TRUE(store->Unpin(two).ok());
  EXPECT_TRUE(store->Remove(blob).ok());
}

TEST_F(PinsTest, WhatIsNotThereCannotBePinned) {
  auto store = Open(10'000);
  EXPECT_TRUE(absl::IsNotFound(store->Pin(BlobKey("no"), {BlobKey("no")}, "")));
  EXPECT_TRUE(store->Pins().empty());
}

TEST_F(PinsTest, PinsLeaveAQuarterToTheRest) {
  auto store = Open(4000);
  for (char c : {'a', 'b', 'c'}) {
    Key key = BlobKey(Put(*store, c));
    ASSERT_TRUE(store->Pin(key, {key}, "").ok());
  }
  Key key = BlobKey(Put(*store, 'd'));
  EXPECT_TRUE(absl::IsResourceExhausted(store->Pin(key, {key}, "")));
  EXPECT_EQ(store->pinned_bytes(), 3000);
  EXPECT_EQ(store->Pins().size(), 3u);
  Put(*store, 'e');  // 'd' makes room
  EXPECT_FALSE(store->Touch(key));
}

TEST_F(PinsTest, ASmallerLimitAtTheStartTakesNoPin) {
  Key pinned;
  {
    auto store = Open(4000);
    pinned = BlobKey(Put(*store, 'a'));
    ASSERT_TRUE(store->Pin(pinned, {pinned}, "").ok());
    Put(*store, 'b');
  }
  auto store = Open(1500);
  EXPECT_TRUE(store->Touch(pinned));
  EXPECT_EQ(store->used_bytes(), 1000);
}

TEST_F(PinsTest, DamagedMarksAreNotBelieved) {
  { Open(4000); }
  Key key = BlobKey("x");
  std::ofstream(root_ + "/pins/" + FlatName(key)) << "note\nnonsense\n../x\n";
  std::ofstream(root_ + "/pins/stray") << "note\n";
  auto store = Open(4000);
  ASSERT_EQ(store->Pins().size(), 1u);
  EXPECT_TRUE(store->Pins()[0].keys.empty());
}

}  // namespace
}  // namespace fold
