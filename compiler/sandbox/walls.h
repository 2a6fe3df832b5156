// The walls around a compile job, which of them stand, and the level that this
// makes. A wall stands if it was put up in a probe and held there.
#ifndef FOLD_COMPILER_SANDBOX_WALLS_H_
#define FOLD_COMPILER_SANDBOX_WALLS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fold {

// Each level has the walls of those before it.
enum class SandboxLevel : uint8_t { kNone, kLimits, kSeccomp, kFull };

enum class Wall : size_t {
#define FOLD_WALL(id, name, level, keeps_off) id,
#include "compiler/sandbox/walls.def"
#undef FOLD_WALL
  kCount
};
inline constexpr size_t kWallCount = static_cast<size_t>(Wall::kCount);

struct WallRow {
  std::string_view name;
  SandboxLevel needed_by;  // kNone: no level needs it
  std::string_view keeps_off;
};
// By Wall.
std::span<const WallRow> WallTable();

std::string_view SandboxLevelName(SandboxLevel level);
// "none", "limits", "seccomp" or "full"; nullopt: none of them.
std::optional<SandboxLevel> ParseSandboxLevel(std::string_view name);

struct WallState {
  bool stands = false;
  // More about it ("ABI 7"), or why it does not stand.
  std::string detail;
};

struct SandboxReport {
  std::array<WallState, kWallCount> walls;

  const WallState& operator[](Wall wall) const {
    return walls[static_cast<size_t>(wall)];
  }
  WallState& operator[](Wall wall) { return walls[static_cast<size_t>(wall)]; }

  // The highest level all of whose walls stand.
  SandboxLevel level() const;
  // What keeps the report from `minimum`: the first wall that is missing, why,
  // and what to do about it; "" if nothing does.
  std::string Missing(SandboxLevel minimum) const;
  // All walls on one line: "limits, seccomp; not landlock_files (why)".
  std::string Summary() const;
};

}  // namespace fold

#endif  // FOLD_COMPILER_SANDBOX_WALLS_H_
