#include "compiler/emit/emitter.h"

#include "compiler/lower/plan_arena.h"
#include "compiler/lower/test_lowering.h"

namespace fold {
namespace {

Lowered Network() {
  Lowered lowered = LowerText(R"(fir 1 fused
graph @g(%x: u8[1,2,3,3] q(s=0.5 z=128)) -> %y {
  %w = const i8[4,2,1,1] q(s=0.25 z=0) [1,2,3,4,5,6,7,8]
  %y = conv(%x, %w) : u8[1,4,3,3] q(s=0.7 z=100) name "conv" loc("conv")
})");
  EXPECT_TRUE(lowered.good) << lowered.Text();
  PlanArena(&lowered.program, 64);
  return lowered;
}

TEST(Emitter, TheSameProgramIsTheSameBytes) {
  std::string fault;
  const auto once = Emit(Network().program, &fault);
  EXPECT_EQ(fault, "");
  EXPECT_EQ(Emit(Network().program, &fault), once);
  EXPECT_EQ(fault, "");
}

TEST(Emitter, WhatIsWrittenIsWhatWasPlanned) {
  const Lowered lowered = Network();
  std::string fault;
  const auto bytes = Emit(lowered.program, &fault);
  ASSERT_EQ(fault, "");
  const auto* artifact = format_::GetArtifact(bytes.data());
  EXPECT_TRUE(format_::ArtifactBufferHasIdentifier(bytes.data()));
  EXPECT_EQ(artifact->ops()->size(), lowered.program.artifact.ops.size());
  EXPECT_EQ(artifact->plan()->arena_bytes(),
            lowered.program.artifact.plan->arena_bytes);
  EXPECT_EQ(artifact->constants()->size(),
            lowered.program.artifact.constants.size());
  for (const auto* op : *artifact->ops()) {
    if (op->opcode() != format_::Opcode::CONV) continue;
    EXPECT_EQ(op->sources()->Get(0)->str(), "conv");
  }
}

// The runtime's own reader has the last word.
TEST(Emitter, FaultsOfTheProgramAreFound) {
  Lowered outside = Network();
  for (auto& tensor : outside.program.artifact.tensors) {
    if (tensor->storage == format_::Storage::CONSTANT) tensor->offset += 4096;
  }
  std::string fault;
  Emit(outside.program, &fault);
  EXPECT_NE(fault, "");
  Lowered version = Network();
  version.program.artifact.format_version = 99;
  Emit(version.program, &fault);
  EXPECT_NE(fault, "");
  Lowered shape = Network();
  shape.program.artifact.tensors[0]->shape = {7};
  Emit(shape.program, &fault);
  EXPECT_NE(fault, "");
}

}  // namespace
}  // namespace fold
