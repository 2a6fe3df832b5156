// The names of instances: the namespaces of a server, as the Remote Execution
// API calls them.
#ifndef FOLD_SERVER_INSTANCE_NAME_H_
#define FOLD_SERVER_INSTANCE_NAME_H_

#include <string_view>

namespace fold {

// Whether `name` may name an instance: [a-z0-9][a-z0-9_-]{0,62}, or empty for
// the default one.
inline bool IsInstanceName(std::string_view name) {
  if (name.empty()) return true;
  auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  if (name.size() > 63 || !plain(name[0])) return false;
  for (char c : name) {
    if (!plain(c) && c != '_' && c != '-') return false;
  }
  return true;
}

}  // namespace fold

#endif  // FOLD_SERVER_INSTANCE_NAME_H_
