#include "compiler/sandbox/walls.h"

namespace fold {
namespace {

constexpr WallRow kRows[] = {
#define FOLD_WALL(id, name, level, keeps_off) \
  {name, SandboxLevel::level, keeps_off},
#include "compiler/sandbox/walls.def"
#undef FOLD_WALL
};

constexpr std::string_view kLevelNames[] = {"none", "limits", "seccomp",
                                            "full"};

// The first wall that `level` needs and that does not stand; kCount: none.
Wall FirstMissing(const SandboxReport& report, SandboxLevel level) {
  for (size_t i = 0; i < kWallCount; ++i) {
    SandboxLevel needed_by = kRows[i].needed_by;
    if (needed_by != SandboxLevel::kNone && needed_by <= level &&
        !report.walls[i].stands) {
      return static_cast<Wall>(i);
    }
  }
  return Wall::kCount;
}

}  // namespace

std::span<const WallRow> WallTable() { return kRows; }

std::string_view SandboxLevelName(SandboxLevel level) {
  return kLevelNames[static_cast<size_t>(level)];
}

std::optional<SandboxLevel> ParseSandboxLevel(std::string_view name) {
  for (size_t i = 0; i < std::size(kLevelNames); ++i) {
    if (kLevelNames[i] == name) return static_cast<SandboxLevel>(i);
  }
  return std::nullopt;
}

SandboxLevel SandboxReport::level() const {
  auto level = SandboxLevel::kFull;
  while (level != SandboxLevel::kNone &&
         FirstMissing(*this, level) != Wall::kCount) {
    level = static_cast<SandboxLevel>(static_cast<uint8_t>(level) - 1);
  }
  return level;
}

std::string SandboxReport::Missing(SandboxLevel minimum) const {
  Wall missing = FirstMissing(*this, minimum);
  if (missing == Wall::kCount) return "";
  const WallRow& row = kRows[static_cast<size_t>(missing)];
  const std::string& detail = (*this)[missing].detail;
  return "the wall '" + std::string(row.name) + "' against " +
         std::string(row.keeps_off) + " cannot be put up here" +
         (detail.empty() ? "" : " (" + detail + ")") +
         ", so the sandbox reaches '" + std::string(SandboxLevelName(level())) +
         "' and not '" + std::string(SandboxLevelName(minimum)) +
         "': let the kernel or the container allow it, or set "
         "sandbox_minimum to '" +
         std::string(SandboxLevelName(level())) +
         "' if every client is trusted with what the wall keeps off";
}

std::string SandboxReport::Summary() const {
  std::string standing, missing;
  for (size_t i = 0; i < kWallCount; ++i) {
    std::string& list = walls[i].stands ? standing : missing;
    if (!list.empty()) list += ", ";
    list += kRows[i].name;
    if (!walls[i].detail.empty()) list += " (" + walls[i].detail + ")";
  }
  if (standing.empty()) standing = "no walls";
  return missing.empty() ? standing : standing + "; not " + missing;
}

}  // namespace fold
