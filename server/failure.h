// An error of the service on its way to a caller: a row of the error table
// with the facts of the case. server/rpc/status.h makes a gRPC status of it.
#ifndef FOLD_SERVER_FAILURE_H_
#define FOLD_SERVER_FAILURE_H_

#include <map>
#include <string>
#include <vector>

namespace fold {

struct FieldViolation {
  std::string field;    // path in the request
  std::string message;  // what is wrong with it
};

struct Failure {
  std::string reason;   // a row of compiler/api/error_table.def
  std::string message;  // for people; never empty
  std::map<std::string, std::string> metadata;
  std::vector<FieldViolation> violations;
  // Blobs that are missing, as "blobs/HASH/SIZE".
  std::vector<std::string> missing_blobs;
};

}  // namespace fold

#endif  // FOLD_SERVER_FAILURE_H_
