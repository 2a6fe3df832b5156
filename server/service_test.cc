// A real server and a real client: what calls give.
#include <thread>

#include "compiler/api/action.h"
#include "compiler/api/sha256.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "gtest/gtest.h"
#include "proto/grpc/health/v1/health.grpc.pb.h"
#include "server/testing/server_process.h"

namespace fold {
namespace {

using grpc::StatusCode;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace v1 = foldd::v1;

constexpr char kCompiles[] = "foldd_compile_duration_seconds_count";

class ServiceTest : public testing::Test {
 protected:
  void Start(std::vector<std::string> flags = {}) {
    server_.reset();
    server_ =
        std::make_unique<ServerProcess>(ServerOptions{data_, std::move(flags)});
    ASSERT_TRUE(server_->started()) << server_->exit_code();
  }
  std::string data_ = NewFolder("service_test");
  std::unique_ptr<ServerProcess> server_;
};

TEST_F(ServiceTest, ColdThenWarmThenAfterARestart) {
  Start();
  const std::string script = "progress 3\nprint graph\nsize 3000000";
  CompileEnd cold = server_->Compile(Script(script));
  ASSERT_TRUE(cold.ok()) << cold.message;
  EXPECT_FALSE(cold.cached());
  EXPECT_EQ(cold.artifact.size(), 3'000'000u);
  EXPECT_EQ(cold.result.report().artifact().digest(), Sha256Hex(cold.artifact));
  EXPECT_EQ(cold.result.dump(), " graph\n");
  EXPECT_EQ(cold.result.report().action_digest().size(), 64u);
  EXPECT_FALSE(cold.events.empty());

  CompileEnd warm = server_->Compile(Script(script));
  EXPECT_TRUE(warm.cached());
  EXPECT_EQ(warm.artifact, cold.artifact);
  EXPECT_EQ(warm.result.dump(), cold.result.dump());
  v1::CompileReport a = cold.result.report(), b = warm.result.report();
  a.clear_run();
  b.clear_run();
  EXPECT_EQ(SerializeDeterministic(a), SerializeDeterministic(b));
  EXPECT_EQ(server_->Metric(kCompiles), 1);

  Start({"--workers", "1"});
  CompileEnd again = server_->Compile(Script(script));
  EXPECT_TRUE(again.cached());
  EXPECT_EQ(again.artifact, cold.artifact);
  EXPECT_EQ(server_->Metric(kCompiles), -1);

  v1::CompileRequest fresh = Script(script);
  fresh.set_skip_cache_lookup(true);
  EXPECT_FALSE(server_->Compile(fresh).cached());
  EXPECT_EQ(server_->Metric(kCompiles), 1);
}

TEST_F(ServiceTest, ThirtyTwoAtOnceAreOneCompile) {
  Start();
  std::vector<CompileEnd> ends(32);
  std::vector<std::thread> threads;
  threads.reserve(ends.size());
  for (CompileEnd& end : ends) {
    threads.emplace_back(
        [&] { end = server_->Compile(Script("sleep 300\nsize 100000")); });
  }
  for (auto& thread : threads) thread.join();
  for (const CompileEnd& end : ends) {
    ASSERT_TRUE(end.ok()) << end.message;
    EXPECT_EQ(end.artifact, ends[0].artifact);
  }
  EXPECT_EQ(server_->Metric(kCompiles), 1);
}

TEST_F(ServiceTest, OptionsAndTargetsHaveTheirOwnResults) {
  Start();
  v1::CompileRequest plain = Script("x");
  v1::CompileRequest taps = Script("x");
  taps.mutable_options()->set_taps(true);
  EXPECT_NE(server_->Compile(plain).artifact, server_->Compile(taps).artifact);
  EXPECT_NE(server_->Compile(plain).artifact,
            server_->Compile(Script("x", "x86-64-integer")).artifact);
  EXPECT_EQ(server_->Metric(kCompiles), 3);
}

TEST_F(ServiceTest, ADescriptorOfTheClientsOwn) {
  Start();
  v1::GetTargetRequest get;
  v1::GetTargetResponse known;
  grpc::ClientContext context;
  get.set_name("x86-64");
  ASSERT_TRUE(server_->stub().GetTarget(&context, get, &known).ok());
  v1::CompileRequest request = Script("x");
  *request.mutable_target() = known.target();
  // The same descriptor, sent or named, is the same action.
  EXPECT_EQ(server_->Compile(request).result.report().action_digest(),
            server_->Compile(Script("x")).result.report().action_digest());
  request.mutable_target()->set_name("Bad Name");
  request.mutable_target()->clear_memories();
  CompileEnd end = server_->Compile(request);
  EXPECT_EQ(end.code, StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(end.reason, "BAD_TARGET");
  EXPECT_THAT(end.fields, ElementsAre("target.name", "target.memories"));
}

TEST_F(ServiceTest, BadRequestsNameEveryField) {
  Start();
  CompileEnd end = server_->Compile(v1::CompileRequest());
  EXPECT_EQ(end.code, StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(end.reason, "BAD_REQUEST");
  EXPECT_THAT(end.fields, ElementsAre("model", "target_name"));

  v1::CompileRequest request = Script("x");
  v1::CompileOptions* options = request.mutable_options();
  options->add_shapes()->add_dimensions(-1);
  options->set_io(static_cast<v1::BoundaryIo>(99));
  options->add_require(v1::REQUIREMENT_UNSPECIFIED);
  options->add_passes(std::string("a\0b", 3));
  options->add_passes("a,b");
  options->add_dump_after(std::string(40'000, 'x'));
  end = server_->Compile(request);
  EXPECT_THAT(
      end.fields,
      ElementsAre("options.shapes[0].name", "options.shapes[0].dimensions",
                  "options.io", "options.require", "options.passes",
                  "options.passes", "options"));

  end = server_->Compile(Script("x", "x86_64"));
  EXPECT_EQ(end.code, StatusCode::NOT_FOUND);
  EXPECT_EQ(end.reason, "UNKNOWN_TARGET");
  EXPECT_THAT(end.message, HasSubstr("did you mean 'x86-64'"));

  request = Script("x");
  request.set_compiler_id("another");
  end = server_->Compile(request);
  EXPECT_EQ(end.reason, "UNKNOWN_COMPILER");
  EXPECT_EQ(end.metadata.at("compiler_id"), "fake-compiler-1");
}

TEST_F(ServiceTest, AModelCanBeNamedByItsDigestOnceItIsKnown) {
  Start();
  v1::CompileRequest request = Script("x");
  request.clear_model();
  *request.mutable_model_digest() = DigestOf("x");
  CompileEnd end = server_->Compile(request);
  EXPECT_EQ(end.reason, "BLOBS_MISSING");
  EXPECT_EQ(end.code, StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(end.missing,
              ElementsAre("MISSING blobs/" + Sha256Hex("x") + "/1"));
  CompileEnd sent = server_->Compile(Script("x"));
  end = server_->Compile(request);
  EXPECT_TRUE(end.ok());
  EXPECT_TRUE(end.cached());
  EXPECT_EQ(end.artifact, sent.artifact);
}

TEST_F(ServiceTest, TheCompilersDiagnosticsArriveAndDecide) {
  Start();
  CompileEnd end = server_->Compile(
      Script("diagnostic nan_reachable n0\ndiagnostic bad_scale q1\nexit 3"));
  EXPECT_EQ(end.code, StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(end.reason, "BAD_SCALE");
  EXPECT_EQ(end.metadata.at("node"), "q1");
  std::vector<std::string> codes;
  for (const auto& event : end.events) {
    if (event.has_diagnostic()) codes.push_back(event.diagnostic().code());
  }
  EXPECT_THAT(codes, ElementsAre("nan_reachable", "bad_scale"));
  end = server_->Compile(Script("diagnostic not_exact c\nexit 4"));
  EXPECT_EQ(end.code, StatusCode::FAILED_PRECONDITION);
  // A failure is not kept.
  server_->Compile(Script("diagnostic not_exact c\nexit 4"));
  EXPECT_EQ(server_->Metric(kCompiles), 3);
}

TEST_F(ServiceTest, OverloadIsRefusedWithATimeToComeBack) {
  Start({"--workers", "1", "--queue-length", "0"});
  std::thread busy([&] { server_->Compile(Script("sleep 2000")); });
  ASSERT_TRUE(server_->WaitMetric("foldd_jobs{state=\"running\"}", 1));
  CompileEnd end = server_->Compile(Script("other"));
  EXPECT_EQ(end.code, StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(end.reason, "QUEUE_FULL");
  EXPECT_TRUE(end.retry);
  busy.join();
  EXPECT_TRUE(server_->Compile(Script("other")).ok());
}

TEST_F(ServiceTest, BytesInFlightAndMessageSizeAreBounded) {
  Start({"--inflight-bytes", "300000", "--max-message-bytes", "300000",
         "--inflight-wait-seconds", "0"});
  // A compile holds its request's bytes; another cannot read a message.
  std::thread busy([&] {
    server_->Compile(Script("sleep 3000" + std::string(150'000, ' ')));
  });
  ASSERT_TRUE(server_->WaitMetric("foldd_jobs{state=\"running\"}", 1));
  CompileEnd end = server_->Compile(Script("x"));
  EXPECT_EQ(end.reason, "BYTES_IN_FLIGHT");
  EXPECT_TRUE(end.retry);
  busy.join();
  end = server_->Compile(Script(std::string(400'000, ' ')));
  EXPECT_EQ(end.code, StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(server_->Compile(Script("x")).ok());
  EXPECT_TRUE(server_->WaitMetric("foldd_inflight_bytes", 0));
}

TEST_F(ServiceTest, ResolveAnswersFromTheCache) {
  Start();
  v1::ResolveRequest request;
  v1::ResolveResponse response;
  request.set_model_digest(Sha256Hex("x"));
  request.add_compatible("other,board");
  request.add_compatible("foldd,x86-64");
  auto resolve = [&] {
    grpc::ClientContext context;
    return ReadEnd(server_->stub().Resolve(&context, request, &response));
  };
  EXPECT_EQ(resolve().reason, "NO_ARTIFACT");
  CompileEnd compiled = server_->Compile(Script("x"));
  ASSERT_EQ(resolve().code, StatusCode::OK);
  const v1::Manifest& manifest = response.manifest();
  EXPECT_EQ(manifest.artifact().hash(), Sha256Hex(compiled.artifact));
  EXPECT_EQ(manifest.target(), "x86-64");
  EXPECT_EQ(manifest.action_digest(), compiled.result.report().action_digest());
  // What it names can be downloaded.
  EXPECT_EQ(server_->Get("/v1/blobs/" + manifest.artifact().hash()),
            compiled.artifact);
  request.set_model_digest("ABC");
  request.clear_compatible();
  EXPECT_THAT(resolve().fields, ElementsAre("model_digest", "compatible"));
}

TEST_F(ServiceTest, TargetsAreListedGivenAndChecked) {
  Start();
  v1::ListTargetsResponse list;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(server_->stub().ListTargets(&context, {}, &list).ok());
  }
  std::vector<std::string> names;
  for (const auto& target : list.targets()) names.push_back(target.name());
  EXPECT_THAT(names, Contains("x86-64"));
  v1::GetTargetRequest get;
  get.set_name("none");
  v1::GetTargetResponse got;
  {
    grpc::ClientContext context;
    EXPECT_EQ(ReadEnd(server_->stub().GetTarget(&context, get, &got)).reason,
              "UNKNOWN_TARGET");
  }
  v1::CheckTargetRequest check;
  v1::CheckTargetResponse checked;
  *check.mutable_target() = list.targets(0);
  check.mutable_target()->mutable_memories(0)->set_alignment_bytes(3);
  check.mutable_target()->set_architecture("");
  grpc::ClientContext context;
  ASSERT_TRUE(server_->stub().CheckTarget(&context, check, &checked).ok());
  ASSERT_EQ(checked.problems_size(), 2);
  EXPECT_EQ(checked.problems(0).field(), "architecture");
  EXPECT_EQ(checked.problems(1).field(), "memories[0].alignment_bytes");
}

// A raw call: bytes to a method, bytes back.
grpc::Status RawCall(ServerProcess& server, const std::string& method,
                     const std::string& bytes, std::string* answer) {
  grpc::GenericStub stub(server.channel());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(20));
  grpc::CompletionQueue queue;
  auto call = stub.PrepareCall(&context, method, &queue);
  void* tag = nullptr;
  bool ok = false;
  call->StartCall(&tag);
  queue.Next(&tag, &ok);
  grpc::Slice slice(bytes);
  call->Write(grpc::ByteBuffer(&slice, 1), &tag);
  queue.Next(&tag, &ok);
  call->WritesDone(&tag);
  queue.Next(&tag, &ok);
  grpc::ByteBuffer response;
  call->Read(&response, &tag);
  queue.Next(&tag, &ok);
  if (ok) {
    std::vector<grpc::Slice> slices;
    (void)response.Dump(&slices);
    for (const auto& one : slices) {
      answer->append(reinterpret_cast<const char*>(one.begin()), one.size());
    }
  }
  grpc::Status status;
  call->Finish(&status, &tag);
  queue.Next(&tag, &ok);
  return status;
}

TEST_F(ServiceTest, GarbageIsAnErrorAndTheServerLives) {
  Start();
  std::string answer;
  for (const std::string& bytes :
       {std::string("\xff\xff\xff\xff"), std::string(100'000, '\x0a'),
        std::string("\x0a\xff\xff\xff\xff\x7f", 6)}) {
    EXPECT_FALSE(
        RawCall(*server_, "/foldd.v1.Compiler/Compile", bytes, &answer).ok());
  }
  EXPECT_EQ(
      RawCall(*server_, "/foldd.v1.Compiler/None", "", &answer).error_code(),
      StatusCode::UNIMPLEMENTED);
  EXPECT_TRUE(server_->Compile(Script("x")).ok());
}

TEST_F(ServiceTest, ReflectionDescribesAllServices) {
  Start();
  const std::string method =
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
  std::string list;
  // list_services (field 7): "*"
  ASSERT_TRUE(RawCall(*server_, method, "\x3a\x01*", &list).ok());
  EXPECT_THAT(list, HasSubstr("foldd.v1.Compiler"));
  EXPECT_THAT(list, HasSubstr("grpc.health.v1.Health"));
  for (std::string symbol : {"foldd.v1.Compiler", "grpc.health.v1.Health"}) {
    std::string file;
    // file_containing_symbol (field 4)
    std::string request = "\x22" + std::string(1, symbol.size()) + symbol;
    ASSERT_TRUE(RawCall(*server_, method, request, &file).ok());
    EXPECT_THAT(file, HasSubstr(".proto")) << symbol;
  }
}

TEST_F(ServiceTest, HealthOfTheServerAndOfItsService) {
  Start();
  auto health = grpc::health::v1::Health::NewStub(server_->channel());
  for (const char* service : {"", "foldd.v1.Compiler"}) {
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckRequest request;
    grpc::health::v1::HealthCheckResponse response;
    request.set_service(service);
    ASSERT_TRUE(health->Check(&context, request, &response).ok());
    EXPECT_EQ(response.status(),
              grpc::health::v1::HealthCheckResponse::SERVING);
  }
  int status = 0;
  server_->Get("/readyz", &status);
  EXPECT_EQ(status, 200);
}

TEST_F(ServiceTest, ASecondServerOnTheSameFolderIsRefused) {
  Start();
  ServerProcess second(ServerOptions{data_});
  EXPECT_FALSE(second.started());
  EXPECT_EQ(second.exit_code(), 5);
  EXPECT_TRUE(server_->Compile(Script("x")).ok());
}

}  // namespace
}  // namespace fold
