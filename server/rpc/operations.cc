#include "server/rpc/operations.h"

#include <algorithm>
#include <charconv>
#include <mutex>

#include "compiler/api/action.h"
#include "compiler/api/sha256.h"
#include "server/rpc/blob_names.h"
#include "server/rpc/cas.h"
#include "server/rpc/compile_request.h"
#include "server/rpc/operation_table.h"
#include "server/rpc/request_id.h"
#include "server/rpc/unary.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
namespace longrunning = google::longrunning;

constexpr std::string_view kCollection = "operations";
constexpr int64_t kPageSize = 100;
constexpr int64_t kMaxPageSize = 1000;

struct OperationName {
  std::string instance;
  std::string action_hash;
};

Failure BadName() {
  Failure failure = {"BAD_REQUEST",
                     "the request is at fault: name must be "
                     "[INSTANCE/]operations/ACTION"};
  failure.violations = {{"name", "must be [INSTANCE/]operations/ACTION"}};
  return failure;
}

// [INSTANCE/]operations; what is behind it is left in `rest`.
bool ReadCollection(std::string_view name, std::string* instance,
                    std::string_view* rest) {
  // The last occurrence: an instance may be called like it.
  size_t at = name.rfind(kCollection);
  if (at == std::string_view::npos) return false;
  if (at > 0 && name[at - 1] != '/') return false;
  *instance = at > 0 ? std::string(name.substr(0, at - 1)) : "";
  *rest = name.substr(at + kCollection.size());
  return IsInstanceName(*instance);
}

std::optional<Failure> ReadName(std::string_view text, OperationName* name) {
  std::string_view rest;
  if (!ReadCollection(text, &name->instance, &rest) || rest.empty() ||
      rest[0] != '/' || !IsSha256Hex(rest.substr(1))) {
    return BadName();
  }
  name->action_hash = rest.substr(1);
  return std::nullopt;
}

void ToOperation(const v1::OperationRecord& record,
                 longrunning::Operation* operation) {
  operation->set_name(
      (record.instance_name().empty() ? "" : record.instance_name() + "/") +
      std::string(kCollection) + "/" + record.action_hash());
  operation->mutable_metadata()->PackFrom(record.metadata());
  if (record.has_error()) {
    *operation->mutable_error() = record.error();
  } else if (record.has_response()) {
    operation->mutable_response()->PackFrom(record.response());
  }
  operation->set_done(record.has_error() || record.has_response());
}

bool IsAdministrator(const Call& call) {
  return call.principal().role >= Role::kAdminister;
}

// An inline model goes to the CAS: the operation must survive a restart.
std::optional<Failure> KeepModel(const ServiceParts& parts,
                                 v1::CompileRequest* request) {
  if (!request->has_model()) return std::nullopt;
  Digest digest = DigestOf(request->model());
  Key key = {Space::kBlob, digest.hash(), request->instance_name()};
  absl::Status status = WriteBlob(parts.blobs, key, request->model());
  if (!status.ok()) return BlobFailure(status, BlobText(digest));
  *request->mutable_model_digest() = std::move(digest);
  return std::nullopt;
}

}  // namespace

grpc::Status StartCompile(Call& call, const v1::CompileRequest& request,
                          longrunning::Operation* response) {
  const ServiceParts& parts = call.parts();
  CompileRequestSpec spec;
  bool repeated = false;
  auto failure = ReadCompileRequest(request, parts, &spec);
  spec.client = call.principal().name;
  spec.trace = call.trace();
  call.Describe(spec.instance, request.request_id(),
                spec.job.action.digest.hash());
  if (!failure) failure = BindRequestId(call, request, &spec, &repeated);
  if (!failure) failure = parts.cache->Recalled(NameOf(spec));
  if (failure) return ToStatus(*failure);
  v1::OperationRecord record;
  // Sent again, it is the same operation, whatever became of it.
  if (repeated && !parts.operations->Get(
                      spec.instance, spec.job.action.digest.hash(), &record)) {
    ToOperation(record, response);
    return grpc::Status::OK;
  }
  v1::CompileRequest kept = request;
  failure = KeepModel(parts, &kept);
  Quota::Grant grant;
  // The call has ended with the reason.
  if (!call.TakeCompile(&grant)) return grpc::Status::CANCELLED;
  spec.quota = std::make_shared<Quota::Grant>(std::move(grant));
  if (!failure) failure = FindAnswerOrInputs(kept, parts, &spec);
  if (!failure) {
    failure = parts.operations->Start(kept, std::move(spec), &record);
  }
  if (failure) return ToStatus(*failure);
  ToOperation(record, response);
  return grpc::Status::OK;
}

grpc::Status GetOperation(Call& call,
                          const longrunning::GetOperationRequest& request,
                          longrunning::Operation* response) {
  OperationName name;
  if (auto failure = ReadName(request.name(), &name)) return ToStatus(*failure);
  if (!call.Admit(name.instance)) return grpc::Status::CANCELLED;
  v1::OperationRecord record;
  auto failure =
      call.parts().operations->Get(name.instance, name.action_hash, &record);
  if (failure) return ToStatus(*failure);
  ToOperation(record, response);
  return grpc::Status::OK;
}

