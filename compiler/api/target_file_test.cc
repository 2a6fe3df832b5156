#include "compiler/api/target_file.h"

#include <algorithm>
#include <fstream>

#include "compiler/api/convert.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::HasSubstr;
namespace v1 = foldd::v1;

TEST(BuiltinTargets, AreSortedAndFreeOfFaults) {
  auto targets = BuiltinTargets();
  ASSERT_FALSE(targets.empty());
  EXPECT_TRUE(std::is_sorted(
      targets.begin(), targets.end(),
      [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const BuiltinTarget& builtin : targets) {
    v1::TargetDescriptor target;
    ASSERT_EQ(FindBuiltinTarget(builtin.name, &target), "") << builtin.name;
    EXPECT_EQ(target.name(), builtin.name);
    for (const TargetProblem& problem : CheckTargetMessage(target)) {
      ADD_FAILURE() << builtin.name << ": " << problem.field << " "
                    << problem.message;
    }
  }
}

TEST(FindBuiltinTarget, SuggestsTheNearest) {
  v1::TargetDescriptor target;
  EXPECT_THAT(FindBuiltinTarget("x86_64", &target),
              HasSubstr("did you mean 'x86-64'"));
}

TEST(ParseTargetText, SaysWhereTheErrorIs) {
  v1::TargetDescriptor target;
  EXPECT_THAT(ParseTargetText("name: \"a\"\nlayuot: 1\n", &target),
              HasSubstr("2:"));
  EXPECT_THAT(ParseTargetText("layout: SIDEWAYS", &target),
              HasSubstr("SIDEWAYS"));
  EXPECT_THAT(ParseTargetText(std::string(2 << 20, ' '), &target),
              HasSubstr("1 MiB"));
}

TEST(ReadTargetFile, ReadsBothForms) {
  std::string stem = testing::TempDir() + "target_file_test";
  v1::TargetDescriptor target;
  target.set_name("abc");
  std::ofstream(stem + ".binpb", std::ios::binary)
      << target.SerializeAsString();
  std::ofstream(stem + ".textproto") << "name: \"def\"";
  std::ofstream(stem + "2.binpb") << "\xff\xff";
  v1::TargetDescriptor read;
  EXPECT_EQ(ReadTargetFile(stem + ".binpb", &read), "");
  EXPECT_EQ(read.name(), "abc");
  EXPECT_EQ(ReadTargetFile(stem + ".textproto", &read), "");
  EXPECT_EQ(read.name(), "def");
  EXPECT_THAT(ReadTargetFile(stem + "2.binpb", &read),
              HasSubstr("not a serialized"));
  EXPECT_THAT(ReadTargetFile("/no/such/file", &read), HasSubstr("cannot open"));
}

}  // namespace
}  // namespace fold
