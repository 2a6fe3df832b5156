// A real server and a real client: who may do what, and what is written down.
#include <filesystem>
#include <fstream>
#include <thread>

#include "compiler/api/action.h"
#include "compiler/api/sha256.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "gtest/gtest.h"
#include "proto/build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "proto/foldd/v1/cache_service.grpc.pb.h"
#include "proto/google/longrunning/operations.grpc.pb.h"
#include "server/rpc/methods.h"
#include "server/testing/server_process.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
namespace longrunning = google::longrunning;
namespace reapi = build::bazel::remote::execution::v2;
namespace v1 = foldd::v1;
using grpc::StatusCode;
using ::testing::HasSubstr;

std::string TokenRow(const std::string& name, const std::string& role,
                     const std::string& instances) {
  return R"({"name": ")" + name + R"(", "role": ")" + role +
         R"(", "instances": [)" + instances + R"(], "sha256": ")" +
         Sha256Hex("token-of-" + name + "-with-enough-bytes") +
         R"(", "expires": "never"})";
}

class AccessServiceTest : public testing::Test {
 protected:
  void Start(std::vector<std::string> flags = {}, int64_t disk_bytes = 0) {
    std::ofstream(tokens_) << R"({"tokens": [)"
                           << TokenRow("reader", "read", R"("")") << ","
                           << TokenRow("ci", "compile", R"("", "team")") << ","
                           << TokenRow("ci2", "compile", R"("")") << ","
                           << TokenRow("other", "compile", R"("rivals")") << ","
                           << TokenRow("ops", "administer", R"("*")") << "]}";
    flags.insert(flags.end(),
                 {"--tokens-file", tokens_, "--http-metrics-open", "true"});
    server_ = std::make_unique<ServerProcess>(
        ServerOptions{data_, std::move(flags), "", disk_bytes});
    if (disk_bytes > 0 && server_->exit_code() == 99) {
      GTEST_SKIP() << "no right to mount a small file system here";
    }
    ASSERT_TRUE(server_->started()) << server_->exit_code();
  }
  static void As(const std::string& name, grpc::ClientContext* context) {
    if (name.empty()) return;
    context->AddMetadata("authorization",
                         "Bearer token-of-" + name + "-with-enough-bytes");
  }
  CompileEnd Compile(const std::string& name, const std::string& script,
                     const std::string& instance = "") {
    v1::CompileRequest request = Script(script);
    request.set_instance_name(instance);
    return server_->Compile(request, 60'000, [&](grpc::ClientContext* context) {
      As(name, context);
    });
  }
  CallEnd Purge(const std::string& name) {
    auto stub = v1::Cache::NewStub(server_->channel());
    grpc::ClientContext context;
    As(name, &context);
    v1::PurgeEntriesRequest request;
    request.set_everything(true);
    v1::PurgeEntriesResponse response;
    return ReadEnd(stub->PurgeEntries(&context, request, &response));
  }
  // All lines of the audit log.
  std::string AuditText() const {
    std::string text;
    for (const auto& file : fs::directory_iterator(data_ + "/audit")) {
      std::ifstream lines(file.path());
      text.append(std::istreambuf_iterator<char>(lines), {});
    }
    return text;
  }

  const std::string data_ = NewFolder("access_service_test");
  const std::string tokens_ = NewFolder("access_tokens") + "/tokens.json";
  std::unique_ptr<ServerProcess> server_;
};