grpc::Status ListOperations(Call& call,
                            const longrunning::ListOperationsRequest& request,
                            longrunning::ListOperationsResponse* response) {
  std::string instance;
  std::string_view rest;
  if (!ReadCollection(request.name(), &instance, &rest) || !rest.empty()) {
    return ToStatus(BadName());
  }
  if (!call.Admit(instance)) return grpc::Status::CANCELLED;
  std::optional<bool> done;
  if (request.filter() == "done" || request.filter() == "running") {
    done = request.filter() == "done";
  } else if (!request.filter().empty()) {
    return ToStatus({"BAD_REQUEST", "filter: must be done, running or empty"});
  }
  int64_t before = 0;
  const std::string& token = request.page_token();
  auto parsed =
      std::from_chars(token.data(), token.data() + token.size(), before);
  if (!token.empty() && (parsed.ec != std::errc() || before <= 0 ||
                         parsed.ptr != token.data() + token.size())) {
    return ToStatus({"BAD_REQUEST", "page_token: is none of this server's"});
  }
  if (request.page_size() < 0) {
    return ToStatus({"BAD_REQUEST", "page_size: must not be negative"});
  }
  int64_t size = request.page_size() == 0
                     ? kPageSize
                     : std::min<int64_t>(request.page_size(), kMaxPageSize);
  auto page = call.parts().operation_store->List(instance, done, size, before);
  if (!page.ok()) {
    return ToStatus({"STORAGE_FAILED", std::string(page.status().message())});
  }
  for (const v1::OperationRecord& record : page->records) {
    ToOperation(record, response->add_operations());
  }
  if (page->next > 0) {
    response->set_next_page_token(std::to_string(page->next));
  }
  return grpc::Status::OK;
}

grpc::Status CancelOperation(Call& call,
                             const longrunning::CancelOperationRequest& request,
                             google::protobuf::Empty*) {
  OperationName name;
  if (auto failure = ReadName(request.name(), &name)) return ToStatus(*failure);
  if (!call.Admit(name.instance)) return grpc::Status::CANCELLED;
  auto failure = call.parts().operations->Cancel(
      name.instance, name.action_hash, call.principal().name,
      IsAdministrator(call));
  return failure ? ToStatus(*failure) : grpc::Status::OK;
}

grpc::Status DeleteOperation(Call& call,
                             const longrunning::DeleteOperationRequest& request,
                             google::protobuf::Empty*) {
  OperationName name;
  if (auto failure = ReadName(request.name(), &name)) return ToStatus(*failure);
  if (!call.Admit(name.instance)) return grpc::Status::CANCELLED;
  auto failure = call.parts().operations->Delete(
      name.instance, name.action_hash, call.principal().name,
      IsAdministrator(call));
  return failure ? ToStatus(*failure) : grpc::Status::OK;
}

namespace {

class WaitHandler : public CallHandler {
 public:
  explicit WaitHandler(Call* call) : call_(call) {}

  void OnMessage(grpc::ByteBuffer* message) override {
    longrunning::WaitOperationRequest request;
    if (!ParseMessage(message, &request)) {
      return call_->Fail(NotOneMessage("cannot be parsed"));
    }
    OperationName name;
    if (auto failure = ReadName(request.name(), &name)) {
      return call_->Fail(*failure);
    }
    if (!call_->Admit(name.instance)) return;
    auto until = OperationTable::Clock::now() + kLongest;
    if (request.has_timeout()) {
      auto seconds =
          std::clamp<int64_t>(request.timeout().seconds(), 0, kLongest.count());
      until = OperationTable::Clock::now() + std::chrono::seconds(seconds) +
              std::chrono::nanoseconds(
                  std::clamp(request.timeout().nanos(), 0, 999'999'999));
    }
    std::lock_guard lock(mutex_);
    ticket_ = call_->parts().operations->Wait(
        name.instance, name.action_hash, until,
        [call = call_->shared_from_this()](
            const std::optional<Failure>& failure,
            const v1::OperationRecord& record) {
          if (failure) return call->Fail(*failure);
          longrunning::Operation operation;
          ToOperation(record, &operation);
          call->WriteAndEnd(operation);
        });
    if (cancelled_) call_->parts().operations->GiveUp(ticket_);
  }
  void OnHalfClose() override { call_->Fail(NotOneMessage("is missing")); }
  void OnCancelled() override {
    std::lock_guard lock(mutex_);
    cancelled_ = true;
    call_->parts().operations->GiveUp(ticket_);
  }

 private:
  // The call's own deadline comes first.
  static constexpr std::chrono::seconds kLongest{86400};
  Call* const call_;
  std::mutex mutex_;
  bool cancelled_ = false;
  int64_t ticket_ = 0;
};

}  // namespace

std::unique_ptr<CallHandler> MakeWaitOperation(Call* call) {
  return std::make_unique<WaitHandler>(call);
}

}  // namespace fold
