#include "compiler/api/sandbox_proto.h"

#include "gtest/gtest.h"

namespace fold {
namespace {

TEST(SandboxProto, ComesBack) {
  for (size_t i = 0; i < kWallCount; ++i) {
    SandboxReport report;
    report.walls[i] = {true, "ABI " + std::to_string(i)};
    SandboxReport again = FromProto(ToProto(report));
    for (size_t j = 0; j < kWallCount; ++j) {
      EXPECT_EQ(again.walls[j].stands, i == j);
      EXPECT_EQ(again.walls[j].detail, report.walls[j].detail);
    }
  }
}

TEST(SandboxProto, WhatIsNotNamedDoesNotStand) {
  SandboxWalls walls;
  walls.Add()->set_name("a wall of another build");
  walls.Mutable(0)->set_stands(true);
  SandboxReport report = FromProto(walls);
  EXPECT_EQ(report.level(), SandboxLevel::kNone);
  EXPECT_EQ(report[Wall::kSeccomp].detail, "not reported");
}

}  // namespace
}  // namespace fold
