// Who calls, and what they may do.
#ifndef FOLD_SERVER_ACCESS_PRINCIPAL_H_
#define FOLD_SERVER_ACCESS_PRINCIPAL_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/instance_name.h"

namespace fold {

// Each includes those before it.
enum class Role { kRead, kCompile, kAdminister };

// Of the principal of everybody where no authentication is configured.
inline constexpr char kAnonymous[] = "anonymous";
// In a list of instances: all of them.
inline constexpr char kAllInstances[] = "*";

struct Principal {
  std::string name;  // for logs, quotas and the audit log
  Role role = Role::kRead;
  std::vector<std::string> instances;  // that it may use; {"*"}: all
};

// "read", "compile", "administer".
std::string_view RoleName(Role role);
std::optional<Role> ParseRole(std::string_view text);

// What a principal may be called: 1 to 128 printable characters, no blanks.
bool IsPrincipalName(std::string_view name);
bool MayUseInstance(const Principal& principal, std::string_view instance);

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_PRINCIPAL_H_
