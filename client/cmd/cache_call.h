// A call of foldd.v1.Cache, as CallCache(flags, &Stub::PinEntry, request,
// &response).
#ifndef FOLD_CLIENT_CMD_CACHE_CALL_H_
#define FOLD_CLIENT_CMD_CACHE_CALL_H_

#include <memory>
#include <optional>
#include <string>

#include "client/cmd/command.h"
#include "compiler/api/error_table.h"
#include "grpcpp/grpcpp.h"
#include "proto/foldd/v1/cache_service.grpc.pb.h"

namespace fold {

template <typename Request, typename Response>
std::optional<ClientError> CallCache(
    const ServerFlags& server,
    grpc::Status (foldd::v1::Cache::Stub::*method)(grpc::ClientContext*,
                                                   const Request&, Response*),
    const Request& request, Response* response) {
  std::unique_ptr<Client> client;
  std::string error = ConnectClient(server, &client);
  if (!error.empty()) return ClientError{kExitUsage, "BAD_REQUEST", error};
  auto stub = foldd::v1::Cache::NewStub(client->channel());
  grpc::ClientContext context;
  client->SetUp(&context);
  grpc::Status status = (stub.get()->*method)(&context, request, response);
  if (status.ok()) return std::nullopt;
  return ReadStatus(status);
}

}  // namespace fold

#endif  // FOLD_CLIENT_CMD_CACHE_CALL_H_
