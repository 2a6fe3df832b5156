#include "server/rpc/unary.h"

namespace fold {

Failure NotOneMessage(const char* what) {
  return {"BAD_REQUEST", std::string("the request's message ") + what};
}

}  // namespace fold
