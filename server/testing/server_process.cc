#include "server/testing/server_process.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "httplib.h"
#include "proto/google/rpc/error_details.pb.h"
#include "proto/google/rpc/status.pb.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
using std::chrono::milliseconds;

constexpr int kNoMount = 99;

std::string BinFolder() {
  const char* folder = std::getenv("FOLD_BIN");
  return folder != nullptr ? folder : FOLD_BIN_FOLDER;
}

// In the child: a file system of its own under the data folder.
void MountDisk(const ServerOptions& options) {
  std::string size = "size=" + std::to_string(options.disk_bytes);
  bool apart =
      unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
  if (!apart ||
      mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", options.data.c_str(), "tmpfs", 0, size.c_str()) != 0) {
    _exit(kNoMount);
  }
}

// Children of a process, by /proc.
std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  std::string path = "/proc/" + std::to_string(pid) + "/task";
  std::ifstream file(path + "/" + std::to_string(pid) + "/children");
  pid_t child = 0;
  while (file >> child) children.push_back(child);
  return children;
}

int PortBehind(const std::string& text, const std::string& words) {
  size_t at = text.find(words);
  return at == std::string::npos ? 0 : std::atoi(&text[at + words.size()]);
}

}  // namespace

ServerProcess::ServerProcess(const ServerOptions& options) {
  std::vector<std::string> words = {
      BinFolder() + "/foldd",
      "--listen",
      "127.0.0.1:0",
      "--http",
      "127.0.0.1:0",
      "--data",
      options.data,
      "--min-free-bytes",
      "65536",
      "--compiler-path",
      options.compiler.empty() ? FAKE_COMPILER : options.compiler};
  words.insert(words.end(), options.flags.begin(), options.flags.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int fds[2];
  if (pipe(fds) != 0) return;
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // no server outlives its test
    if (options.disk_bytes > 0) MountDisk(options);
    dup2(fds[1], STDERR_FILENO);
    close(fds[0]);
    close(fds[1]);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(fds[1]);
  ReadPorts(fds[0]);
  if (grpc_port_ == 0) {
    exit_code_ = Wait();
    return;
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  channel_ = grpc::CreateCustomChannel(
      address(), grpc::InsecureChannelCredentials(), arguments);
  stub_ = v1::Compiler::NewStub(channel_);
}

// Reads its log up to the line with the ports; the rest goes to our own
// stderr, so that the server never waits for a reader.
void ServerProcess::ReadPorts(int fd) {
  std::string log;
  char buffer[1024];
  while (grpc_port_ == 0) {
    ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got <= 0) break;
    log.append(buffer, static_cast<size_t>(got));
    if (log.find("HTTP on port") == std::string::npos || log.back() != '\n') {
      continue;
    }
    grpc_port_ = PortBehind(log, "gRPC on port ");
    http_port_ = PortBehind(log, "HTTP on port ");
  }
  std::thread([fd] {
    char rest[1024];
    for (ssize_t got; (got = read(fd, rest, sizeof(rest))) > 0;) {
      (void)!write(STDERR_FILENO, rest, static_cast<size_t>(got));
    }
    close(fd);
  }).detach();
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) {
    Signal(SIGKILL);
    Wait();
  }
}

std::string ServerProcess::address() const {
  return "127.0.0.1:" + std::to_string(grpc_port_);
}

std::string ServerProcess::OwnPath(const std::string& path) const {
  constexpr char kRoot[] = "root";
  return "/proc/" + std::to_string(pid_) + "/" + kRoot + path;
}

void ServerProcess::Signal(int sig) {
  if (pid_ > 0) kill(pid_, sig);
}

int ServerProcess::Wait() {
  if (pid_ <= 0) return exit_code_;
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return exit_code_;
}

CompileEnd ServerProcess::Compile(
    const v1::CompileRequest& request, int limit_milliseconds,
    const std::function<void(grpc::ClientContext*)>& on_context) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       milliseconds(limit_milliseconds));
  if (on_context) on_context(&context);
  auto reader = stub_->Compile(&context, request);
  CompileEnd end;
  v1::CompileEvent event;
  while (reader->Read(&event)) {
    if (event.has_artifact_chunk()) {
      end.artifact += event.artifact_chunk().data();
    }
    if (event.has_result()) end.result = event.result();
    if (event.has_progress() || event.has_diagnostic()) {
      end.events.push_back(event);
    }
  }
  static_cast<CallEnd&>(end) = ReadEnd(reader->Finish());
  return end;
}

std::string ServerProcess::Get(const std::string& path, int* status) {
  httplib::Client client("127.0.0.1", http_port_);
  auto response = client.Get(path);
  if (status != nullptr) *status = response ? response->status : 0;
  return response ? response->body : "";
}

double ServerProcess::Metric(const std::string& line) {
  std::string text = "\n" + Get("/metrics");
  size_t at = text.find("\n" + line + " ");
  if (at == std::string::npos) return -1;
  return std::atof(text.c_str() + at + line.size() + 2);
}

bool ServerProcess::WaitMetric(const std::string& line, double value) {
  for (int i = 0; i < 600; ++i) {
    if (Metric(line) == value) return true;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return false;
}

pid_t ServerProcess::CompilerParent() const {
  // The thread that forked it is not the main one: look at all of them.
  for (int i = 0; i < 200; ++i) {
    for (int task = pid_; task < pid_ + 200; ++task) {
      std::ifstream file("/proc/" + std::to_string(pid_) + "/task/" +
                         std::to_string(task) + "/children");
      pid_t child = 0;
      if (file >> child) return child;
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
  return 0;
}

std::vector<pid_t> ServerProcess::Jobs() const {
  pid_t parent = CompilerParent();
  return parent > 0 ? ChildrenOf(parent) : std::vector<pid_t>();
}

v1::CompileRequest Script(const std::string& script,
                          const std::string& target) {
  v1::CompileRequest request;
  request.set_model(script);
  request.set_target_name(target);
  return request;
}

CallEnd ReadEnd(const grpc::Status& status) {
  CallEnd end;
  end.code = status.error_code();
  end.message = status.error_message();
  google::rpc::Status details;
  details.ParseFromString(status.error_details());
  for (const auto& detail : details.details()) {
    google::rpc::ErrorInfo info;
    google::rpc::BadRequest bad;
    google::rpc::PreconditionFailure missing;
    if (detail.UnpackTo(&info)) {
      end.reason = info.reason();
      end.metadata.insert(info.metadata().begin(), info.metadata().end());
    } else if (detail.UnpackTo(&bad)) {
      for (const auto& one : bad.field_violations()) {
        end.fields.push_back(one.field());
      }
    } else if (detail.UnpackTo(&missing)) {
      for (const auto& one : missing.violations()) {
        end.missing.push_back(one.type() + " " + one.subject());
      }
    } else if (detail.Is<google::rpc::RetryInfo>()) {
      end.retry = true;
    }
  }
  return end;
}

std::string NewFolder(const std::string& name) {
  const char* base = std::getenv("TEST_TMPDIR");
  std::string folder =
      std::string(base != nullptr ? base : "/tmp") + "/" + name + "_XXXXXX";
  return mkdtemp(folder.data()) != nullptr ? folder : "";
}

std::string BlobFile(const std::string& data, const std::string& hash) {
  return data + "/cache/instances/_/blobs/" + hash.substr(0, 2) + "/" + hash;
}

}  // namespace fold
