// An error of the service on its way to a caller: a row of the error table
// with the facts of the case. server/rpc/status.h makes a gRPC status of it.
#ifndef FOLD_SERVER_FAILURE_H_
#define FOLD_SERVER_FAILURE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fold {

struct FieldViolation {
  std::string field;    // path in the request
  std::string message;  // what is wrong with it
};

struct QuotaViolation {
  std::string subject;  // whose quota
  std::string message;  // which limit, and its value
};

struct Failure {
  std::string reason;   // a row of compiler/api/error_table.def
  std::string message;  // for people; never empty
  std::map<std::string, std::string> metadata;
  std::vector<FieldViolation> violations;
  // Blobs that are missing, as "blobs/HASH/SIZE".
  std::vector<std::string> missing_blobs;
  std::vector<QuotaViolation> quota_violations;
  // After which another try may succeed; 0: the usual second, if the reason's
  // row is retryable at all.
  int64_t retry_milliseconds = 0;
};

}  // namespace fold

#endif  // FOLD_SERVER_FAILURE_H_
