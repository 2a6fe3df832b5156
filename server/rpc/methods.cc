#include "server/rpc/methods.h"

#include "proto/foldd/v1/compiler_service.pb.h"
#include "server/rpc/check_target.h"
#include "server/rpc/compile.h"
#include "server/rpc/get_target.h"
#include "server/rpc/list_targets.h"
#include "server/rpc/reflection.h"
#include "server/rpc/resolve.h"
#include "server/rpc/unary.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

constexpr std::string_view kCompiler = "foldd.v1.Compiler";
// As the server's limit for messages says.
constexpr int64_t kLargeMessage = 0;
constexpr int64_t kSmallMessage = 64 << 10;

const Method kMethods[] = {
    {kCompiler, "Compile", Role::kCompile, kLargeMessage, MakeCompile},
    {kCompiler, "Resolve", Role::kRead, kSmallMessage,
     MakeUnary<v1::ResolveRequest, v1::ResolveResponse, Resolve>},
    {kCompiler, "ListTargets", Role::kRead, kSmallMessage,
     MakeUnary<v1::ListTargetsRequest, v1::ListTargetsResponse, ListTargets>},
    {kCompiler, "GetTarget", Role::kRead, kSmallMessage,
     MakeUnary<v1::GetTargetRequest, v1::GetTargetResponse, GetTarget>},
    {kCompiler, "CheckTarget", Role::kRead, kLargeMessage,
     MakeUnary<v1::CheckTargetRequest, v1::CheckTargetResponse, CheckTarget>},
    {"grpc.reflection.v1alpha.ServerReflection", "ServerReflectionInfo",
     Role::kRead, kSmallMessage, MakeReflection},
};

}  // namespace

std::span<const Method> Methods() { return kMethods; }

const Method* FindMethod(std::string_view path) {
  for (const Method& method : kMethods) {
    size_t service = method.service.size();
    if (path.size() == service + method.name.size() + 2 && path[0] == '/' &&
        path.substr(1, service) == method.service && path[service + 1] == '/' &&
        path.substr(service + 2) == method.name) {
      return &method;
    }
  }
  return nullptr;
}

}  // namespace fold
