#include "server/testing/chaos_client.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "compiler/api/action.h"
#include "compiler/api/error_table.h"
#include "proto/google/bytestream/bytestream.grpc.pb.h"

namespace fold {
namespace {

namespace bytestream = google::bytestream;
namespace longrunning = google::longrunning;
namespace v1 = foldd::v1;
using std::chrono::milliseconds;

constexpr int kScripts = 60;
constexpr size_t kPieceBytes = 40'000;

using Reasons = std::set<std::string>;

// What any call may end with while the server comes and goes.
const Reasons kAnyCall = {"DRAINING", "CALL_CANCELLED", "STORAGE_FULL"};
// A job may be killed by us; the model is refused then, or was damaged.
const Reasons kCompileCall = {"COMPILER_CRASHED",       "COMPILER_LOST",
                              "MODEL_CRASHES_COMPILER", "BLOB_CORRUPT",
                              "BLOB_MISSING",           "BLOBS_MISSING"};
const Reasons kUpload = {"UPLOAD_TAKEN_OVER", "OFFSET_OUT_OF_RANGE",
                         "BLOB_MISSING"};
const Reasons kDownload = {"BLOB_MISSING", "BLOB_CORRUPT"};

uint32_t Mix(uint32_t value) {
  value = (value ^ 61) ^ (value >> 16);
  value *= 9;
  value ^= value >> 4;
  value *= 0x27d4eb2d;
  return value ^ (value >> 15);
}

std::string Noise(size_t size, uint32_t seed) {
  std::string bytes(size, '\0');
  std::mt19937 random(seed);
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

size_t SizeOf(int script) {
  uint32_t mix = Mix(static_cast<uint32_t>(script) + 7);
  return mix % 6 == 0 ? 1'200'000 + mix % 300'000 : mix % 30'000;
}

std::string TextOf(int script) {
  uint32_t mix = Mix(static_cast<uint32_t>(script));
  return "progress 3\nsleep " + std::to_string(mix % 120) + "\nsize " +
         std::to_string(SizeOf(script)) + "\n# " + std::to_string(script);
}

// One call of a client, from its begin to the judgement of its end.
class Attempt {
 public:
  Attempt(ChaosWorld* world, std::string kind, int limit_milliseconds = 60'000)
      : epoch(world->chaos->epoch()),
        server(world->chaos->server()),
        world_(world),
        kind_(std::move(kind)),
        short_(limit_milliseconds < 60'000),
        cancellable_(world->chaos, &context) {
    context.set_deadline(std::chrono::system_clock::now() +
                         milliseconds(limit_milliseconds));
  }

  // Whether it ended well; if not, its end must be one of those allowed.
  bool Judge(const grpc::Status& status, const Reasons& allowed) {
    CallEnd end = ReadEnd(status);
    bool ok = status.ok();
    std::string name = !end.reason.empty() ? end.reason
                       : ok                ? "OK"
                                           : std::to_string(end.code);
    world_->Count(kind_, name);
    if (ok || (end.reason.empty() && MayBreak(end))) return ok;
    if (FindError(end.reason) == nullptr ||
        (allowed.count(end.reason) == 0 && kAnyCall.count(end.reason) == 0) ||
        (end.reason == "STORAGE_FULL" && !world_->chaos->filled()) ||
        (end.reason == "BLOB_CORRUPT" && !world_->chaos->damaged())) {
      world_->Fault(kind_ + ": " + std::to_string(end.code) + " " + end.reason +
                    ": " + end.message);
    }
    return false;
  }

  const int epoch;  // before `server`, so that it never is of a later one
  grpc::ClientContext context;
  const std::shared_ptr<ServerProcess> server;
  bool cancels = false;  // by the client itself

 private:
  // Ends that gRPC makes, without a reason of ours.
  bool MayBreak(const CallEnd& end) const {
    int now = world_->chaos->epoch();
    bool away = epoch % 2 != 0 || now != epoch;
    switch (end.code) {
      case grpc::StatusCode::DEADLINE_EXCEEDED:
        return short_;
      case grpc::StatusCode::CANCELLED:
        return cancellable_.cancelled() || away || short_ || cancels;
      case grpc::StatusCode::UNAVAILABLE:
        return away;
      default:
        return false;
    }
  }

  ChaosWorld* const world_;
  const std::string kind_;
  const bool short_;
  Chaos::Cancellable cancellable_;
};

}  // namespace

std::string ChaosWorld::Artifact(int script) const {
  std::string artifact =
      "artifact of " + DigestOf(TextOf(script)).hash() + tail;
  if (SizeOf(script) > artifact.size()) artifact.resize(SizeOf(script), 'z');
  return artifact;
}

void ChaosWorld::Fault(const std::string& text) {
  std::lock_guard lock(mutex);
  if (faults.size() < 30) faults.push_back(text);
}

void ChaosWorld::Count(const std::string& kind, const std::string& end) {
  std::lock_guard lock(mutex);
  ++calls[kind];
  ++ends[end];
}

void JudgeOperation(ChaosWorld* world, const longrunning::Operation& operation,
                    int script) {
  if (operation.has_response()) {
    v1::CompileOperationResponse response;
    if (!operation.response().UnpackTo(&response) ||
        response.artifact().hash() !=
            DigestOf(world->Artifact(script)).hash()) {
      world->Fault("an operation has a wrong artifact");
    }
    return;
  }
  if (!operation.has_error()) return;
  CallEnd end = ReadEnd(
      {static_cast<grpc::StatusCode>(operation.error().code()),
       operation.error().message(), operation.error().SerializeAsString()});
  std::lock_guard lock(world->mutex);
  bool cancelled = end.reason == "OPERATION_CANCELLED" &&
                   world->cancelled.count(operation.name()) > 0;
  bool full = end.reason == "STORAGE_FULL" && world->chaos->filled();
  if (!cancelled && !full && kCompileCall.count(end.reason) == 0) {
    world->faults.push_back("operation: " + end.reason + ": " + end.message);
  }
}

void ReadBlob(ChaosWorld* world, const ChaosBlob& blob, size_t offset,
              size_t limit) {
  const std::string bytes = Noise(blob.size, blob.seed);
  Attempt attempt(world, "read");
  bytestream::ReadRequest request;
  request.set_resource_name(BlobText(DigestOf(bytes)));
  request.set_read_offset(static_cast<int64_t>(offset));
  request.set_read_limit(static_cast<int64_t>(limit));
  auto stub = bytestream::ByteStream::NewStub(attempt.server->channel());
  auto reader = stub->Read(&attempt.context, request);
  std::string got;
  for (bytestream::ReadResponse piece; reader->Read(&piece);) {
    got += piece.data();
  }
  if (!attempt.Judge(reader->Finish(), kDownload)) return;
  if (got != bytes.substr(offset, limit > 0 ? limit : std::string::npos)) {
    world->Fault("wrong bytes of a blob were served");
  }
}

void ChaosClient::Run() {
  while (!world_->over) {
    // Nobody is there: no need to ask without a pause.
    if (world_->chaos->epoch() % 2 != 0) {
      std::this_thread::sleep_for(milliseconds(20));
    }
    switch (random_() % 8) {
      case 0:
      case 1:
      case 2:
        Compile(Pick(), "", random_() % 4 == 0);
        break;
      case 3:
        CompileUntilItIsDone();
        break;
      case 4:
      case 5:
        StartOperation();
        break;
      case 6:
        UploadBlob();
        break;
      default:
        DownloadBlob();
    }
  }
}

int ChaosClient::Pick() { return static_cast<int>(random_() % kScripts); }

bool ChaosClient::Compile(int script, const std::string& request_id,
                          bool fresh) {
  bool hurries = random_() % 5 == 0;
  Attempt attempt(world_, "compile", hurries ? 1 + random_() % 200 : 60'000);
  v1::CompileRequest request = Script(TextOf(script));
  request.set_request_id(request_id);
  request.set_skip_cache_lookup(fresh);
  auto reader = attempt.server->stub().Compile(&attempt.context, request);
  std::string artifact;
  v1::CompileResult result;
  for (v1::CompileEvent event; reader->Read(&event);) {
    artifact += event.artifact_chunk().data();
    if (event.has_result()) result = event.result();
  }
  if (!attempt.Judge(reader->Finish(), kCompileCall)) return false;
  if (artifact != world_->Artifact(script)) {
    world_->Fault("a wrong artifact was served");
  }
  if (result.report().artifact().digest() != DigestOf(artifact).hash()) {
    world_->Fault("the report is of another artifact");
  }
  return true;
}

void ChaosClient::CompileUntilItIsDone() {
  std::string id = std::to_string(random_()) + "-" + std::to_string(random_());
  int script = Pick();
  bool fresh = random_() % 4 == 0;
  for (int i = 0; i < 8 && !world_->over; ++i) {
    if (Compile(script, id, fresh)) return;
    std::this_thread::sleep_for(milliseconds(30));
  }
}

void ChaosClient::StartOperation() {
  int script = Pick();
  longrunning::Operation operation;
  {
    Attempt attempt(world_, "start");
    v1::CompileRequest request = Script(TextOf(script));
    if (random_() % 2 == 0) {
      request.set_request_id("op-" + std::to_string(random_()));
    }
    request.set_skip_cache_lookup(random_() % 4 == 0);
    grpc::Status status = attempt.server->stub().StartCompile(
        &attempt.context, request, &operation);
    if (!attempt.Judge(status, kCompileCall)) return;
  }
  bool cancel = random_() % 8 == 0;
  {
    std::lock_guard lock(world_->mutex);
    world_->operations[operation.name()] = script;
    if (cancel) world_->cancelled.insert(operation.name());
  }
  if (cancel) CancelOperation(operation.name());
  if (random_() % 2 == 0) WaitOperation(operation.name(), script);
}

void ChaosClient::CancelOperation(const std::string& name) {
  Attempt attempt(world_, "cancel");
  longrunning::CancelOperationRequest request;
  request.set_name(name);
  google::protobuf::Empty nothing;
  auto stub = longrunning::Operations::NewStub(attempt.server->channel());
  attempt.Judge(stub->CancelOperation(&attempt.context, request, &nothing), {});
}

void ChaosClient::WaitOperation(const std::string& name, int script) {
  Attempt attempt(world_, "wait");
  longrunning::WaitOperationRequest request;
  longrunning::Operation operation;
  request.set_name(name);
  request.mutable_timeout()->set_seconds(1);
  auto stub = longrunning::Operations::NewStub(attempt.server->channel());
  if (attempt.Judge(stub->WaitOperation(&attempt.context, request, &operation),
                    {})) {
    JudgeOperation(world_, operation, script);
  }
}

void ChaosClient::UploadBlob() {
  ChaosBlob blob = {static_cast<uint32_t>(random_() % 500),
                    1 + random_() % 300'000};
  const std::string bytes = Noise(blob.size, blob.seed);
  const std::string name =
      "uploads/" + std::to_string(random_()) + "/" + BlobText(DigestOf(bytes));
  size_t offset = 0;
  for (int i = 0; i < 8 && !world_->over; ++i) {
    if (WriteFrom(name, bytes, offset)) {
      std::lock_guard lock(world_->mutex);
      world_->blobs.push_back(blob);
      return;
    }
    Attempt attempt(world_, "query");
    bytestream::QueryWriteStatusRequest request;
    bytestream::QueryWriteStatusResponse response;
    request.set_resource_name(name);
    auto stub = bytestream::ByteStream::NewStub(attempt.server->channel());
    offset = 0;
    if (attempt.Judge(
            stub->QueryWriteStatus(&attempt.context, request, &response),
            kUpload)) {
      offset = static_cast<size_t>(response.committed_size());
    }
  }
}

bool ChaosClient::WriteFrom(const std::string& name, const std::string& bytes,
                            size_t offset) {
  Attempt attempt(world_, "write");
  bytestream::WriteResponse response;
  auto stub = bytestream::ByteStream::NewStub(attempt.server->channel());
  auto writer = stub->Write(&attempt.context, &response);
  bytestream::WriteRequest request;
  request.set_resource_name(name);
  do {
    size_t size = std::min(kPieceBytes, bytes.size() - offset);
    request.set_write_offset(static_cast<int64_t>(offset));
    request.set_data(bytes.substr(offset, size));
    offset += size;
    request.set_finish_write(offset == bytes.size());
    if (!writer->Write(request)) break;
    if (random_() % 6 == 0) {
      attempt.cancels = true;
      attempt.context.TryCancel();
      break;
    }
  } while (offset < bytes.size());
  writer->WritesDone();
  if (!attempt.Judge(writer->Finish(), kUpload)) return false;
  return response.committed_size() == static_cast<int64_t>(bytes.size());
}

void ChaosClient::DownloadBlob() {
  ChaosBlob blob;
  {
    std::lock_guard lock(world_->mutex);
    if (world_->blobs.empty()) return;
    blob = world_->blobs[random_() % world_->blobs.size()];
  }
  ReadBlob(world_, blob, random_() % blob.size, random_() % 100'000);
}

}  // namespace fold
