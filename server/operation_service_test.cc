// A real server and a real client: long work, and requests sent twice.
#include <signal.h>

#include <filesystem>
#include <thread>

#include "client/blob_transfer.h"
#include "compiler/api/action.h"
#include "compiler/api/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/google/longrunning/operations.grpc.pb.h"
#include "server/testing/server_process.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
namespace longrunning = google::longrunning;
namespace v1 = foldd::v1;
using grpc::StatusCode;
using ::testing::HasSubstr;

constexpr char kRunning[] = "foldd_jobs{state=\"running\"}";
constexpr char kCompiles[] = "foldd_compile_duration_seconds_count";

class OperationServiceTest : public testing::Test {
 protected:
  void SetUp() override { Start(); }
  void Start(std::vector<std::string> flags = {}) {
    server_.reset();
    server_ =
        std::make_unique<ServerProcess>(ServerOptions{data_, std::move(flags)});
    ASSERT_TRUE(server_->started()) << server_->exit_code();
    stub_ = longrunning::Operations::NewStub(server_->channel());
  }
  CallEnd StartCompile(const v1::CompileRequest& request,
                       longrunning::Operation* operation) {
    grpc::ClientContext context;
    return ReadEnd(server_->stub().StartCompile(&context, request, operation));
  }
  CallEnd Get(const std::string& name, longrunning::Operation* operation) {
    grpc::ClientContext context;
    longrunning::GetOperationRequest request;
    request.set_name(name);
    return ReadEnd(stub_->GetOperation(&context, request, operation));
  }
  CallEnd Wait(const std::string& name, longrunning::Operation* operation,
               double seconds = 60) {
    grpc::ClientContext context;
    longrunning::WaitOperationRequest request;
    request.set_name(name);
    request.mutable_timeout()->set_seconds(static_cast<int64_t>(seconds));
    request.mutable_timeout()->set_nanos(
        static_cast<int32_t>((seconds - static_cast<int>(seconds)) * 1e9));
    return ReadEnd(stub_->WaitOperation(&context, request, operation));
  }
  CallEnd Cancel(const std::string& name) {
    grpc::ClientContext context;
    longrunning::CancelOperationRequest request;
    request.set_name(name);
    google::protobuf::Empty nothing;
    return ReadEnd(stub_->CancelOperation(&context, request, &nothing));
  }
  CallEnd Delete(const std::string& name) {
    grpc::ClientContext context;
    longrunning::DeleteOperationRequest request;
    request.set_name(name);
    google::protobuf::Empty nothing;
    return ReadEnd(stub_->DeleteOperation(&context, request, &nothing));
  }
  std::vector<std::string> List(const std::string& filter, int page_size = 0) {
    std::vector<std::string> names;
    longrunning::ListOperationsRequest request;
    request.set_name("operations");
    request.set_filter(filter);
    request.set_page_size(page_size);
    do {
      longrunning::ListOperationsResponse response;
      grpc::ClientContext context;
      EXPECT_TRUE(stub_->ListOperations(&context, request, &response).ok());
      for (const auto& one : response.operations()) names.push_back(one.name());
      request.set_page_token(response.next_page_token());
    } while (!request.page_token().empty());
    return names;
  }
  static v1::CompileOperationMetadata MetadataOf(
      const longrunning::Operation& operation) {
    v1::CompileOperationMetadata metadata;
    EXPECT_TRUE(operation.metadata().UnpackTo(&metadata));
    return metadata;
  }
  static v1::CompileOperationResponse ResponseOf(
      const longrunning::Operation& operation) {
    v1::CompileOperationResponse response;
    EXPECT_TRUE(operation.response().UnpackTo(&response));
    return response;
  }

  std::string data_ = NewFolder("operation_service_test");
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<longrunning::Operations::Stub> stub_;
};

// The database and its journal, over what is there.
void MoveOperations(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  for (const char* name :
       {"operations.db", "operations.db-wal", "operations.db-shm"}) {
    fs::remove(to / name);
    if (fs::exists(from / name)) fs::rename(from / name, to / name);
  }
}

