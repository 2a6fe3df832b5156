// Who calls, and what that one may do.
#ifndef FOLD_SERVER_ACCESS_PRINCIPAL_H_
#define FOLD_SERVER_ACCESS_PRINCIPAL_H_

#include <string>
#include <vector>

namespace fold {

// Each includes those before it.
enum class Role { kRead, kCompile, kAdminister };

struct Principal {
  std::string name;
  Role role = Role::kRead;
  std::vector<std::string> instances;  // that it may use; {"*"}: all
};

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_PRINCIPAL_H_
