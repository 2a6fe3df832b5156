#include "server/cache/tiered_store.h"

#include "gtest/gtest.h"
#include "server/cache/memory_store.h"
#include "server/cache/observed_store.h"

namespace fold {
namespace {

Key K(char c) { return {Space::kAction, std::string(64, c)}; }
Bytes B(size_t size) { return std::make_shared<const std::string>(size, 'x'); }

TEST(TieredStore, ReadsFillTheFront) {
  MemoryStore front(1000), back(100'000);
  TieredStore store(&front, &back);
  ASSERT_TRUE(back.Put(K('a'), B(10)).ok());
  EXPECT_FALSE(front.Touch(K('a')));
  EXPECT_TRUE(store.Get(K('a')).ok());
  EXPECT_TRUE(front.Touch(K('a')));
}

TEST(TieredStore, WhatTheBackRefusesIsNotInFront) {
  MemoryStore front(100'000), back(1000);
  TieredStore store(&front, &back);
  EXPECT_FALSE(store.Put(K('a'), B(500)).ok());
  EXPECT_FALSE(front.Touch(K('a')));
}

TEST(TieredStore, WhatIsTooLargeForTheFrontIsServedFromTheBack) {
  MemoryStore front(1000), back(100'000);
  TieredStore store(&front, &back);
  ASSERT_TRUE(store.Put(K('a'), B(5000)).ok());
  EXPECT_EQ((*store.Get(K('a')))->size(), 5000u);
}

TEST(TieredStore, TheBackIsTheTruth) {
  MemoryStore front(1000), back(100'000);
  TieredStore store(&front, &back);
  ASSERT_TRUE(store.Put(K('a'), B(10)).ok());
  back.Quarantine(K('a'));
  EXPECT_FALSE(store.Touch(K('a')));
}

TEST(FrontStore, NeverLooksBehindButKeepsTheBackFresh) {
  MemoryStore front(1000), back(300);
  FrontStore store(&front, &back);
  ASSERT_TRUE(back.Put(K('a'), B(30)).ok());
  EXPECT_TRUE(absl::IsNotFound(store.Get(K('a')).status()));
  for (char c : {'b', 'c', 'd', 'e', 'f', '0', '1', '2', '3'}) {
    ASSERT_TRUE(back.Put(K(c), B(30)).ok());
  }
  ASSERT_TRUE(front.Put(K('a'), B(30)).ok());
  EXPECT_TRUE(store.Get(K('a')).ok());
  ASSERT_TRUE(back.Put(K('4'), B(30)).ok());
  EXPECT_TRUE(back.Touch(K('a')));
  EXPECT_FALSE(back.Touch(K('b')));
}

TEST(ObservedStore, TellsHowAGetEnded) {
  MemoryStore memory(1000);
  std::string seen;
  ObservedStore store("memory", &memory,
                      [&](const std::string& tier, const std::string& result) {
                        seen += tier + "=" + result + " ";
                      });
  (void)store.Get(K('a'));
  ASSERT_TRUE(store.Put(K('a'), B(1)).ok());
  (void)store.Get(K('a'));
  EXPECT_EQ(seen, "memory=miss memory=hit ");
}

}  // namespace
}  // namespace fold