TEST_F(OperationServiceTest, GoesOnWithoutItsCallerAndIsNamedByItsAction) {
  longrunning::Operation operation;
  CallEnd end = StartCompile(
      Script("progress 3\ndiagnostic float_island n\nsleep 1500\nsize 5000"),
      &operation);
  ASSERT_EQ(end.code, StatusCode::OK) << end.message;
  EXPECT_FALSE(operation.done());
  EXPECT_EQ(operation.name(),
            "operations/" + MetadataOf(operation).action_digest().hash());
  ASSERT_TRUE(server_->WaitMetric(kRunning, 1));
  // Not done in time: the state as it is.
  ASSERT_EQ(Wait(operation.name(), &operation, 0.2).code, StatusCode::OK);
  EXPECT_FALSE(operation.done());
  EXPECT_THAT(List("running"), ::testing::ElementsAre(operation.name()));
  EXPECT_EQ(server_->Metric("foldd_operations"), 1);
  ASSERT_EQ(Wait(operation.name(), &operation).code, StatusCode::OK);
  ASSERT_TRUE(operation.done());
  ASSERT_TRUE(operation.has_response()) << operation.error().message();
  v1::CompileOperationMetadata metadata = MetadataOf(operation);
  EXPECT_EQ(metadata.stage(), v1::CompileOperationMetadata::DONE);
  EXPECT_EQ(metadata.progress().pass_total(), 3);
  EXPECT_EQ(metadata.diagnostics(0).code(), "float_island");
  EXPECT_TRUE(metadata.has_start_time());
  EXPECT_TRUE(metadata.has_end_time());
  EXPECT_THAT(List("running"), ::testing::IsEmpty());
  EXPECT_THAT(List("done"), ::testing::SizeIs(1));

  v1::CompileOperationResponse response = ResponseOf(operation);
  EXPECT_EQ(response.artifact().size_bytes(), 5000);
  std::string artifact;
  BlobTransfer transfer(server_->channel(), "");
  auto error = transfer.Download(response.artifact(), [&](auto piece) {
    artifact += piece;
    return std::string();
  });
  ASSERT_FALSE(error.has_value()) << error->message;
  EXPECT_EQ(artifact.size(), 5000u);
  // The call that streams is answered from the same cache.
  EXPECT_TRUE(server_
                  ->Compile(Script("progress 3\ndiagnostic float_island "
                                   "n\nsleep 1500\nsize 5000"))
                  .cached());
}

TEST_F(OperationServiceTest, ARestartLosesNothing) {
  v1::CompileRequest request = Script("sleep 3000\nsize 2000");
  v1::CompileRequest waits = Script("second\nsize 100");
  Start({"--workers", "1"});
  longrunning::Operation first, second;
  ASSERT_EQ(StartCompile(request, &first).code, StatusCode::OK);
  ASSERT_EQ(StartCompile(waits, &second).code, StatusCode::OK);
  ASSERT_TRUE(server_->WaitMetric(kRunning, 1));
  server_->Signal(SIGKILL);
  server_->Wait();
  Start({"--workers", "1"});
  // Nobody asks for them again; they end all the same.
  ASSERT_EQ(Wait(first.name(), &first).code, StatusCode::OK);
  ASSERT_TRUE(first.has_response()) << first.error().message();
  ASSERT_EQ(Wait(second.name(), &second).code, StatusCode::OK);
  ASSERT_TRUE(second.has_response()) << second.error().message();
  EXPECT_EQ(ResponseOf(first).artifact().size_bytes(), 2000);
  // And one that ended is still known after another restart.
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait(), 0);
  Start();
  ASSERT_EQ(Get(first.name(), &first).code, StatusCode::OK);
  EXPECT_TRUE(first.has_response());
  EXPECT_EQ(server_->Metric(kCompiles), -1);
}

TEST_F(OperationServiceTest, AnAnswerThatIsLostWhileItWaitsIsStillTheAnswer) {
  Start({"--workers", "1", "--memory-cache-bytes", "0"});
  CompileEnd known = server_->Compile(Script("size 5000"));
  ASSERT_TRUE(known.ok());
  longrunning::Operation busy, operation;
  ASSERT_EQ(StartCompile(Script("sleep 1500"), &busy).code, StatusCode::OK);
  ASSERT_TRUE(server_->WaitMetric(kRunning, 1));
  ASSERT_EQ(StartCompile(Script("size 5000"), &operation).code, StatusCode::OK);
  std::string hash = Sha256Hex(known.artifact);
  ASSERT_TRUE(fs::remove(BlobFile(data_, hash)));
  ASSERT_EQ(Wait(operation.name(), &operation).code, StatusCode::OK);
  ASSERT_TRUE(operation.has_response()) << operation.error().message();
  EXPECT_EQ(ResponseOf(operation).artifact().hash(), hash);
}

