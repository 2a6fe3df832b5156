// foldctl operations: what compiles that were started with --detach have come
// to.
#include <algorithm>
#include <cstdio>

#include "client/blob_transfer.h"
#include "client/cmd/command.h"
#include "compiler/api/convert.h"
#include "compiler/api/error_table.h"
#include "compiler/api/report_file.h"
#include "grpcpp/grpcpp.h"
#include "proto/google/longrunning/operations.grpc.pb.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
namespace longrunning = google::longrunning;
using Stub = longrunning::Operations::Stub;

constexpr char kUsage[] =
    "usage: foldctl operations list [--server A] [--state done|running]\n"
    "       foldctl operations get NAME\n"
    "       foldctl operations wait NAME [-o FILE] [--report FILE]\n"
    "       foldctl operations cancel NAME\n"
    "       foldctl operations delete NAME";

struct OperationFlags {
  ServerFlags server;
  std::string state;
  std::string output_path;
  std::string report_path;
};

std::string StateOf(const longrunning::Operation& operation) {
  v1::CompileOperationMetadata metadata;
  operation.metadata().UnpackTo(&metadata);
  if (operation.has_error()) {
    return "failed: " + operation.error().message();
  }
  if (operation.done()) return "done";
  if (metadata.stage() == v1::CompileOperationMetadata::QUEUED) return "queued";
  const v1::Progress& progress = metadata.progress();
  if (progress.pass_total() == 0) return "running";
  return "running [" + std::to_string(progress.pass_index() + 1) + "/" +
         std::to_string(progress.pass_total()) + "] " + progress.pass_name();
}

void Print(const longrunning::Operation& operation) {
  std::printf("%s  %s\n", operation.name().c_str(), StateOf(operation).c_str());
}

// What an operation failed with, as its call would have.
ClientError ErrorOf(const longrunning::Operation& operation) {
  const google::rpc::Status& error = operation.error();
  return ReadStatus({static_cast<grpc::StatusCode>(error.code()),
                     error.message(), error.SerializeAsString()});
}

class OperationCalls {
 public:
  OperationCalls(const OperationFlags& flags, Client* client)
      : flags_(flags),
        client_(*client),
        stub_(longrunning::Operations::NewStub(client_.channel())) {}

  int List() {
    longrunning::ListOperationsRequest request;
    const std::string& instance = flags_.server.instance;
    request.set_name((instance.empty() ? "" : instance + "/") + "operations");
    request.set_filter(flags_.state);
    do {
      longrunning::ListOperationsResponse response;
      grpc::ClientContext context;
      client_.SetUp(&context);
      grpc::Status status = stub_->ListOperations(&context, request, &response);
      if (!status.ok()) return CallError(ReadStatus(status));
      for (const auto& operation : response.operations()) Print(operation);
      request.set_page_token(response.next_page_token());
    } while (!request.page_token().empty());
    return kExitDone;
  }

  int Get(const std::string& name) {
    longrunning::GetOperationRequest request;
    request.set_name(name);
    longrunning::Operation operation;
    grpc::ClientContext context;
    client_.SetUp(&context);
    grpc::Status status = stub_->GetOperation(&context, request, &operation);
    if (!status.ok()) return CallError(ReadStatus(status));
    Print(operation);
    return kExitDone;
  }

  // Waits through restarts of the server: the operation survives them.
  int Wait(const std::string& name) {
    longrunning::WaitOperationRequest request;
    request.set_name(name);
    longrunning::Operation operation;
    for (int broken = 0; !operation.done();) {
      grpc::ClientContext context;
      client_.SetUp(&context);
      context.set_wait_for_ready(true);
      grpc::Status status = stub_->WaitOperation(&context, request, &operation);
      if (status.ok()) {
        broken = 0;
      } else if (status.error_code() != grpc::StatusCode::UNAVAILABLE ||
                 ++broken > kMostBroken) {
        return CallError(ReadStatus(status));
      }
    }
    if (operation.has_error()) return CallError(ErrorOf(operation));
    return Fetch(operation);
  }

