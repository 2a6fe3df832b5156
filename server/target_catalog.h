// The targets that can be named: the built-in ones and those of the operator's
// folder. Read once, at the start.
#ifndef FOLD_SERVER_TARGET_CATALOG_H_
#define FOLD_SERVER_TARGET_CATALOG_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/foldd/v1/target.pb.h"

namespace fold {

class TargetCatalog {
 public:
  // `folder` may be empty: the built-in targets alone. Its *.textproto files
  // are named after their targets. INVALID_ARGUMENT lists all faults of all
  // files.
  static absl::StatusOr<TargetCatalog> Load(const std::string& folder);

  const foldd::v1::TargetDescriptor* Find(const std::string& name) const;
  // "no target is called 'x'; did you mean 'y'?"
  std::string Unknown(std::string_view name) const;
  const std::map<std::string, foldd::v1::TargetDescriptor>& all() const {
    return targets_;
  }

 private:
  std::map<std::string, foldd::v1::TargetDescriptor> targets_;
};

}  // namespace fold

#endif  // FOLD_SERVER_TARGET_CATALOG_H_