TEST_F(OperationServiceTest, WhatIsAnsweredNeedsNoInputsInTheNextServer) {
  const std::string script = "sleep 1500\nsize 2000";
  longrunning::Operation operation;
  ASSERT_EQ(StartCompile(Script(script), &operation).code, StatusCode::OK);
  ASSERT_TRUE(server_->WaitMetric(kRunning, 1));
  server_->Signal(SIGKILL);
  server_->Wait();
  // Compiled meanwhile, where no operation is known.
  MoveOperations(data_, data_ + "/kept");
  Start();
  ASSERT_TRUE(server_->Compile(Script(script)).ok());
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait(), 0);
  MoveOperations(data_ + "/kept", data_);
  ASSERT_TRUE(fs::remove(BlobFile(data_, Sha256Hex(script))));
  Start();
  ASSERT_EQ(Wait(operation.name(), &operation).code, StatusCode::OK);
  ASSERT_TRUE(operation.has_response()) << operation.error().message();
  EXPECT_EQ(ResponseOf(operation).artifact().size_bytes(), 2000);
}

TEST_F(OperationServiceTest, WhatIsDrainedGoesOnInTheNextServer) {
  Start({"--drain-seconds", "0"});
  longrunning::Operation operation;
  ASSERT_EQ(StartCompile(Script("sleep 2000\nsize 70"), &operation).code,
            StatusCode::OK);
  ASSERT_TRUE(server_->WaitMetric(kRunning, 1));
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait(), 0);
  Start();
  ASSERT_EQ(Wait(operation.name(), &operation).code, StatusCode::OK);
  EXPECT_TRUE(operation.has_response()) << operation.error().message();
}

