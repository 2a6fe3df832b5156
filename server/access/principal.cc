#include "server/access/principal.h"

#include <algorithm>

namespace fold {
namespace {

constexpr size_t kMaxNameBytes = 128;
constexpr std::string_view kRoleNames[] = {"read", "compile", "administer"};

}  // namespace

std::string_view RoleName(Role role) {
  return kRoleNames[static_cast<size_t>(role)];
}

std::optional<Role> ParseRole(std::string_view text) {
  for (Role role : {Role::kRead, Role::kCompile, Role::kAdminister}) {
    if (text == RoleName(role)) return role;
  }
  return std::nullopt;
}

bool IsPrincipalName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return c > 0x20 && c < 0x7f; });
}

bool MayUseInstance(const Principal& principal, std::string_view instance) {
  return std::any_of(principal.instances.begin(), principal.instances.end(),
                     [&](const std::string& allowed) {
                       return allowed == kAllInstances || allowed == instance;
                     });
}

}  // namespace fold
