#include "runtime/format/shape.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace fold::format {
namespace {

Shape Of(std::initializer_list<int64_t> dims) {
  Shape shape;
  for (int64_t d : dims) shape.dims[shape.rank++] = d;
  return shape;
}

TEST(Shape, ComparesWithAndWithoutOnes) {
  EXPECT_TRUE(Of({2, 3}) == Of({2, 3}));
  EXPECT_FALSE(Of({2, 3}) == Of({2, 3, 1}));
  EXPECT_TRUE(SameIgnoringOnes(Of({2, 1, 3}), Of({1, 2, 3, 1})));
  EXPECT_FALSE(SameIgnoringOnes(Of({2, 3}), Of({3, 2})));
  EXPECT_TRUE(SameIgnoringOnes(Of({}), Of({1, 1})));
  EXPECT_EQ(Of({}).Elements(), 1);
  EXPECT_EQ(Of({4, 5, 6}).Elements(), 120);
}

TEST(Shape, Permutations) {
  const int32_t good[] = {2, 0, 1};
  const int32_t twice[] = {2, 0, 2};
  const int32_t outside[] = {0, 1, 3};
  const int32_t negative[] = {0, -1, 1};
  EXPECT_TRUE(IsPermutation(good, 3));
  EXPECT_FALSE(IsPermutation(twice, 3));
  EXPECT_FALSE(IsPermutation(outside, 3));
  EXPECT_FALSE(IsPermutation(negative, 3));
  EXPECT_TRUE(Permuted(Of({5, 6, 7}), good) == Of({7, 5, 6}));
  EXPECT_TRUE(Permuted(Of({5, 6, 7}), nullptr) == Of({5, 6, 7}));
}

TEST(Shape, Broadcast) {
  int64_t strides[kMaxDimensions];
  ASSERT_TRUE(BroadcastStrides(Of({3, 1, 4}), Of({2, 3, 5, 4}), strides));
  EXPECT_EQ(strides[0], 0);
  EXPECT_EQ(strides[1], 4);
  EXPECT_EQ(strides[2], 0);
  EXPECT_EQ(strides[3], 1);
  EXPECT_FALSE(BroadcastStrides(Of({2, 4}), Of({3, 4}), strides));
  EXPECT_FALSE(BroadcastStrides(Of({1, 4}), Of({4}), strides));
}

TEST(Shape, Matmul) {
  MatmulShape m;
  ASSERT_TRUE(
      ResolveMatmul(Of({5, 1, 2, 3}), Of({7, 3, 4}), Of({5, 7, 2, 4}), &m));
  EXPECT_EQ(m.rows, 2);
  EXPECT_EQ(m.depth, 3);
  EXPECT_EQ(m.columns, 4);
  EXPECT_EQ(m.a_batch[0], 6);
  EXPECT_EQ(m.a_batch[1], 0);
  EXPECT_EQ(m.b_batch[0], 0);
  EXPECT_EQ(m.b_batch[1], 12);
  EXPECT_TRUE(ResolveMatmul(Of({3}), Of({3, 4}), Of({4}), &m));
  EXPECT_TRUE(ResolveMatmul(Of({2, 3}), Of({3}), Of({2}), &m));
  EXPECT_TRUE(ResolveMatmul(Of({3}), Of({3}), Of({}), &m));
  EXPECT_FALSE(ResolveMatmul(Of({2, 3}), Of({4, 2}), Of({2, 2}), &m));
  EXPECT_FALSE(ResolveMatmul(Of({2, 3}), Of({3, 4}), Of({4, 2}), &m));
  EXPECT_FALSE(ResolveMatmul(Of({}), Of({3}), Of({}), &m));
  EXPECT_FALSE(ResolveMatmul(Of({2, 2, 3}), Of({3, 3, 4}), Of({2, 2, 4}), &m));
}

TEST(Shape, Images) {
  ImageShape image;
  ASSERT_TRUE(ResolveImage(Of({2, 3, 4, 5}), false, &image));
  EXPECT_EQ(image.height, 3);
  EXPECT_EQ(image.width, 4);
  EXPECT_EQ(image.channels, 5);
  ASSERT_TRUE(ResolveImage(Of({2, 3, 4, 5}), true, &image));
  EXPECT_EQ(image.channels, 3);
  EXPECT_EQ(image.height, 4);
  EXPECT_EQ(image.width, 5);
  ASSERT_TRUE(ResolveImage(Of({2, 3, 4}), false, &image));
  EXPECT_EQ(image.height, 1);
  EXPECT_EQ(image.width, 3);
  EXPECT_EQ(image.channels, 4);
  ASSERT_TRUE(ResolveImage(Of({2, 3, 4}), true, &image));
  EXPECT_EQ(image.height, 1);
  EXPECT_EQ(image.width, 4);
  EXPECT_EQ(image.channels, 3);
  EXPECT_FALSE(ResolveImage(Of({2, 3}), true, &image));
}

}  // namespace
}  // namespace fold::format
