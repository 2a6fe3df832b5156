// The metrics of one RPC, from its begin to its end.
#ifndef FOLD_SERVER_RPC_CALL_RECORD_H_
#define FOLD_SERVER_RPC_CALL_RECORD_H_

#include <chrono>
#include <string>

#include "grpcpp/support/status.h"
#include "server/metrics.h"
#include "server/rpc/status.h"

namespace fold {

class CallRecord {
 public:
  CallRecord(Metrics* metrics, std::string method)
      : metrics_(metrics), method_(std::move(method)) {
    metrics_->Count(Metric::kRpcStarted, {kService, method_});
  }
  void End(grpc::StatusCode code) {
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start_;
    metrics_->Count(Metric::kRpcHandled, {kService, method_, CodeName(code)});
    metrics_->Observe(Metric::kRpcSeconds, {kService, method_}, took.count());
  }

 private:
  static constexpr char kService[] = "foldd.v1.Compiler";
  Metrics* metrics_;
  std::string method_;
  std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
};

}  // namespace fold

#endif  // FOLD_SERVER_RPC_CALL_RECORD_H_
