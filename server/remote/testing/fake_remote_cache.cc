#include "server/remote/testing/fake_remote_cache.h"

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "compiler/api/sha256.h"
#include "proto/google/bytestream/bytestream.grpc.pb.h"

namespace fold {
namespace {

namespace reapi = build::bazel::remote::execution::v2;
namespace bytestream = google::bytestream;

constexpr size_t kPieceBytes = 300'000;

std::string Flip(std::string bytes) {
  if (!bytes.empty()) bytes[bytes.size() / 2] ^= 1;
  return bytes;
}

// "INSTANCE/HASH" of a resource name; empty: it is none.
std::string KeyOfResource(const std::string& name, const char* verb) {
  std::string marker = std::string(verb) + "/";
  size_t at = name.rfind(marker);
  if (at == name.npos) return "";
  std::string instance = name.substr(0, at);
  if (instance.empty()) instance = "/";
  std::string rest = name.substr(name.rfind("blobs/") + 6);
  return instance + rest.substr(0, 64);
}

}  // namespace

struct FakeRemoteCache::Services final
    : public reapi::ActionCache::Service,
      public reapi::ContentAddressableStorage::Service,
      public reapi::Capabilities::Service,
      public bytestream::ByteStream::Service {
  explicit Services(FakeRemoteCache* owner) : owner(owner) {}

  grpc::Status Missing() const {
    return {static_cast<grpc::StatusCode>(owner->missing_code.load()), "no"};
  }

  // At the begin of each call.
  void Enter(grpc::ServerContext* context) {
    ++owner->calls;
    while (owner->hang && !context->IsCancelled()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  bool Find(const std::string& key, std::string* bytes) {
    std::lock_guard lock(mutex);
    auto found = blobs.find(key);
    if (found == blobs.end()) return false;
    *bytes = owner->wrong_bytes ? Flip(found->second) : found->second;
    return true;
  }

  bool Keep(const std::string& instance, const std::string& hash,
            const std::string& bytes) {
    if (Sha256Hex(bytes) != hash) return false;
    std::lock_guard lock(mutex);
    blobs[instance + "/" + hash] = bytes;
    return true;
  }

  grpc::Status GetCapabilities(grpc::ServerContext* context,
                               const reapi::GetCapabilitiesRequest*,
                               reapi::ServerCapabilities* response) override {
    Enter(context);
    auto* cache = response->mutable_cache_capabilities();
    cache->add_digest_functions(reapi::DigestFunction::SHA256);
    cache->mutable_action_cache_update_capabilities()->set_update_enabled(
        owner->takes_updates);
    return grpc::Status::OK;
  }

  grpc::Status GetActionResult(grpc::ServerContext* context,
                               const reapi::GetActionResultRequest* request,
                               reapi::ActionResult* response) override {
    Enter(context);
    std::lock_guard lock(mutex);
    auto found = actions.find(request->instance_name() + "/" +
                              request->action_digest().hash());
    if (found == actions.end()) return Missing();
    *response = found->second;
    return grpc::Status::OK;
  }

  grpc::Status UpdateActionResult(
      grpc::ServerContext* context,
      const reapi::UpdateActionResultRequest* request,
      reapi::ActionResult* response) override {
    Enter(context);
    if (owner->update_code != 0) {
      return {static_cast<grpc::StatusCode>(owner->update_code.load()), "no"};
    }
    std::lock_guard lock(mutex);
    for (const auto& file : request->action_result().output_files()) {
      if (!blobs.contains(request->instance_name() + "/" +
                          file.digest().hash())) {
        return {grpc::StatusCode::FAILED_PRECONDITION, "a blob is missing"};
      }
    }
    actions[request->instance_name() + "/" + request->action_digest().hash()] =
        request->action_result();
    *response = request->action_result();
    return grpc::Status::OK;
  }

  grpc::Status FindMissingBlobs(
      grpc::ServerContext* context,
      const reapi::FindMissingBlobsRequest* request,
      reapi::FindMissingBlobsResponse* response) override {
    Enter(context);
    std::lock_guard lock(mutex);
    for (const auto& digest : request->blob_digests()) {
      if (!blobs.contains(request->instance_name() + "/" + digest.hash())) {
        *response->add_missing_blob_digests() = digest;
      }
    }
    return grpc::Status::OK;
  }

  grpc::Status BatchReadBlobs(
      grpc::ServerContext* context, const reapi::BatchReadBlobsRequest* request,
      reapi::BatchReadBlobsResponse* response) override {
    Enter(context);
    for (const auto& digest : request->digests()) {
      auto* one = response->add_responses();
      *one->mutable_digest() = digest;
      if (!Find(request->instance_name() + "/" + digest.hash(),
                one->mutable_data())) {
        one->mutable_status()->set_code(owner->missing_code);
      }
    }
    return grpc::Status::OK;
  }

  grpc::Status BatchUpdateBlobs(
      grpc::ServerContext* context,
      const reapi::BatchUpdateBlobsRequest* request,
      reapi::BatchUpdateBlobsResponse* response) override {
    Enter(context);
    for (const auto& one : request->requests()) {
      auto* said = response->add_responses();
      *said->mutable_digest() = one.digest();
      if (!Keep(request->instance_name(), one.digest().hash(), one.data())) {
        said->mutable_status()->set_code(
            static_cast<int>(grpc::StatusCode::INVALID_ARGUMENT));
      }
    }
    return grpc::Status::OK;
  }

  grpc::Status Read(
      grpc::ServerContext* context, const bytestream::ReadRequest* request,
      grpc::ServerWriter<bytestream::ReadResponse>* writer) override {
    Enter(context);
    std::string bytes;
    if (!Find(KeyOfResource(request->resource_name(), "blobs"), &bytes)) {
      return Missing();
    }
    for (size_t at = 0; at < bytes.size(); at += kPieceBytes) {
      bytestream::ReadResponse piece;
      piece.set_data(bytes.substr(at, kPieceBytes));
      if (!writer->Write(piece)) break;
    }
    return grpc::Status::OK;
  }

  grpc::Status Write(grpc::ServerContext* context,
                     grpc::ServerReader<bytestream::WriteRequest>* reader,
                     bytestream::WriteResponse* response) override {
    Enter(context);
    bytestream::WriteRequest request;
    std::string key, bytes;
    bool finished = false;
    while (reader->Read(&request)) {
      if (key.empty()) key = KeyOfResource(request.resource_name(), "uploads");
      if (request.write_offset() != static_cast<int64_t>(bytes.size())) {
        return {grpc::StatusCode::INVALID_ARGUMENT, "offset"};
      }
      bytes += request.data();
      finished |= request.finish_write();
    }
    size_t slash = key.find('/');
    if (!finished || slash == key.npos ||
        !Keep(key.substr(0, slash), key.substr(slash + 1), bytes)) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "not the blob"};
    }
    response->set_committed_size(static_cast<int64_t>(bytes.size()));
    return grpc::Status::OK;
  }

  FakeRemoteCache* const owner;
  std::mutex mutex;
  std::map<std::string, std::string> blobs;
  std::map<std::string, reapi::ActionResult> actions;
};

FakeRemoteCache::FakeRemoteCache()
    : services_(std::make_unique<Services>(this)) {
  Start();
}

FakeRemoteCache::~FakeRemoteCache() { Stop(); }

std::string FakeRemoteCache::address() const {
  return "grpc://127.0.0.1:" + std::to_string(port_);
}

void FakeRemoteCache::Start() {
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(8 << 20);
  builder.AddListeningPort("127.0.0.1:" + std::to_string(port_),
                           grpc::InsecureServerCredentials(), &port_);
  builder.RegisterService(
      static_cast<reapi::ActionCache::Service*>(services_.get()));
  builder.RegisterService(
      static_cast<reapi::ContentAddressableStorage::Service*>(services_.get()));
  builder.RegisterService(
      static_cast<reapi::Capabilities::Service*>(services_.get()));
  builder.RegisterService(
      static_cast<bytestream::ByteStream::Service*>(services_.get()));
  server_ = builder.BuildAndStart();
}

void FakeRemoteCache::Stop() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  server_.reset();
}

std::map<std::string, std::string> FakeRemoteCache::Blobs() const {
  std::lock_guard lock(services_->mutex);
  return services_->blobs;
}

std::map<std::string, reapi::ActionResult> FakeRemoteCache::Actions() const {
  std::lock_guard lock(services_->mutex);
  return services_->actions;
}

void FakeRemoteCache::Clear() {
  std::lock_guard lock(services_->mutex);
  services_->blobs.clear();
  services_->actions.clear();
}

}  // namespace fold
