// Compile: check the request, look into the cache, join or start the compile,
// stream what it says and then its result.
#ifndef FOLD_SERVER_RPC_COMPILE_H_
#define FOLD_SERVER_RPC_COMPILE_H_

#include <memory>

#include "server/rpc/call.h"

namespace fold {

std::unique_ptr<CallHandler> MakeCompile(Call* call);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_COMPILE_H_
