// An action taken apart, for people: what of it differs from another.
#ifndef FOLD_SERVER_ACTION_PARTS_H_
#define FOLD_SERVER_ACTION_PARTS_H_

#include <map>
#include <string>
#include <vector>

#include "compiler/api/action.h"

namespace fold {

// Values by part: "model", "target", "encodings", "options", "compiler",
// "timeout", "salt", and files with external data by their location.
std::map<std::string, std::string> PartsOf(const CompileAction& action);

struct PartDifference {
  std::string part;
  std::string asked;  // of the first action; of options the words that the
  std::string kept;   // other lacks
};

std::vector<PartDifference> ComparePartsOf(const CompileAction& asked,
                                           const CompileAction& kept);

}  // namespace fold

#endif  // FOLD_SERVER_ACTION_PARTS_H_
