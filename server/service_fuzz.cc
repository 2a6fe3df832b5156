// Any bytes as the messages of any call to a real server with a fake compiler:
// the first byte chooses the method, then comes message after message, each
// behind its length in two bytes (little-endian; the last takes what is left).
// Every call ends in time with a status that is the caller's business, and the
// server stays ready.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "server/rpc/methods.h"
#include "server/server.h"
#include "server/telemetry/log.h"

namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr int kMostMessages = 8;
// What a call is given, and what it may take.
constexpr milliseconds kDeadline{400};
constexpr milliseconds kPatience{8'000};

std::string NewFolder() {
  std::string name = (fs::temp_directory_path() / "fold_fuzz_XXXXXX").string();
  return mkdtemp(name.data()) != nullptr ? name : std::string();
}

fold::Config SmallConfig(const std::string& data) {
  fold::Config config;
  config.listen = "127.0.0.1:0";
  config.http = "";
  config.data = data;
  config.compiler_path = FAKE_COMPILER;
  config.workers = 2;
  config.queue_length = 8;
  config.cache_bytes = 16 << 20;
  config.memory_cache_bytes = 4 << 20;
  config.max_uploads = 16;
  config.max_operations = 64;
  config.job_wall_seconds = 1;
  config.job_cpu_seconds = 1;
  config.job_file_bytes = 1 << 20;
  config.reproducer_count = 2;
  config.drain_seconds = 0;
  // The walls have tests of their own; sanitizers need what they forbid.
  config.sandbox_minimum = "none";
  config.min_free_bytes = 0;
  return config;
}

// A server of this process, and its client.
class Service {
 public:
  Service() : folder_(NewFolder()) {
    fold::SetUpLog("error", fold::ChooseLogFormat("text"));
    auto started = fold::Server::Start(SmallConfig(folder_));
    if (!started.ok()) {
      std::fprintf(stderr, "%s\n", started.status().ToString().c_str());
      std::exit(2);
    }
    server_ = std::move(*started);
    stub_ = std::make_unique<grpc::GenericStub>(
        grpc::CreateChannel("127.0.0.1:" + std::to_string(server_->grpc_port()),
                            grpc::InsecureChannelCredentials()));
  }
  ~Service() {
    server_.reset();
    std::error_code error;
    fs::remove_all(folder_, error);
  }

  grpc::Status Call(const std::string& path,
                    const std::vector<std::string>& messages) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kDeadline);
    auto call = stub_->PrepareCall(&context, path, &queue_);
    call->StartCall(Tag());
    bool good = Next();
    for (size_t i = 0; good && i < messages.size(); ++i) {
      const grpc::Slice slice(messages[i]);
      call->Write(grpc::ByteBuffer(&slice, 1), Tag());
      good = Next();
    }
    if (good) {
      call->WritesDone(Tag());
      (void)Next();
      grpc::ByteBuffer answer;
      do {
        call->Read(&answer, Tag());
      } while (Next());
    }
    grpc::Status status;
    call->Finish(&status, Tag());
    if (!Next()) std::abort();
    return status;
  }

  bool ready() const { return server_->Readiness().ok(); }

 private:
  static void* Tag() { return reinterpret_cast<void*>(1); }
  // The end of the one operation that is under way; whether it went well.
  bool Next() {
    void* tag = nullptr;
    bool good = false;
    auto end = queue_.AsyncNext(&tag, &good,
                                std::chrono::system_clock::now() + kPatience);
    if (end != grpc::CompletionQueue::GOT_EVENT) std::abort();
    return good;
  }

  const std::string folder_;
  std::unique_ptr<fold::Server> server_;
  std::unique_ptr<grpc::GenericStub> stub_;
  grpc::CompletionQueue queue_;
};

std::vector<std::string> Cut(const uint8_t* data, size_t size) {
  std::vector<std::string> messages;
  while (size >= 2 && messages.size() < kMostMessages) {
    size_t length = data[0] | size_t{data[1]} << 8;
    data += 2;
    size -= 2;
    length = std::min(length, size);
    messages.emplace_back(reinterpret_cast<const char*>(data), length);
    data += length;
    size -= length;
  }
  return messages;
}

// Statuses that say that the server is at fault. A compile may end so: the
// fake compiler does what its model says.
bool IsOurFault(const fold::Method& method, const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNKNOWN:
    case grpc::StatusCode::UNIMPLEMENTED:
      return true;
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::DATA_LOSS:
      return method.name != "Compile";
    default:
      return false;
  }
}

Service& TheService() {
  static Service service;
  return service;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  (void)TheService();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto methods = fold::Methods();
  const fold::Method& method = methods[data[0] % methods.size()];
  const std::string path =
      "/" + std::string(method.service) + "/" + std::string(method.name);
  const grpc::Status status = TheService().Call(path, Cut(data + 1, size - 1));
  if (IsOurFault(method, status)) {
    std::fprintf(stderr, "%s: %d %s\n", path.c_str(),
                 static_cast<int>(status.error_code()),
                 status.error_message().c_str());
    std::abort();
  }
  if (!TheService().ready()) std::abort();
  return 0;
}
