#include "runtime/kernels/move/move.h"

#include <algorithm>

#include "runtime/kernels/test_guarded.h"

namespace fold::kernels {
namespace {

// A box [4][3][5] read with the strides of a transposed or reversed array.
TEST(Move, AllElementSizes) {
  std::mt19937_64 random(1);
  const int64_t reads[][3] = {{15, 5, 1}, {1, 4, 12}, {-15, 5, -1}, {0, 0, 1}};
  for (int64_t bytes : {1, 2, 4, 8}) {
    for (const auto& read : reads) {
      Guarded<uint64_t> x(60 * bytes / 4);
      FillAny(&x, &random);
      Guarded<uint64_t> want(120 * bytes / 8, 7);
      Guarded<uint64_t> got(120 * bytes / 8, 7);
      MoveBox op;
      op.box.rank = 3;
      const int64_t dims[] = {4, 3, 5};
      const int64_t write[] = {30, 10, 1};
      std::copy(dims, dims + 3, op.box.dims);
      std::copy(read, read + 3, op.box.a_strides);
      std::copy(write, write + 3, op.box.b_strides);
      op.element_bytes = bytes;
      op.x = reinterpret_cast<const uint8_t*>(x.data()) + 60 * bytes;
      op.out = want.data();
      MoveReference(op);
      op.out = got.data();
      Move(op);
      ASSERT_EQ(got.Copy(), want.Copy());
      ASSERT_TRUE(got.Intact());
    }
  }
}

TEST(Move, ReferenceTransposes) {
  const uint16_t x[] = {1, 2, 3, 4, 5, 6};
  uint16_t out[6];
  MoveBox op;
  op.box.rank = 2;
  op.box.dims[0] = 3;
  op.box.dims[1] = 2;
  op.box.a_strides[0] = 1;
  op.box.a_strides[1] = 3;
  op.box.b_strides[0] = 2;
  op.box.b_strides[1] = 1;
  op.element_bytes = 2;
  op.x = x;
  op.out = out;
  MoveReference(op);
  const uint16_t want[] = {1, 4, 2, 5, 3, 6};
  EXPECT_TRUE(std::equal(out, out + 6, want));
}

TEST(Move, Fill) {
  for (int64_t bytes : {1, 2, 4, 8}) {
    Guarded<uint8_t> out(7 * bytes, 0);
    Fill(bytes, 0x8877665544332211u, 7, out.data());
    for (int64_t i = 0; i < 7 * bytes; ++i) {
      EXPECT_EQ(out.data()[i], 0x11 * (1 + i % bytes));
    }
    EXPECT_TRUE(out.Intact());
  }
}

}  // namespace
}  // namespace fold::kernels
