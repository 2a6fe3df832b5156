#include "server/cache/memory_store.h"

#include "gtest/gtest.h"

namespace fold {
namespace {

Key K(char c) { return {Space::kBlob, std::string(64, c)}; }
Bytes B(size_t size) { return std::make_shared<const std::string>(size, 'x'); }

TEST(MemoryStore, ForgetsTheLeastRecentlyUsed) {
  MemoryStore store(1000);
  for (char c : {'a', 'b', 'c', 'd', 'e', 'f', '0', '1'}) {
    ASSERT_TRUE(store.Put(K(c), B(125)).ok());
  }
  EXPECT_EQ(store.used_bytes(), 1000);
  EXPECT_TRUE(store.Get(K('a')).ok());
  EXPECT_TRUE(store.Touch(K('b')));
  ASSERT_TRUE(store.Put(K('9'), B(125)).ok());
  EXPECT_TRUE(store.Touch(K('a')));
  EXPECT_TRUE(store.Touch(K('b')));
  EXPECT_FALSE(store.Touch(K('c')));
  EXPECT_EQ(store.used_bytes(), 1000);
}

TEST(MemoryStore, OneEntryCannotPushOutTheRest) {
  MemoryStore store(1000);
  ASSERT_TRUE(store.Put(K('a'), B(100)).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(store.Put(K('b'), B(126))));
  EXPECT_TRUE(store.Touch(K('a')));
}

TEST(MemoryStore, ReplacingCountsOnce) {
  MemoryStore store(1000);
  ASSERT_TRUE(store.Put(K('a'), B(100)).ok());
  ASSERT_TRUE(store.Put(K('a'), B(50)).ok());
  EXPECT_EQ(store.used_bytes(), 50);
  // A refused replacement leaves nothing stale behind.
  EXPECT_FALSE(store.Put(K('a'), B(500)).ok());
  EXPECT_FALSE(store.Touch(K('a')));
  EXPECT_EQ(store.used_bytes(), 0);
}

}  // namespace
}  // namespace fold
