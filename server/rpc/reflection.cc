#include "server/rpc/reflection.h"

#include <set>
#include <string>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "proto/grpc/health/v1/health.pb.h"
#include "proto/grpc/reflection/v1alpha/reflection.pb.h"
#include "server/rpc/methods.h"
#include "server/rpc/unary.h"

namespace fold {
namespace {

namespace api = grpc::reflection::v1alpha;
using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;

// The file and what it imports, each once.
void AddFile(const FileDescriptor* file, std::set<std::string>* seen,
             api::FileDescriptorResponse* out) {
  if (!seen->insert(file->name()).second) return;
  google::protobuf::FileDescriptorProto proto;
  file->CopyTo(&proto);
  out->add_file_descriptor_proto(proto.SerializeAsString());
  for (int i = 0; i < file->dependency_count(); ++i) {
    AddFile(file->dependency(i), seen, out);
  }
}

void AnswerFile(const FileDescriptor* file,
                api::ServerReflectionResponse* response) {
  if (file == nullptr) {
    response->mutable_error_response()->set_error_code(
        grpc::StatusCode::NOT_FOUND);
    response->mutable_error_response()->set_error_message(
        "nothing of that name");
    return;
  }
  std::set<std::string> seen;
  AddFile(file, &seen, response->mutable_file_descriptor_response());
}

void ListServices(api::ServerReflectionResponse* response) {
  std::set<std::string> names = {"grpc.health.v1.Health"};
  for (const Method& method : Methods()) {
    names.emplace(method.service);
  }
  for (const std::string& name : names) {
    response->mutable_list_services_response()->add_service()->set_name(name);
  }
}

api::ServerReflectionResponse AnswerQuestion(
    const api::ServerReflectionRequest& request) {
  api::ServerReflectionResponse response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  const DescriptorPool* pool = DescriptorPool::generated_pool();
  switch (request.message_request_case()) {
    case api::ServerReflectionRequest::kListServices:
      ListServices(&response);
      break;
    case api::ServerReflectionRequest::kFileByFilename:
      AnswerFile(pool->FindFileByName(request.file_by_filename()), &response);
      break;
    case api::ServerReflectionRequest::kFileContainingSymbol:
      AnswerFile(
          pool->FindFileContainingSymbol(request.file_containing_symbol()),
          &response);
      break;
    case api::ServerReflectionRequest::kAllExtensionNumbersOfType:
      response.mutable_all_extension_numbers_response()->set_base_type_name(
          request.all_extension_numbers_of_type());
      break;
    default:
      AnswerFile(nullptr, &response);
  }
  return response;
}

class ReflectionHandler : public CallHandler {
 public:
  explicit ReflectionHandler(Call* call) : call_(call) {}
  void OnMessage(grpc::ByteBuffer* message) override {
    api::ServerReflectionRequest request;
    if (!ParseMessage(message, &request)) {
      return call_->Fail(NotOneMessage("cannot be parsed"));
    }
    call_->Write(AnswerQuestion(request));
  }
  void OnWritten() override { call_->Read(); }
  void OnHalfClose() override { call_->End(grpc::Status::OK); }

 private:
  Call* const call_;
};

}  // namespace

std::unique_ptr<CallHandler> MakeReflection(Call* call) {
  // Named here, so that it is linked and can be described.
  (void)grpc::health::v1::HealthCheckRequest::descriptor();
  return std::make_unique<ReflectionHandler>(call);
}

}  // namespace fold
