#include "compiler/sandbox/walls.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::HasSubstr;

SandboxReport AllStand() {
  SandboxReport report;
  for (WallState& wall : report.walls) wall.stands = true;
  return report;
}

TEST(Walls, LevelNamesComeBack) {
  for (auto level : {SandboxLevel::kNone, SandboxLevel::kLimits,
                     SandboxLevel::kSeccomp, SandboxLevel::kFull}) {
    EXPECT_EQ(ParseSandboxLevel(SandboxLevelName(level)), level);
  }
  EXPECT_FALSE(ParseSandboxLevel("most"));
  EXPECT_FALSE(ParseSandboxLevel(""));
}

TEST(Walls, TheLevelIsTheHighestWithoutAGap) {
  EXPECT_EQ(AllStand().level(), SandboxLevel::kFull);
  EXPECT_EQ(SandboxReport().level(), SandboxLevel::kNone);
  SandboxReport report = AllStand();
  report[Wall::kLandlockFiles].stands = false;
  EXPECT_EQ(report.level(), SandboxLevel::kSeccomp);
  report[Wall::kSeccomp].stands = false;
  EXPECT_EQ(report.level(), SandboxLevel::kLimits);
  report = AllStand();
  report[Wall::kLimits].stands = false;
  EXPECT_EQ(report.level(), SandboxLevel::kNone);
}

TEST(Walls, EveryNeededWallDecidesALevelAndTheOthersNone) {
  for (size_t i = 0; i < kWallCount; ++i) {
    SandboxReport report = AllStand();
    report.walls[i].stands = false;
    bool needed = WallTable()[i].needed_by != SandboxLevel::kNone;
    EXPECT_EQ(report.level() != SandboxLevel::kFull, needed)
        << WallTable()[i].name;
    EXPECT_EQ(report.Missing(SandboxLevel::kFull).empty(), !needed);
    EXPECT_EQ(report.Missing(SandboxLevel::kNone), "");
  }
}

TEST(Walls, WhatIsMissingIsNamedWithTheCauseAndTheWayOut) {
  SandboxReport report = AllStand();
  report[Wall::kLandlockFiles] = {false, "the kernel has no Landlock"};
  std::string text = report.Missing(SandboxLevel::kFull);
  EXPECT_THAT(text, HasSubstr("'landlock_files'"));
  EXPECT_THAT(text, HasSubstr("(the kernel has no Landlock)"));
  EXPECT_THAT(text, HasSubstr("sandbox_minimum to 'seccomp'"));
  EXPECT_EQ(report.Missing(SandboxLevel::kSeccomp), "");
}

TEST(Walls, TheSummaryHasThemAll) {
  SandboxReport report = AllStand();
  report[Wall::kLandlockFiles].detail = "ABI 7";
  report[Wall::kLandlockScope] = {false, "needs ABI 6"};
  std::string text = report.Summary();
  EXPECT_THAT(text, HasSubstr("landlock_files (ABI 7)"));
  EXPECT_THAT(text, HasSubstr("; not landlock_scope (needs ABI 6)"));
  EXPECT_THAT(SandboxReport().Summary(), HasSubstr("no walls; not limits"));
}

}  // namespace
}  // namespace fold
