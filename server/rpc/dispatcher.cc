#include "server/rpc/dispatcher.h"

#include "server/rpc/call.h"
#include "server/rpc/methods.h"

namespace fold {
namespace {

// Names in metrics must be few: all that is unknown is one method.
constexpr Method kUnknown = {"unknown", "unknown"};

}  // namespace

grpc::ServerGenericBidiReactor* Dispatcher::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  const Method* method = FindMethod(context->method());
  auto call = std::make_shared<Call>(&parts_, context,
                                     method != nullptr ? method : &kUnknown);
  call->Begin();
  return call.get();
}

}  // namespace fold
