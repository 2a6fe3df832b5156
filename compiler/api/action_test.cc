#include "compiler/api/action.h"

#include <functional>
#include <set>

#include "compiler/api/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
namespace reapi = build::bazel::remote::execution::v2;

ActionInputs Inputs() {
  ActionInputs inputs;
  inputs.model = DigestOf("a model");
  inputs.target.set_name("x86-64");
  inputs.target.set_default_io(v1::IO_FLOAT);
  inputs.compiler_id = "compiler-1";
  return inputs;
}

std::string Key(const ActionInputs& inputs) {
  return BuildAction(inputs).digest.hash();
}

v1::InputShape Shape(const std::string& name, std::vector<int64_t> sizes) {
  v1::InputShape shape;
  shape.set_name(name);
  for (int64_t size : sizes) shape.add_dimensions(size);
  return shape;
}

TEST(Action, NamesOfExternalFilesArePlainAndNoneOfItsOwn) {
  for (const char* name : {"w.bin", "model.onnx.data", "..bin", "a b"}) {
    EXPECT_TRUE(IsExternalFileName(name)) << name;
  }
  for (const char* name :
       {"", ".", "..", "a/b", "/w", "a\\b", "c:w", "model.onnx", "target.binpb",
        "encodings", "artifact.fold", "report.binpb", "stdout", "stderr"}) {
    EXPECT_FALSE(IsExternalFileName(name)) << name;
  }
  EXPECT_FALSE(IsExternalFileName(std::string(256, 'x')));
  EXPECT_FALSE(IsExternalFileName(std::string_view("a\0b", 3)));
}

TEST(Action, TheInputRootIsSortedWithAllFiles) {
  ActionInputs inputs;
  inputs.model = DigestOf("m");
  inputs.target.set_default_io(v1::IO_FLOAT);
  inputs.external_files["a.bin"] = DigestOf("a");
  inputs.external_files["z.bin"] = DigestOf("z");
  std::vector<std::string> names;
  CompileAction action = BuildAction(inputs);
  for (const auto& file : action.input_root.files()) {
    names.push_back(file.name());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a.bin", "model.onnx",
                                             "target.binpb", "z.bin"}));
}

TEST(Action, EveryFieldChangesTheKey) {
  const std::function<void(ActionInputs&)> edits[] = {
      [](auto& in) { in.model = DigestOf("another"); },
      [](auto& in) { in.model.set_size_bytes(5); },
      [](auto& in) { in.target.set_name("x86-65"); },
      [](auto& in) { in.target.add_compatible("x"); },
      [](auto& in) { in.encodings = DigestOf(""); },
      [](auto& in) { in.encodings = DigestOf("table"); },
      [](auto& in) { in.external_files["w.bin"] = DigestOf("w"); },
      [](auto& in) { in.external_files["w.bin"] = DigestOf("v"); },
      [](auto& in) { in.external_files["v.bin"] = DigestOf("w"); },
      [](auto& in) { in.compiler_id = "compiler-2"; },
      [](auto& in) { in.timeout_milliseconds = 5000; },
      [](auto& in) { in.salt = "generation 2"; },
      [](auto& in) {
        *in.options.add_shapes() = Shape("a", {1, 2});
      },
      [](auto& in) {
        *in.options.add_shapes() = Shape("b", {1, 2});
      },
      [](auto& in) { *in.options.add_shapes() = Shape("a", {12}); },
      [](auto& in) { *in.options.add_shapes() = Shape("a", {}); },
      [](auto& in) { in.options.set_io(v1::IO_QUANTIZED); },
      [](auto& in) { in.options.add_require(v1::INTEGER_ONLY); },
      [](auto& in) { in.options.add_require(v1::EXACT_RESULT); },
      [](auto& in) { in.options.set_taps(true); },
      [](auto& in) { in.options.set_sheets(true); },
      [](auto& in) { in.options.add_dump_after("fold"); },
      [](auto& in) { in.options.set_verify(v1::VERIFY_OFF); },
      [](auto& in) { in.options.set_verify(v1::VERIFY_EACH); },
      [](auto& in) { in.options.add_passes("a"); },
      [](auto& in) {
        in.options.add_passes("a");
        in.options.add_passes("b");
      },
      [](auto& in) {
        in.options.add_passes("b");
        in.options.add_passes("a");
      },
  };
  std::set<std::string> keys = {Key(Inputs())};
  for (size_t i = 0; i < std::size(edits); ++i) {
    ActionInputs inputs = Inputs();
    edits[i](inputs);
    EXPECT_TRUE(keys.insert(Key(inputs)).second) << "edit " << i;
  }
}

