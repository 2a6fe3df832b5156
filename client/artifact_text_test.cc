#include "client/artifact_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::HasSubstr;
namespace ff = format;

TEST(ArtifactText, NamesWhatIsThere) {
  ff::ArtifactT artifact;
  artifact.compiler = "id";
  artifact.target = "x86-64";
  artifact.constants.resize(12);
  artifact.plan = std::make_unique<ff::PlanT>();
  artifact.plan->arena_bytes = 4096;
  artifact.plan->peak_lower_bound = 4000;
  auto input = std::make_unique<ff::SignatureEntryT>();
  input->name = "image";
  input->type = ff::ElementType::S8;
  input->shape = {1, 3};
  input->quantization = std::make_unique<ff::QuantizationT>();
  input->quantization->scales = {0.5};
  input->quantization->zero_points = {-3};
  artifact.inputs.push_back(std::move(input));
  auto op = std::make_unique<ff::OpT>();
  op->name = "conv\n1";
  op->opcode = ff::Opcode::CONV;
  op->exactness = ff::Exactness::BOUNDED;
  op->sources = {"Conv_0"};
  artifact.ops.push_back(std::move(op));
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(ff::Artifact::Pack(builder, &artifact));
  std::string text = ArtifactText(
      *flatbuffers::GetRoot<ff::Artifact>(builder.GetBufferPointer()), 777);
  for (const char* part :
       {"compiler id\n", "target x86-64\n", "size 777 bytes, constants 12",
        "arena 4096 (lower bound 4000)",
        "input image: S8[1,3] scale 0.5 zero -3", "ops 1\n",
        "0 CONV conv?1 BOUNDED from Conv_0\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(ArtifactText, AnEmptyArtifactHasText) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(ff::CreateArtifact(builder));
  EXPECT_THAT(
      ArtifactText(
          *flatbuffers::GetRoot<ff::Artifact>(builder.GetBufferPointer()), 0),
      HasSubstr("size 0 bytes"));
}

}  // namespace
}  // namespace fold
