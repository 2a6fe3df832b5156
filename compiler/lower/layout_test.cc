#include "compiler/lower/layout.h"

#include <gtest/gtest.h>

namespace fold {
namespace {

TEST(Layout, ChannelsLast) {
  EXPECT_EQ(ChannelsLast(4), (Perm{0, 2, 3, 1}));
  EXPECT_EQ(ChannelsLast(3), (Perm{0, 2, 1}));
  EXPECT_EQ(ChannelsLast(2), (Perm{0, 1}));
  EXPECT_EQ(ChannelsLast(0), Perm{});
  EXPECT_EQ(IdentityPerm(3), (Perm{0, 1, 2}));
  EXPECT_EQ(Permuted({1, 3, 5, 7}, ChannelsLast(4)), (Shape{1, 5, 7, 3}));
}

TEST(Layout, SamePlacesButForDimensionsOfOne) {
  const Perm last = ChannelsLast(4), identity = IdentityPerm(4);
  EXPECT_FALSE(SamePlaces(last, identity, {1, 3, 5, 7}));
  EXPECT_TRUE(SamePlaces(last, identity, {1, 3, 1, 1}));
  EXPECT_TRUE(SamePlaces(last, identity, {1, 1, 5, 7}));
  EXPECT_TRUE(SamePlaces(last, last, {2, 3, 5, 7}));
  EXPECT_FALSE(SamePlaces({1, 0}, {0, 1}, {2, 2}));
}

// Going there and back is going nowhere.
TEST(Layout, Between) {
  const Perm from = {2, 0, 1}, to = {1, 2, 0};
  const Perm there = Between(from, to), back = Between(to, from);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(from[there[i]], to[i]);
    EXPECT_EQ(there[back[i]], i);
  }
  EXPECT_EQ(Between(IdentityPerm(3), to), to);
  EXPECT_EQ(PlaceOf(from, 0), 1);
  EXPECT_EQ(PlaceOf(from, 2), 0);
}

}  // namespace
}  // namespace fold
