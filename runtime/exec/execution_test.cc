#include "runtime/exec/execution.h"

#include <gtest/gtest.h>

#include <atomic>

#include "runtime/exec/test_run.h"

namespace fold::exec {
namespace {

format::Shape Of(std::initializer_list<int64_t> dims) {
  format::Shape shape;
  for (int64_t d : dims) shape.dims[shape.rank++] = d;
  return shape;
}

TEST(Execution, StridedJoinsWhatStepsAsOne) {
  const int64_t a[] = {60, 20, 5, 1};
  const int64_t b[] = {0, 0, 0, 0};
  StridedShape s = Strided(Of({2, 3, 4, 5}), a, b);
  EXPECT_EQ(s.rank, 1);
  EXPECT_EQ(s.dims[0], 120);
  EXPECT_EQ(s.a_strides[0], 1);
  const int64_t channel[] = {0, 1, 0, 0};
  s = Strided(Of({2, 3, 4, 5}), a, channel);
  EXPECT_EQ(s.rank, 3);
  EXPECT_EQ(s.dims[2], 20);
  s = Strided(Of({1, 1}), a, b);
  EXPECT_EQ(s.rank, 1);
  EXPECT_EQ(s.Elements(), 1);
  s = Strided(Of({2, 1, 3}), nullptr, nullptr);
  EXPECT_EQ(s.Elements(), 6);
}

// Every unit is done once, whatever the number of workers and the grain.
TEST(Execution, ShareCoversEveryUnitOnce) {
  for (int64_t units : {0, 1, 7, 100}) {
    for (uint32_t workers : {1u, 2u, 5u}) {
      for (int64_t grain : {1, 3, 1000}) {
        Execution run;
        run.parallel_for = ThreadedFor;
        run.workers = workers;
        std::vector<std::atomic<int>> done(100);
        run.Share(units, grain, 4, [&](int64_t begin, int64_t end, int64_t w) {
          EXPECT_LT(w, 4);
          EXPECT_LT(w, workers);
          for (int64_t i = begin; i < end; ++i) ++done[i];
        });
        for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(done[i], i < units ? 1 : 0);
      }
    }
  }
}

TEST(Execution, RequantizerHasWhatTheArtifactSays) {
  flatbuffers::FlatBufferBuilder builder;
  format::RequantT t;
  t.form = format::RequantForm::MUL128;
  t.multipliers = {3, 4};
  t.addends = {5, 6};
  t.addends_high = {7, 8};
  t.shifts = {9, 10};
  t.zero = 1;
  t.lo = -2;
  t.hi = 2;
  builder.Finish(format::Requant::Pack(builder, &t));
  const Requantizer r = RequantizerFrom(
      *flatbuffers::GetRoot<format::Requant>(builder.GetBufferPointer()),
      format::ElementType::S8);
  EXPECT_EQ(r.form, RequantForm::kMul128);
  EXPECT_TRUE(r.per_channel);
  EXPECT_EQ(r.multipliers[1], 4);
  EXPECT_EQ(r.addends[1], 6);
  EXPECT_EQ(r.addends_high[1], 8);
  EXPECT_EQ(r.shifts[1], 10);
  EXPECT_EQ(r.output, CodeType::kS8);
  EXPECT_EQ(r.zero, 1);
  EXPECT_EQ(r.lo, -2);
  EXPECT_EQ(r.hi, 2);
}

}  // namespace
}  // namespace fold::exec
