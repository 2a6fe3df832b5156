#include "server/cache/verifying_store.h"

#include "compiler/api/sha256.h"
#include "gtest/gtest.h"
#include "server/cache/memory_store.h"

namespace fold {
namespace {

Bytes Text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

TEST(VerifyingStore, RefusesABlobThatIsNotItsKeys) {
  MemoryStore memory(1 << 20);
  VerifyingStore store(&memory);
  Key key = {Space::kBlob, Sha256Hex("right")};
  EXPECT_TRUE(absl::IsInvalidArgument(store.Put(key, Text("wrong"))));
  EXPECT_FALSE(store.Touch(key));
}

TEST(VerifyingStore, FindsWhatChangedBehindIt) {
  MemoryStore memory(1 << 20);
  VerifyingStore store(&memory);
  Key blob = {Space::kBlob, Sha256Hex("right")};
  ASSERT_TRUE(memory.Put(blob, Text("wrong")).ok());
  EXPECT_TRUE(absl::IsDataLoss(store.Get(blob).status()));
  EXPECT_TRUE(absl::IsNotFound(store.Get(blob).status()));

  Key action = {Space::kAction, Sha256Hex("a")};
  for (const std::string& bad : {std::string(""), std::string("short"),
                                 std::string(64, '0') + "bytes"}) {
    ASSERT_TRUE(memory.Put(action, Text(bad)).ok());
    EXPECT_TRUE(absl::IsDataLoss(store.Get(action).status())) << bad;
    EXPECT_FALSE(memory.Touch(action));
  }
}

}  // namespace
}  // namespace fold
