// The cost of a cache hit against that of an empty unary call, on one server.
#include <filesystem>

#include "benchmark/benchmark.h"
#include "server/testing/server_process.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

ServerProcess& BenchServer() {
  static auto* server =
      new ServerProcess(ServerOptions{NewFolder("service_bench")});
  return *server;
}

void EmptyUnaryCall(benchmark::State& state) {
  ServerProcess& server = BenchServer();
  for (auto _ : state) {
    grpc::ClientContext context;
    v1::CheckTargetResponse response;
    benchmark::DoNotOptimize(
        server.stub().CheckTarget(&context, {}, &response));
  }
}
BENCHMARK(EmptyUnaryCall)->UseRealTime();

// Range: bytes of the artifact, and of the model.
void CacheHit(benchmark::State& state) {
  ServerProcess& server = BenchServer();
  v1::CompileRequest request =
      Script("size " + std::to_string(state.range(0)) + "\n" +
             std::string(static_cast<size_t>(state.range(1)), ' '));
  if (!server.Compile(request).ok()) state.SkipWithError("compile failed");
  for (auto _ : state) {
    if (!server.Compile(request).cached()) state.SkipWithError("no hit");
  }
}
BENCHMARK(CacheHit)
    ->Args({1'000, 10})
    ->Args({100'000, 100'000})
    ->Args({4'000'000, 4'000'000})
    ->UseRealTime();

}  // namespace
}  // namespace fold
