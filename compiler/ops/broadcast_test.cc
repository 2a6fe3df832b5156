#include "compiler/ops/broadcast.h"

#include <gtest/gtest.h>

namespace fold {
namespace {

TEST(Broadcast, Shapes) {
  EXPECT_EQ(BroadcastShape({2, 3}, {2, 3}), (Shape{2, 3}));
  EXPECT_EQ(BroadcastShape({2, 1, 3}, {4, 1}), (Shape{2, 4, 3}));
  EXPECT_EQ(BroadcastShape({}, {5}), (Shape{5}));
  EXPECT_EQ(BroadcastShape({}, {}), Shape{});
  EXPECT_EQ(BroadcastShape({1}, {0}), (Shape{0}));
}

TEST(Broadcast, ShapesThatDoNotFit) {
  EXPECT_EQ(BroadcastShape({2}, {3}), std::nullopt);
  EXPECT_EQ(BroadcastShape({2, 1}, {3, 1}), std::nullopt);
  EXPECT_EQ(BroadcastShape({0}, {2}), std::nullopt);
}

// Every index of the result against the one worked out per dimension.
TEST(Broadcast, Indices) {
  const Shape out = {2, 3, 4};
  for (const Shape& shape : {Shape{2, 3, 4}, Shape{1, 3, 1}, Shape{4},
                             Shape{3, 1}, Shape{2, 1, 4}, Shape{}}) {
    for (int64_t i = 0; i < 24; ++i) {
      const int64_t at[] = {i / 12, i / 4 % 3, i % 4};
      int64_t expected = 0;
      for (size_t d = 0; d < shape.size(); ++d) {
        const int64_t index = at[3 - shape.size() + d];
        expected = expected * shape[d] + (shape[d] == 1 ? 0 : index);
      }
      EXPECT_EQ(BroadcastIndex(i, out, shape), expected);
    }
  }
}

}  // namespace
}  // namespace fold
