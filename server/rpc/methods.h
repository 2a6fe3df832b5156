// The table of all methods that the server has, but for grpc.health.v1.
#ifndef FOLD_SERVER_RPC_METHODS_H_
#define FOLD_SERVER_RPC_METHODS_H_

#include <span>
#include <string_view>

#include "server/rpc/call.h"

namespace fold {

std::span<const Method> Methods();
// `path` as in HTTP/2, "/foldd.v1.Compiler/Compile"; nullptr: no such method.
const Method* FindMethod(std::string_view path);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_METHODS_H_
