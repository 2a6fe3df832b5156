// Handlers of unary RPCs: a function of the request that may block.
#ifndef FOLD_SERVER_RPC_UNARY_H_
#define FOLD_SERVER_RPC_UNARY_H_

#include <memory>

#include "server/rpc/call.h"
#include "server/rpc/status.h"

namespace fold {

Failure NotOneMessage(const char* what);

template <typename Request, typename Response>
class UnaryHandler : public CallHandler {
 public:
  using Function = grpc::Status (*)(Call& call, const Request& request,
                                    Response* response);
  UnaryHandler(Call* call, Function function)
      : call_(call), function_(function) {}

  void OnMessage(grpc::ByteBuffer* message) override {
    if (!ParseMessage(message, &request_)) {
      return call_->Fail(NotOneMessage("cannot be parsed"));
    }
    call_->Run([this] {
      if constexpr (requires { request_.instance_name(); }) {
        if (!call_->Admit(request_.instance_name())) return;
      }
      if (call_->method().audited && !call_->Audit()) return;
      Response response;
      grpc::Status status = function_(*call_, request_, &response);
      if (status.ok()) {
        call_->WriteAndEnd(response);
      } else {
        call_->End(std::move(status));
      }
    });
  }
  void OnHalfClose() override { call_->Fail(NotOneMessage("is missing")); }

 private:
  Call* const call_;
  const Function function_;
  Request request_;
};

template <typename Request, typename Response,
          grpc::Status (*function)(Call&, const Request&, Response*)>
std::unique_ptr<CallHandler> MakeUnary(Call* call) {
  return std::make_unique<UnaryHandler<Request, Response>>(call, function);
}

}  // namespace fold

#endif  // FOLD_SERVER_RPC_UNARY_H_
