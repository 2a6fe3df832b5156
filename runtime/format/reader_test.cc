#include "runtime/format/reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "runtime/format/test_artifact.h"

namespace fold::format {
namespace {

TEST(Reader, OpensAValidFileInPlace) {
  const TestFile file = SmallNetwork().Finish();
  Fault fault;
  const Artifact* artifact = OpenArtifact(file.data(), file.size(), &fault);
  ASSERT_NE(artifact, nullptr) << fault.text;
  EXPECT_EQ(artifact->ops()->size(), 3u);
  const Span<uint8_t> constants = ConstantsOf(*artifact);
  EXPECT_GE(constants.data, file.data());
  EXPECT_LE(constants.data + constants.size, file.data() + file.size());
  EXPECT_EQ((constants.data - file.data()) % 64, 0);
}

TEST(Reader, OpensAnEmptyNetwork) {
  EXPECT_EQ(FaultOf(TestArtifact().Finish()), "ok");
}

TEST(Reader, RefusesOtherFiles) {
  const std::string text(100, 'x');
  EXPECT_EQ(FaultOf(TestFile(text.data(), text.size())),
            "not a .fold artifact");
  EXPECT_EQ(FaultOf(TestFile(text.data(), 3)),
            "3 bytes are too few for an artifact");
}

TEST(Reader, RefusesAnUnalignedAddress) {
  const TestFile file = SmallNetwork().Finish();
  TestFile moved(file.data(), file.size());
  Fault fault;
  EXPECT_EQ(OpenArtifact(moved.data() + 1, moved.size() - 1, &fault), nullptr);
}

TEST(Reader, RefusesAnotherVersion) {
  TestArtifact a = SmallNetwork();
  a.artifact.format_version = 2;
  EXPECT_EQ(FaultOf(a.Finish()), "format version 2, this reader knows 1");
}

TEST(Reader, RefusesAWrongPlan) {
  TestArtifact a = SmallNetwork();
  a.artifact.plan->arena_alignment = 48;
  EXPECT_EQ(FaultOf(a.Finish()), "the arena's alignment is 48");
  a.artifact.plan.reset();
  flatbuffers::FlatBufferBuilder builder;
  FinishArtifactBuffer(builder, Artifact::Pack(builder, &a.artifact));
  EXPECT_EQ(FaultOf(TestFile(builder.GetBufferPointer(), builder.GetSize())),
            "there is no plan");
}

TEST(Reader, RefusesEveryTruncation) {
  const TestFile file = SmallNetwork().Finish();
  for (size_t size = 0; size < file.size(); ++size) {
    const TestFile cut(file.data(), size);
    EXPECT_NE(FaultOf(cut), "ok") << size;
  }
}

// A flipped bit may leave the file valid; it must never be read out of bounds
// (which the address sanitizer sees here, and run_fuzz in the executor).
TEST(Reader, SurvivesEveryFlippedBit) {
  TestFile file = SmallNetwork().Finish();
  int refused = 0;
  int misaligned = 0;
  for (size_t i = 0; i < file.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      file.data()[i] ^= static_cast<uint8_t>(1 << bit);
      Fault fault;
      if (OpenArtifact(file.data(), file.size(), &fault) == nullptr) {
        EXPECT_NE(fault.text[0], '\0');
        ++refused;
        misaligned += std::strstr(fault.text, "not aligned") != nullptr;
      }
      file.data()[i] ^= static_cast<uint8_t>(1 << bit);
    }
  }
  EXPECT_GT(refused, 1000);
  // FlatBuffers' verifier lets vectors of misaligned 8-byte numbers through.
  EXPECT_GT(misaligned, 0);
}

// One vector of 2,000 operands, named by 2,000 ops: small file, much to check.
TEST(Reader, RefusesVectorsThatAreSharedTooOften) {
  flatbuffers::FlatBufferBuilder builder;
  const auto operands = builder.CreateVector(std::vector<int32_t>(2000, 0));
  const auto results = builder.CreateVector(std::vector<int32_t>{1});
  std::vector<flatbuffers::Offset<Op>> ops;
  const auto parameters = CreateConcatParameters(builder, 0).Union();
  const auto one =
      CreateOp(builder, 0, Opcode::CONCAT, OpParameters::ConcatParameters,
               parameters, operands, results);
  ops.assign(2000, one);
  std::vector<flatbuffers::Offset<Tensor>> tensors;
  const auto name = builder.CreateString("t");
  tensors.push_back(CreateTensor(builder, name, ElementType::U8,
                                 builder.CreateVector(std::vector<int64_t>{1}),
                                 Storage::ARENA, 0, 1));
  tensors.push_back(
      CreateTensor(builder, name, ElementType::U8,
                   builder.CreateVector(std::vector<int64_t>{2000}),
                   Storage::ARENA, 1, 2000));
  const auto plan = CreatePlan(builder, 4096, 64);
  const auto root = CreateArtifact(builder, kFormatVersion, name, name, 0, 0,
                                   builder.CreateVector(tensors),
                                   builder.CreateVector(ops), plan);
  FinishArtifactBuffer(builder, root);
  EXPECT_EQ(FaultOf(TestFile(builder.GetBufferPointer(), builder.GetSize())),
            "vectors are shared too often");
}

}  // namespace
}  // namespace fold::format
