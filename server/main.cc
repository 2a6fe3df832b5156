// foldd: reads the configuration, serves until a signal, drains, ends.
#include <signal.h>

#include <cstdio>
#include <string>
#include <vector>

#include "compiler/api/error_table.h"
#include "google/protobuf/stubs/logging.h"
#include "server/config.h"
#include "server/server.h"
#include "server/telemetry/log.h"
#include "spdlog/spdlog.h"

namespace {

// Waits for SIGINT or SIGTERM; both must be blocked in every thread.
int WaitForSignal() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGINT);
  sigaddset(&wanted, SIGTERM);
  int sig = 0;
  while (sigwait(&wanted, &sig) != 0) {
  }
  return sig;
}

void BlockSignals() {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

// What protobuf says about bytes of callers: its own lines on stderr would be
// no lines of the log, and as many as a caller likes.
void LogProtobuf(google::protobuf::LogLevel, const char*, int,
                 const std::string& message) {
  spdlog::debug("protobuf: {}", message);
}

}  // namespace

int main(int argc, char** argv) {
  fold::Config config;
  bool help = false;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string error = fold::ParseServerLine(arguments, &config, &help);
  if (help) {
    std::fputs(fold::ServerHelp().c_str(), stdout);
    return fold::kExitDone;
  }
  if (!error.empty()) {
    std::fprintf(stderr, "foldd: %s\n", error.c_str());
    return fold::kExitUsage;
  }
  fold::SetUpLog(config.log_level, fold::ChooseLogFormat(config.log_format));
  google::protobuf::SetLogHandler(LogProtobuf);
  BlockSignals();
  auto server = fold::Server::Start(config);
  if (!server.ok()) {
    spdlog::error("{}", std::string(server.status().message()));
    return absl::IsInvalidArgument(server.status()) ? fold::kExitUsage
                                                    : fold::kExitInternal;
  }
  spdlog::info("serving: gRPC on port {}, HTTP on port {}",
               (*server)->grpc_port(), (*server)->http_port());
  int sig = WaitForSignal();
  spdlog::info("signal {}: draining", sig);
  bool clean = (*server)->Drain();
  spdlog::info("{}", clean ? "all compiles ended" : "compiles were killed");
  return fold::kExitDone;
}