  int Cancel(const std::string& name) {
    longrunning::CancelOperationRequest request;
    request.set_name(name);
    google::protobuf::Empty nothing;
    grpc::ClientContext context;
    client_.SetUp(&context);
    grpc::Status status = stub_->CancelOperation(&context, request, &nothing);
    return status.ok() ? int{kExitDone} : CallError(ReadStatus(status));
  }

  int Delete(const std::string& name) {
    longrunning::DeleteOperationRequest request;
    request.set_name(name);
    google::protobuf::Empty nothing;
    grpc::ClientContext context;
    client_.SetUp(&context);
    grpc::Status status = stub_->DeleteOperation(&context, request, &nothing);
    return status.ok() ? int{kExitDone} : CallError(ReadStatus(status));
  }

 private:
  static constexpr int kMostBroken = 100;

  int Fetch(const longrunning::Operation& operation) {
    v1::CompileOperationResponse response;
    if (!operation.response().UnpackTo(&response)) {
      return CallError({kExitInternal,
                        "PROTOCOL",
                        "the operation's response is of no known type",
                        {},
                        0});
    }
    std::fputs(response.result().dump().c_str(), stdout);
    if (!flags_.output_path.empty()) {
      std::string artifact;
      // The name says which namespace it is in.
      size_t slash = operation.name().rfind("operations/");
      std::string instance =
          slash > 0 ? operation.name().substr(0, slash - 1) : "";
      BlobTransfer transfer(client_.channel(), instance);
      auto error =
          transfer.Download(response.artifact(), [&](std::string_view piece) {
            artifact += piece;
            return std::string();
          });
      if (error) return CallError(*error);
      std::string fault = WriteFileAtomically(flags_.output_path, artifact);
      if (!fault.empty()) return Failed(fault);
    }
    if (!flags_.report_path.empty()) {
      std::string fault =
          WriteReportFile(flags_.report_path, response.result().report());
      if (!fault.empty()) return Failed(fault);
    }
    if (flags_.output_path.empty()) Print(operation);
    return kExitDone;
  }

  static int Failed(const std::string& fault) {
    std::fprintf(stderr, "foldctl: %s\n", fault.c_str());
    return kExitInternal;
  }

  const OperationFlags flags_;
  Client& client_;
  std::unique_ptr<Stub> stub_;
};

}  // namespace

int OperationsCommand(std::span<const std::string> arguments) {
  OperationFlags flags;
  bool help = false;
  std::vector<Flag> table = ServerFlagTable(&flags.server);
  table.push_back(
      {"--state", "STATE", "list: done or running", SetText(&flags.state)});
  table.push_back(
      {"-o", "FILE", "wait: the artifact", SetText(&flags.output_path)});
  table.push_back(
      {"--report", "FILE", "wait: the report", SetText(&flags.report_path)});
  table.push_back({"--help", "", "print this", SetSwitch(&help)});
  ParsedLine line = ParseLine(arguments, table);
  if (help) {
    std::printf("%s\n%s", kUsage, FlagHelp(table).c_str());
    return kExitDone;
  }
  if (!line.error.empty()) return UsageError(line.error);
  const auto& words = line.positional;
  std::unique_ptr<Client> client = OpenClient(flags.server);
  if (client == nullptr) return kExitUsage;
  OperationCalls calls(flags, client.get());
  if (words.size() == 1 && words[0] == "list") return calls.List();
  if (words.size() == 2) {
    if (words[0] == "get") return calls.Get(words[1]);
    if (words[0] == "wait") return calls.Wait(words[1]);
    if (words[0] == "cancel") return calls.Cancel(words[1]);
    if (words[0] == "delete") return calls.Delete(words[1]);
  }
  return UsageError(kUsage);
}

}  // namespace fold
