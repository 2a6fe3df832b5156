// Every call but those of grpc.health.v1 comes in here, whatever its method:
// one place that identifies callers, bounds what they hold, and records them.
#ifndef FOLD_SERVER_RPC_DISPATCHER_H_
#define FOLD_SERVER_RPC_DISPATCHER_H_

#include "grpcpp/generic/async_generic_service.h"
#include "server/rpc/service_parts.h"

namespace fold {

class Dispatcher : public grpc::CallbackGenericService {
 public:
  explicit Dispatcher(ServiceParts parts) : parts_(std::move(parts)) {}
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;

 private:
  const ServiceParts parts_;
};

}  // namespace fold

#endif  // FOLD_SERVER_RPC_DISPATCHER_H_
