#include "server/cache/protection.h"

#include <optional>

#include "gtest/gtest.h"

namespace fold {
namespace {

const Key kKey = {Space::kBlob, std::string(64, 'a')};

TEST(Protection, LeasesAddUpAndEndWithTheirLives) {
  auto table = Protection::Make();
  std::optional<Lease> first = table->Hold(kKey);
  std::optional<Lease> second = table->Hold(kKey);
  EXPECT_EQ(table->held(), 2);
  first.reset();
  EXPECT_TRUE(table->Protects(kKey));
  EXPECT_TRUE(table->IsHeld(kKey));
  Lease moved = std::move(*second);
  second.reset();
  EXPECT_TRUE(table->IsHeld(kKey));
  { Lease last = std::move(moved); }
  EXPECT_FALSE(table->Protects(kKey));
  EXPECT_EQ(table->held(), 0);
}

TEST(Protection, ALeaseMayOutliveItsTable) {
  auto table = Protection::Make();
  Lease lease = table->Hold(kKey);
  table.reset();
}

TEST(Protection, TimeLeasesAreNeverShortened) {
  int64_t now = 0;
  auto table = Protection::Make([&] { return now; });
  table->LeaseFor(kKey, 10);
  table->LeaseFor(kKey, 5);
  now = 9;
  EXPECT_TRUE(table->Protects(kKey));
  EXPECT_FALSE(table->IsHeld(kKey));
  now = 10;
  EXPECT_FALSE(table->Protects(kKey));
  table->LeaseFor(kKey, 10);
  table->EndTimeLease(kKey);
  EXPECT_FALSE(table->Protects(kKey));
}

TEST(Protection, PinsAddUp) {
  auto table = Protection::Make();
  table->Pin(kKey);
  table->Pin(kKey);
  table->Unpin(kKey);
  EXPECT_TRUE(table->IsPinned(kKey));
  EXPECT_TRUE(table->Protects(kKey));
  table->Unpin(kKey);
  table->Unpin(kKey);
  EXPECT_FALSE(table->Protects(kKey));
  table->Pin(kKey);
  EXPECT_TRUE(table->IsPinned(kKey));
}

TEST(Protection, WhatIsProtectedInOneInstanceIsNotInAnother) {
  auto table = Protection::Make();
  Lease lease = table->Hold(kKey);
  Key other = kKey;
  other.instance = "other";
  EXPECT_FALSE(table->Protects(other));
}

}  // namespace
}  // namespace fold
