// For tests: a real foldd in a process of its own, with a fake compiler, and a
// client for it.
#ifndef FOLD_SERVER_TESTING_SERVER_PROCESS_H_
#define FOLD_SERVER_TESTING_SERVER_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "grpcpp/grpcpp.h"
#include "proto/foldd/v1/compiler_service.grpc.pb.h"

namespace fold {

struct ServerOptions {
  std::string data;
  std::vector<std::string> flags;  // beside those that every test needs
  std::string compiler;            // empty: the fake one
  // Above 0: the data folder is a file system of that size, which the test
  // itself does not see.
  int64_t disk_bytes = 0;
};

// How a call ended.
struct CallEnd {
  grpc::StatusCode code = grpc::StatusCode::UNKNOWN;
  std::string message;
  std::string reason;                           // of ErrorInfo
  std::map<std::string, std::string> metadata;  // of ErrorInfo
  std::vector<std::string> fields;              // of BadRequest
  std::vector<std::string> missing;             // of PreconditionFailure
  bool retry = false;                           // has RetryInfo
};

struct CompileEnd : CallEnd {
  std::string artifact;
  foldd::v1::CompileResult result;
  std::vector<foldd::v1::CompileEvent> events;  // before the result
  bool ok() const { return code == grpc::StatusCode::OK; }
  bool cached() const { return result.report().run().cached(); }
};

class ServerProcess {
 public:
  explicit ServerProcess(const ServerOptions& options);
  ~ServerProcess();  // kills it, if it still runs

  // Whether it serves; `false` with exit_code() if it ended at once.
  bool started() const { return grpc_port_ > 0; }
  int exit_code() const { return exit_code_; }
  pid_t pid() const { return pid_; }
  // Where the test finds what the server, with its own disk, finds at `path`.
  std::string OwnPath(const std::string& path) const;
  std::string address() const;

  void Signal(int sig);
  // Waits for its end; the exit code, or minus the signal.
  int Wait();

  foldd::v1::Compiler::Stub& stub() { return *stub_; }
  std::shared_ptr<grpc::Channel> channel() { return channel_; }
  // `limit_milliseconds` is the call's deadline. `on_context` is handed the
  // context before the call, so that another thread can cancel it.
  CompileEnd Compile(
      const foldd::v1::CompileRequest& request, int limit_milliseconds = 60'000,
      const std::function<void(grpc::ClientContext*)>& on_context = nullptr);
  // The body and, in `status`, the code of an HTTP GET.
  std::string Get(const std::string& path, int* status = nullptr);
  // The value of a metric's line, e.g. `foldd_jobs{state="running"}`; -1 if
  // there is no such line.
  double Metric(const std::string& line);
  // Waits until the metric has the value.
  bool WaitMetric(const std::string& line, double value);
  // Processes that run jobs now, and their parent.
  std::vector<pid_t> Jobs() const;
  pid_t CompilerParent() const;

 private:
  void ReadPorts(int fd);

  pid_t pid_ = -1;
  int exit_code_ = 0;
  int grpc_port_ = 0;
  int http_port_ = 0;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<foldd::v1::Compiler::Stub> stub_;
};

// A request for the fake compiler: `script` is the model.
foldd::v1::CompileRequest Script(const std::string& script,
                                 const std::string& target = "x86-64");
CallEnd ReadEnd(const grpc::Status& status);
std::string NewFolder(const std::string& name);
// The file of a blob of no namespace, in a server's data folder.
std::string BlobFile(const std::string& data, const std::string& hash);

}  // namespace fold

#endif  // FOLD_SERVER_TESTING_SERVER_PROCESS_H_
