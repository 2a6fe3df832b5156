#include "compiler/lower/plan_arena.h"

#include <algorithm>
#include <map>

#include "compiler/lower/test_lowering.h"

namespace fold {
namespace {

// Two convolutions, a sum and a reshape: several values live at once.
constexpr char kNetwork[] = R"(fir 1 fused
graph @g(%x: u8[1,4,6,6] q(s=0.5 z=128)) -> %z {
  %w = const i8[4,4,1,1] q(s=1 z=0) splat(3)
  %a = conv(%x, %w) : u8[1,4,6,6] q(s=8 z=128)
  %b = conv(%a, %w) : u8[1,4,6,6] q(s=64 z=128)
  %y = add(%a, %b) : u8[1,4,6,6] q(s=64 z=128)
  %z = flatten(%y) : u8[1,144] q(s=64 z=128)
})";

struct Span {
  size_t first, last;
};

int RootOf(const Program& program, int tensor) {
  while (program.alias_of[tensor] >= 0) tensor = program.alias_of[tensor];
  return tensor;
}

TEST(PlanArena, NothingThatLivesAtOnceOverlaps) {
  Lowered lowered = LowerText(kNetwork);
  ASSERT_TRUE(lowered.good) << lowered.Text();
  PlanArena(&lowered.program, 64);
  const auto& artifact = lowered.program.artifact;
  std::map<int, Span> spans;
  for (size_t i = 0; i < artifact.ops.size(); ++i) {
    for (const auto* list :
         {&artifact.ops[i]->inputs, &artifact.ops[i]->outputs}) {
      for (int tensor : *list) {
        const int root = RootOf(lowered.program, tensor);
        spans.try_emplace(root, Span{i, i}).first->second.last = i;
      }
    }
  }
  int compared = 0;
  const auto overlap = [](uint64_t a, uint64_t a_bytes, uint64_t b,
                          uint64_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
  };
  for (const auto& [a, span_a] : spans) {
    const auto& ta = *artifact.tensors[a];
    if (ta.storage != format_::Storage::ARENA) continue;
    EXPECT_EQ(ta.offset % 64, 0u);
    EXPECT_LE(ta.offset + ta.bytes, artifact.plan->arena_bytes);
    for (const auto& [b, span_b] : spans) {
      const auto& tb = *artifact.tensors[b];
      if (b <= a || tb.storage != format_::Storage::ARENA) continue;
      if (span_a.last < span_b.first || span_b.last < span_a.first) continue;
      ++compared;
      EXPECT_FALSE(overlap(ta.offset, ta.bytes, tb.offset, tb.bytes))
          << ta.name << " and " << tb.name;
    }
    for (size_t i = span_a.first; i <= span_a.last; ++i) {
      const auto& op = *artifact.ops[i];
      if (op.scratch_bytes == 0) continue;
      EXPECT_FALSE(
          overlap(ta.offset, ta.bytes, op.scratch_offset, op.scratch_bytes))
          << ta.name << " and the scratch of " << op.name;
    }
  }
  EXPECT_GT(compared, 2);
  EXPECT_LE(artifact.plan->peak_lower_bound, artifact.plan->arena_bytes);
  EXPECT_EQ(artifact.plan->arena_alignment, 64u);
}

TEST(PlanArena, AliasesLieWhereTheirRootLies) {
  Lowered lowered = LowerText(kNetwork);
  PlanArena(&lowered.program, 64);
  int aliases = 0;
  for (size_t i = 0; i < lowered.program.alias_of.size(); ++i) {
    if (lowered.program.alias_of[i] < 0) continue;
    ++aliases;
    const int root = RootOf(lowered.program, static_cast<int>(i));
    EXPECT_EQ(lowered.tensor(i).offset, lowered.tensor(root).offset);
    EXPECT_EQ(lowered.tensor(i).storage, lowered.tensor(root).storage);
    EXPECT_EQ(lowered.tensor(i).bytes, lowered.tensor(root).bytes);
  }
  EXPECT_GT(aliases, 0);
}

// f32[16] twice at once, then f32[16] and u8[16]: 128 bytes at the most.
TEST(PlanArena, ArenaOfAGraphAsItStands) {
  const Graph graph = GraphOf(R"(fir 1 imported
graph @g(%x: f32[16]) -> %y {
  %a = relu(%x) : f32[16]
  %b = relu(%a) : f32[16]
  %s = const f32[] [1]
  %y = quantize_linear(%b, %s) : u8[16]
})");
  EXPECT_EQ(ArenaBytesOf(graph, 64), 128);
  EXPECT_EQ(ArenaBytesOf(GraphOf("fir 1 imported\n"
                                 "graph @g(%x: f32[1]) -> %x {\n}"),
                         64),
            0);
}

}  // namespace
}  // namespace fold
