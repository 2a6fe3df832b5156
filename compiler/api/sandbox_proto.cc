#include "compiler/api/sandbox_proto.h"

#include <string>

namespace fold {

SandboxWalls ToProto(const SandboxReport& report) {
  SandboxWalls walls;
  for (size_t i = 0; i < kWallCount; ++i) {
    foldd::v1::SandboxWall* wall = walls.Add();
    wall->set_name(std::string(WallTable()[i].name));
    wall->set_stands(report.walls[i].stands);
    wall->set_detail(report.walls[i].detail);
  }
  return walls;
}

SandboxReport FromProto(const SandboxWalls& walls) {
  SandboxReport report;
  for (size_t i = 0; i < kWallCount; ++i) {
    report.walls[i].detail = "not reported";
    for (const foldd::v1::SandboxWall& wall : walls) {
      if (wall.name() == WallTable()[i].name) {
        report.walls[i] = {wall.stands(), wall.detail()};
      }
    }
  }
  return report;
}

}  // namespace fold