TEST_F(AccessServiceTest, NoMethodIsOpenToStrangers) {
  Start();
  grpc::GenericStub stub(server_->channel());
  for (const Method& method : Methods()) {
    std::string path =
        "/" + std::string(method.service) + "/" + std::string(method.name);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    grpc::ByteBuffer request, response;
    auto call = stub.PrepareUnaryCall(&context, path, request, &queue);
    call->StartCall();
    grpc::Status status;
    call->Finish(&response, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    ASSERT_TRUE(queue.Next(&tag, &ok));
    EXPECT_EQ(status.error_code(), StatusCode::UNAUTHENTICATED) << path;
  }
  EXPECT_EQ(Compile("", "x").reason, "NO_CREDENTIALS");
  EXPECT_EQ(Compile("nobody", "x").reason, "BAD_TOKEN");
}

TEST_F(AccessServiceTest, RolesDecide) {
  Start();
  EXPECT_TRUE(Compile("ci", "x").ok());
  EXPECT_TRUE(Compile("ops", "x").ok());
  CompileEnd end = Compile("reader", "x");
  EXPECT_EQ(end.code, StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(end.reason, "NOT_ALLOWED");
  EXPECT_EQ(Purge("ci").reason, "NOT_ALLOWED");
  EXPECT_EQ(Purge("ops").code, StatusCode::OK);
  // Who may only read may see what there is.
  grpc::ClientContext context;
  As("reader", &context);
  v1::ListTargetsResponse targets;
  EXPECT_TRUE(server_->stub().ListTargets(&context, {}, &targets).ok());
}

TEST_F(AccessServiceTest, InstancesLeakNothing) {
  Start();
  ASSERT_TRUE(Compile("ci", "secret", "team").ok());
  // Not even whether it is there: the same answer as for what never was.
  CompileEnd there = Compile("other", "secret", "team");
  CompileEnd never = Compile("other", "secret", "nothing-of-that-name");
  EXPECT_EQ(there.code, StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(never.code, there.code);
  EXPECT_EQ(never.message, there.message);
  // In an instance of its own the same action is compiled anew.
  CompileEnd own = Compile("other", "secret", "rivals");
  EXPECT_TRUE(own.ok());
  EXPECT_FALSE(own.cached());
  auto cas = reapi::ContentAddressableStorage::NewStub(server_->channel());
  reapi::FindMissingBlobsRequest request;
  reapi::FindMissingBlobsResponse response;
  request.set_instance_name("team");
  *request.add_blob_digests() = DigestOf("x");
  grpc::ClientContext context;
  As("other", &context);
  EXPECT_EQ(ReadEnd(cas->FindMissingBlobs(&context, request, &response)).reason,
            "NOT_ALLOWED");
}

TEST_F(AccessServiceTest, AnOperationIsItsClients) {
  Start();
  auto operations = longrunning::Operations::NewStub(server_->channel());
  longrunning::Operation operation;
  {
    grpc::ClientContext context;
    As("ci", &context);
    ASSERT_TRUE(server_->stub()
                    .StartCompile(&context, Script("sleep 20000"), &operation)
                    .ok());
  }
  auto cancel = [&](const std::string& name) {
    grpc::ClientContext context;
    As(name, &context);
    longrunning::CancelOperationRequest request;
    request.set_name(operation.name());
    google::protobuf::Empty nothing;
    return ReadEnd(operations->CancelOperation(&context, request, &nothing));
  };
  EXPECT_EQ(cancel("other").reason, "NOT_ALLOWED");  // another instance's
  EXPECT_EQ(cancel("reader").reason, "NOT_ALLOWED");
  EXPECT_EQ(cancel("ci2").reason, "NOT_YOUR_OPERATION");
  EXPECT_EQ(cancel("ops").code, StatusCode::OK);
  EXPECT_TRUE(server_->WaitMetric("foldd_jobs{state=\"running\"}", 0));
}

TEST_F(AccessServiceTest, WhatIsDoneIsWrittenDown) {
  Start();
  CompileEnd end = Compile("ci", "x", "team");
  ASSERT_TRUE(end.ok());
  std::string action = end.result.report().action_digest();
  // The line is there when the answer is.
  EXPECT_THAT(AuditText(), HasSubstr(action));
  (void)Compile("reader", "x");
  EXPECT_THAT(AuditText(), HasSubstr("NOT_ALLOWED"));
  ASSERT_EQ(Purge("ops").code, StatusCode::OK);
  EXPECT_THAT(AuditText(), HasSubstr("foldd.v1.Cache/PurgeEntries"));
  EXPECT_THAT(AuditText(), HasSubstr("\"ops\""));
  EXPECT_THAT(AuditText(), ::testing::Not(HasSubstr("enough-bytes")));
  EXPECT_GE(server_->Metric("foldd_audit_records_total{result=\"written\"}"), 3)
      << server_->Get("/metrics");
}

// What is not on the disk is not done; what reads and compiles goes on.
TEST_F(AccessServiceTest, NobodyAdministersWhileTheAuditLogCannotBeWritten) {
  Start({}, 4 << 20);
  if (IsSkipped() || HasFatalFailure()) return;
  ASSERT_TRUE(Compile("ci2", "x").ok());
  ASSERT_EQ(Purge("ops").code, StatusCode::OK);
  ASSERT_TRUE(Compile("ci2", "x").ok());
  // The server's own sight of its disk.
  const std::string filler = server_->OwnPath(data_ + "/filler");
  const auto fill = [&] {
    std::ofstream file(filler, std::ios::binary | std::ios::app);
    const std::string block(4096, 'f');
    while (file.write(block.data(), 4096) && file.flush()) {
    }
  };
  // The log's last page has room for some lines, and what is purged gives some.
  CallEnd end;
  for (int i = 0; i < 100 && end.reason.empty(); ++i) {
    fill();
    end = Purge("ops");
  }
  EXPECT_EQ(end.reason, "AUDIT_UNAVAILABLE") << end.message;
  EXPECT_EQ(end.code, StatusCode::UNAVAILABLE);
  EXPECT_TRUE(end.retry);
  EXPECT_EQ(Compile("reader", "x").reason, "NOT_ALLOWED");
  EXPECT_GE(server_->Metric("foldd_audit_records_total{result=\"lost\"}"), 1);
  fs::remove(filler);
  EXPECT_EQ(Purge("ops").code, StatusCode::OK);
}

TEST_F(AccessServiceTest, AQuotaIsEachClientsOwn) {
  Start({"--quota-compiles", "1", "--workers", "2"});
  std::thread busy([&] { (void)Compile("ci", "sleep 2500"); });
  ASSERT_TRUE(server_->WaitMetric("foldd_jobs{state=\"running\"}", 1));
  CompileEnd end = Compile("ci", "second");
  EXPECT_EQ(end.code, StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(end.reason, "QUOTA_EXCEEDED");
  EXPECT_TRUE(end.retry);
  EXPECT_TRUE(Compile("ops", "second").ok());
  busy.join();
  EXPECT_TRUE(Compile("ci", "third").ok());
}

TEST_F(AccessServiceTest, RequestsASecondAreBounded) {
  Start({"--quota-requests-per-second", "2"});
  int refused = 0;
  for (int i = 0; i < 6; ++i) {
    grpc::ClientContext context;
    As("reader", &context);
    v1::ListTargetsResponse targets;
    CallEnd end = ReadEnd(server_->stub().ListTargets(&context, {}, &targets));
    refused += end.reason == "QUOTA_EXCEEDED";
  }
  EXPECT_GE(refused, 3);
  grpc::ClientContext context;
  As("ops", &context);
  v1::ListTargetsResponse targets;
  EXPECT_TRUE(server_->stub().ListTargets(&context, {}, &targets).ok());
}

TEST_F(AccessServiceTest, OffLoopbackItDoesNotStartWithoutAuthentication) {
  ServerOptions options{data_ + "/x", {"--listen", "0.0.0.0:0"}};
  fs::create_directories(options.data);
  ServerProcess refused(options);
  EXPECT_FALSE(refused.started());
  EXPECT_EQ(refused.exit_code(), 2);
  options.flags.insert(
      options.flags.end(),
      {"--insecure-without-authentication", "anyone may do anything"});
  ServerProcess told(options);
  EXPECT_TRUE(told.started());
}

}  // namespace
}  // namespace fold