TEST_F(OperationServiceTest, AFailureIsInTheOperation) {
  longrunning::Operation operation;
  ASSERT_EQ(
      StartCompile(Script("diagnostic bad_scale q1\nexit 3"), &operation).code,
      StatusCode::OK);
  ASSERT_EQ(Wait(operation.name(), &operation).code, StatusCode::OK);
  ASSERT_TRUE(operation.has_error());
  CallEnd end = ReadEnd({static_cast<StatusCode>(operation.error().code()),
                         operation.error().message(),
                         operation.error().SerializeAsString()});
  EXPECT_EQ(end.code, StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(end.reason, "BAD_SCALE");
  EXPECT_EQ(end.metadata.at("node"), "q1");
  // It is not an answer: who starts it again has it compiled again.
  ASSERT_EQ(
      StartCompile(Script("diagnostic bad_scale q1\nexit 3"), &operation).code,
      StatusCode::OK);
  EXPECT_FALSE(operation.done());
  ASSERT_EQ(Wait(operation.name(), &operation).code, StatusCode::OK);
  EXPECT_EQ(server_->Metric(kCompiles), 2);
}

TEST_F(OperationServiceTest, CancelledByItsClientTheJobDies) {
  longrunning::Operation operation;
  ASSERT_EQ(StartCompile(Script("sleep 30000"), &operation).code,
            StatusCode::OK);
  ASSERT_TRUE(server_->WaitMetric(kRunning, 1));
  EXPECT_EQ(Cancel(operation.name()).code, StatusCode::OK);
  EXPECT_TRUE(server_->WaitMetric(kRunning, 0));
  ASSERT_EQ(Wait(operation.name(), &operation).code, StatusCode::OK);
  EXPECT_EQ(operation.error().code(), StatusCode::CANCELLED);
  EXPECT_EQ(ReadEnd({StatusCode::CANCELLED, operation.error().message(),
                     operation.error().SerializeAsString()})
                .reason,
            "OPERATION_CANCELLED");
  EXPECT_EQ(Cancel(operation.name()).code, StatusCode::OK);  // has ended
}

TEST_F(OperationServiceTest, ACancelDoesNotHitThoseInCallsOfTheirOwn) {
  longrunning::Operation operation;
  ASSERT_EQ(StartCompile(Script("sleep 1500\nsize 99"), &operation).code,
            StatusCode::OK);
  CompileEnd end;
  std::thread call(
      [&] { end = server_->Compile(Script("sleep 1500\nsize 99")); });
  ASSERT_TRUE(server_->WaitMetric("foldd_job_joins_total", 1));
  EXPECT_EQ(Cancel(operation.name()).code, StatusCode::OK);
  call.join();
  EXPECT_TRUE(end.ok()) << end.message;
  ASSERT_EQ(Get(operation.name(), &operation).code, StatusCode::OK);
  EXPECT_TRUE(operation.has_error());
}

TEST_F(OperationServiceTest, DeletedItIsForgotten) {
  longrunning::Operation operation;
  ASSERT_EQ(StartCompile(Script("sleep 20000"), &operation).code,
            StatusCode::OK);
  ASSERT_TRUE(server_->WaitMetric(kRunning, 1));
  CallEnd waited;
  longrunning::Operation last;
  std::thread waiter([&] { waited = Wait(operation.name(), &last); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(Delete(operation.name()).code, StatusCode::OK);
  waiter.join();
  EXPECT_TRUE(waited.code == StatusCode::OK || waited.reason == "NO_OPERATION");
  EXPECT_EQ(Get(operation.name(), &operation).reason, "NO_OPERATION");
  EXPECT_EQ(Delete(operation.name()).code, StatusCode::NOT_FOUND);
  EXPECT_EQ(Wait("operations/" + std::string(64, 'a'), &operation).code,
            StatusCode::NOT_FOUND);
  EXPECT_TRUE(server_->WaitMetric(kRunning, 0));
}

TEST_F(OperationServiceTest, ManyAreListedInPages) {
  for (int i = 0; i < 7; ++i) {
    longrunning::Operation operation;
    ASSERT_EQ(
        StartCompile(Script("size " + std::to_string(i)), &operation).code,
        StatusCode::OK);
    ASSERT_EQ(Wait(operation.name(), &operation).code, StatusCode::OK);
  }
  std::vector<std::string> names = List("", 3);
  EXPECT_EQ(names.size(), 7u);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 7u);
}

TEST_F(OperationServiceTest, ABlindRetryIsTheSameRequest) {
  v1::CompileRequest request = Script("size 50");
  request.set_skip_cache_lookup(true);
  request.set_request_id("0d9fbc4e-0000-4000-8000-000000000001");
  EXPECT_FALSE(server_->Compile(request).cached());
  // Sent again, it takes what the first one made, though it asks for fresh.
  EXPECT_TRUE(server_->Compile(request).cached());
  EXPECT_EQ(server_->Metric(kCompiles), 1);
  longrunning::Operation first, second;
  request.set_request_id("0d9fbc4e-0000-4000-8000-000000000002");
  ASSERT_EQ(StartCompile(request, &first).code, StatusCode::OK);
  ASSERT_EQ(Wait(first.name(), &first).code, StatusCode::OK);
  ASSERT_EQ(StartCompile(request, &second).code, StatusCode::OK);
  EXPECT_TRUE(second.done());
  EXPECT_EQ(server_->Metric(kCompiles), 2);
  // Under another content it is an error, and nothing is compiled.
  v1::CompileRequest other = Script("size 51");
  other.set_request_id(request.request_id());
  CompileEnd end = server_->Compile(other);
  EXPECT_EQ(end.code, StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(end.reason, "REQUEST_ID_REUSED");
  EXPECT_EQ(StartCompile(other, &second).reason, "REQUEST_ID_REUSED");
  request.set_request_id(std::string(65, 'x'));
  EXPECT_THAT(server_->Compile(request).fields,
              ::testing::ElementsAre("request_id"));
}

TEST_F(OperationServiceTest, QueueAndRunHaveLimitsOfTheirOwn) {
  Start({"--workers", "1"});
  v1::CompileRequest runs = Script("sleep 20000");
  runs.mutable_run_timeout()->set_seconds(1);
  CompileEnd end = server_->Compile(runs);
  EXPECT_EQ(end.reason, "COMPILER_OUT_OF_TIME");
  EXPECT_EQ(end.metadata.at("milliseconds"), "1000");
  std::thread busy([&] { (void)server_->Compile(Script("sleep 3000")); });
  ASSERT_TRUE(server_->WaitMetric(kRunning, 1));
  v1::CompileRequest waits = Script("quick");
  waits.mutable_queue_timeout()->set_nanos(300'000'000);
  end = server_->Compile(waits);
  EXPECT_EQ(end.code, StatusCode::UNAVAILABLE);
  EXPECT_EQ(end.reason, "QUEUE_TIMEOUT");
  EXPECT_TRUE(end.retry);
  EXPECT_EQ(server_->Metric("foldd_queue_timeouts_total"), 1);
  busy.join();
  EXPECT_TRUE(server_->Compile(waits).ok());
  // Longer than the server allows is refused, not cut.
  runs.mutable_run_timeout()->set_seconds(10'000);
  runs.mutable_queue_timeout()->set_seconds(10'000);
  end = server_->Compile(runs);
  EXPECT_THAT(end.fields,
              ::testing::ElementsAre("run_timeout", "queue_timeout"));
  EXPECT_THAT(end.message, HasSubstr("longer than this server allows"));
}

TEST_F(OperationServiceTest, NamesThatAreNoneAreRefused) {
  longrunning::Operation operation;
  const std::string nested = "a/b/operations/" + std::string(64, '0');
  for (const char* name : {"", "operations", "operations/", "operations/xyz",
                           "operation/abc", nested.c_str()}) {
    CallEnd end = Get(name, &operation);
    EXPECT_EQ(end.code, StatusCode::INVALID_ARGUMENT) << name;
    EXPECT_THAT(end.fields, ::testing::ElementsAre("name")) << name;
  }
}

}  // namespace
}  // namespace fold
