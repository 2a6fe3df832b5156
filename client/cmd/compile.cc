// foldctl compile: foldc's flags, on a server.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "client/cmd/command.h"
#include "client/cmd/compile_inputs.h"
#include "compiler/api/compile_flags.h"
#include "compiler/api/convert.h"
#include "compiler/api/error_table.h"
#include "compiler/api/report_file.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

constexpr int64_t kRetryMilliseconds = 200;

// Shows progress on a terminal, and diagnostics on any stream.
class Display {
 public:
  void Show(const v1::CompileEvent& event) {
    if (event.has_diagnostic()) {
      Clear();
      said_error_ |= event.diagnostic().severity() == v1::ERROR;
      // Notes are for the report.
      if (event.diagnostic().severity() != v1::NOTE) {
        std::fprintf(stderr, "%s\n",
                     FormatDiagnosticMessage(event.diagnostic()).c_str());
      }
    } else if (terminal_) {
      ShowProgress(event.progress());
    }
  }
  void Clear() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }
  bool said_error() const { return said_error_; }

 private:
  void ShowProgress(const v1::Progress& progress) {
    Clear();
    if (progress.pass_name().empty()) {
      std::fputs(
          progress.state() == v1::Progress::QUEUED ? "queued" : "compiling",
          stderr);
    } else {
      std::fprintf(stderr, "[%d/%d] %s", progress.pass_index() + 1,
                   progress.pass_total(), progress.pass_name().c_str());
    }
    std::fflush(stderr);
    shown_ = true;
  }
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
  bool said_error_ = false;
};

int InputError(const std::string& message) {
  std::fprintf(stderr, "foldctl: %s\n", message.c_str());
  return kExitInput;
}

int WriteAnswer(const CompileFlags& flags, const CompileAnswer& answer) {
  std::fputs(answer.dump.c_str(), stdout);
  std::string error = WriteFileAtomically(flags.output_path, answer.artifact);
  if (error.empty() && !flags.report_path.empty()) {
    error = WriteReportFile(flags.report_path, answer.report);
  }
  if (error.empty()) return kExitDone;
  std::fprintf(stderr, "foldctl: %s\n", error.c_str());
  return kExitInternal;
}

// What foldctl compile has beyond foldc's flags.
struct ServiceFlags {
  ServerFlags server;
  std::vector<std::string> external;
  int64_t retries = 3;
  int64_t queue_seconds = 0;  // 0: as the server says
  int64_t run_seconds = 0;
  bool fresh = false;
  bool detach = false;
  bool help = false;
  std::string compiler_id;
};

std::vector<Flag> LineTable(CompileFlags* flags, ServiceFlags* service) {
  constexpr int64_t kMostSeconds = 86400 * 366;
  std::vector<Flag> table = CompileFlagTable(flags);
  for (Flag& flag : ServerFlagTable(&service->server)) {
    table.push_back(std::move(flag));
  }
  table.push_back({"--external", "FILE",
                   "a file with external data of the model; may be repeated",
                   AddText(&service->external)});
  table.push_back({"--fresh", "", "do not take the answer from the cache",
                   SetSwitch(&service->fresh)});
  table.push_back({"--detach", "",
                   "start it as an operation, print its name and leave; "
                   "-o is not needed",
                   SetSwitch(&service->detach)});
  table.push_back({"--retries", "N", "while the server is busy or away [3]",
                   SetInteger(&service->retries, 0, 1000)});
  table.push_back({"--queue-seconds", "N", "that it may wait for a worker",
                   SetInteger(&service->queue_seconds, 1, kMostSeconds)});
  table.push_back({"--run-seconds", "N", "that the compile may run",
                   SetInteger(&service->run_seconds, 1, kMostSeconds)});
  table.push_back({"--compiler-id", "ID", "fail if the server has another",
                   SetText(&service->compiler_id)});
  table.push_back({"--help", "", "print this", SetSwitch(&service->help)});
  return table;
}

void FillRequest(const ServiceFlags& service, v1::CompileRequest* request) {
  request->set_skip_cache_lookup(service.fresh);
  request->set_compiler_id(service.compiler_id);
  request->set_instance_name(service.server.instance);
  request->set_request_id(service.fresh || service.detach ? NewUuid() : "");
  if (service.queue_seconds > 0) {
    request->mutable_queue_timeout()->set_seconds(service.queue_seconds);
  }
  if (service.run_seconds > 0) {
    request->mutable_run_timeout()->set_seconds(service.run_seconds);
  }
}

// Calls until it succeeds or trying again does not help: sends the blobs that
// turn out to be missing, and waits where the server says so.
std::optional<ClientError> CallWithRetries(
    const ServiceFlags& service, CompileInputs* inputs, Client* client,
    const std::function<std::optional<ClientError>()>& call) {
  bool sent = false;
  for (int64_t attempt = 0;;) {
    auto error = call();
    if (!error) return std::nullopt;
    if (error->reason == "BLOBS_MISSING" && !sent && !inputs->blobs.empty()) {
      sent = true;
      BlobTransfer transfer(client->channel(), service.server.instance);
      if (auto failed = transfer.Upload(inputs->blobs)) return failed;
      continue;
    }
    bool again = error->exit_code == kExitTryAgain &&
                 error->reason != "DEADLINE" &&
                 error->reason != "CALL_CANCELLED";
    if (!again || attempt++ >= service.retries) return error;
    std::this_thread::sleep_for(std::chrono::milliseconds(
        std::max<int64_t>(error->retry_milliseconds, kRetryMilliseconds)));
  }
}

int Detach(const ServiceFlags& service, CompileInputs* inputs, Client* client) {
  google::longrunning::Operation operation;
  auto error = CallWithRetries(service, inputs, client, [&] {
    return client->StartCompile(inputs->request, &operation);
  });
  if (error) return CallError(*error);
  std::printf("%s\n", operation.name().c_str());
  return kExitDone;
}

}  // namespace

int CompileCommand(std::span<const std::string> arguments) {
  CompileFlags flags;
  ServiceFlags service;
  std::vector<Flag> table = LineTable(&flags, &service);
  ParsedLine line = ParseLine(arguments, table);
  if (service.help) {
    std::printf("usage: foldctl compile MODEL|FOLDER --server A [flags]\n%s",
                FlagHelp(table).c_str());
    return kExitDone;
  }
  if (service.detach && flags.output_path.empty()) flags.output_path = "-";
  std::string error = line.error.empty()
                          ? FinishCompileFlags(line.positional, &flags)
                          : line.error;
  if (!error.empty()) return UsageError(error);

  CompileInputs inputs;
  error = ReadCompileInputs(flags, service.external, &inputs);
  if (!error.empty()) return InputError(error);
  FillRequest(service, &inputs.request);
  std::unique_ptr<Client> client = OpenClient(service.server);
  if (client == nullptr) return kExitUsage;
  if (service.detach) return Detach(service, &inputs, client.get());
  CompileAnswer answer;
  Display display;
  auto failed = CallWithRetries(service, &inputs, client.get(), [&] {
    answer = CompileAnswer();
    return client->Compile(
        inputs.request, [&](const auto& event) { display.Show(event); },
        &answer);
  });
  display.Clear();
  if (!failed) return WriteAnswer(flags, answer);
  // The compiler's own words were shown as they came.
  return display.said_error() ? failed->exit_code : CallError(*failed);
}

}  // namespace fold