// A field that is added to the options must change the key, too.
TEST(Action, NoFieldOfTheOptionsIsForgotten) {
  EXPECT_EQ(v1::CompileOptions::descriptor()->field_count(), 8);
}

TEST(Action, ADescriptorHasOneForm) {
  ActionInputs a = Inputs();
  ActionInputs b = Inputs();
  b.target.mutable_budgets();
  b.target.mutable_requantization();
  b.target.GetReflection()->MutableUnknownFields(&b.target)->AddVarint(999, 1);
  EXPECT_EQ(Key(a), Key(b));
}

TEST(Action, WhatMeansTheSameHasTheSameKey) {
  ActionInputs a = Inputs();
  ActionInputs b = Inputs();
  *a.options.add_shapes() = Shape("x", {1});
  *a.options.add_shapes() = Shape("y", {2});
  *b.options.add_shapes() = Shape("y", {2});
  *b.options.add_shapes() = Shape("x", {1});
  a.options.add_require(v1::EXACT_RESULT);
  a.options.add_require(v1::INTEGER_ONLY);
  b.options.add_require(v1::INTEGER_ONLY);
  b.options.add_require(v1::EXACT_RESULT);
  b.options.add_require(v1::EXACT_RESULT);
  b.options.set_io(v1::IO_FLOAT);  // the target's default, said aloud
  b.options.set_verify(v1::VERIFY_END);
  EXPECT_EQ(Key(a), Key(b));
}

// Known answer: the key of a compile is an interface, for caches that outlive
// a build. A change here is a new generation of all caches.
TEST(Action, KnownKey) {
  EXPECT_EQ(Key(Inputs()),
            "1138db33f239aed375bba60959e8fc7ab43c87f128d90d89799c81bceae57944");
}

TEST(Action, IsAnActionOfTheRemoteExecutionApi) {
  ActionInputs inputs = Inputs();
  inputs.encodings = DigestOf("table");
  CompileAction built = BuildAction(inputs);
  EXPECT_THAT(built.command.arguments(),
              testing::ElementsAre("foldc", "model.onnx", "--target-file",
                                   "target.binpb", "-o", "artifact.fold",
                                   "--report", "report.binpb", "--encodings",
                                   "encodings", "--io=float", "--verify=end"));
  ASSERT_EQ(built.input_root.files_size(), 3);
  for (int i = 1; i < 3; ++i) {
    EXPECT_LT(built.input_root.files(i - 1).name(),
              built.input_root.files(i).name());
  }
  EXPECT_EQ(built.action.command_digest().hash(),
            Sha256Hex(built.command.SerializeAsString()));
  EXPECT_EQ(built.digest.hash(), Sha256Hex(built.action.SerializeAsString()));
  EXPECT_EQ(built.digest.size_bytes(),
            static_cast<int64_t>(built.action.ByteSizeLong()));
  v1::TargetDescriptor target;
  ASSERT_TRUE(target.ParseFromString(built.target_bytes));
  EXPECT_EQ(target.name(), "x86-64");
  // Numbers of the published API.
  EXPECT_EQ(reapi::Action::kTimeoutFieldNumber, 6);
  EXPECT_EQ(reapi::Action::kSaltFieldNumber, 9);
  EXPECT_EQ(reapi::Command::kOutputPathsFieldNumber, 7);
}

}  // namespace
}  // namespace fold
