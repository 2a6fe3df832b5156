#include "compiler/api/action.h"
#include "server/rpc/blob_names.h"
#include "server/rpc/byte_stream.h"
#include "server/rpc/unary.h"
#include "server/upload_sessions.h"

namespace fold {
namespace {

namespace bytestream = google::bytestream;

// An upload is its caller's own: nobody goes on with another's.
std::string SessionName(const Call& call, const BlobName& name) {
  return call.principal().name + "/" + name.instance + "/" + name.upload + "/" +
         name.hash + "/" + std::to_string(name.size);
}

class WriteHandler : public CallHandler {
 public:
  explicit WriteHandler(Call* call) : call_(call) {}

  void OnMessage(grpc::ByteBuffer* message) override {
    request_.Clear();
    if (!ParseMessage(message, &request_)) {
      return call_->Fail(NotOneMessage("cannot be parsed"));
    }
    if (!named_) {
      if (auto failure = ParseWriteName(request_.resource_name(), &name_)) {
        return call_->Fail(*failure);
      }
      named_ = true;
      const int64_t most = call_->parts().config->max_blob_bytes;
      if (name_.size > most) {
        return call_->Fail({"BLOB_TOO_LARGE",
                            "the blob is larger than this server takes",
                            {{"limit_bytes", std::to_string(most)}}});
      }
      resource_name_ = request_.resource_name();
      if (!call_->Admit(name_.instance)) return;
    } else if (!request_.resource_name().empty() &&
               request_.resource_name() != resource_name_) {
      return call_->Fail(
          {"BAD_REQUEST", "resource_name changes within the call"});
    }
    call_->Run([this] { Append(); });
  }

  void OnHalfClose() override {
    if (!named_) return call_->Fail(NotOneMessage("is missing"));
    // Not finished: it can be gone on with.
    Answer(session_ != nullptr ? session_->committed() : 0);
  }

 private:
  void Append() {
    const ServiceParts& parts = call_->parts();
    if (session_ == nullptr) {
      if (Complete()) return Answer(name_.size);
      auto opened = parts.uploads->Open(SessionName(*call_, name_), [&] {
        return parts.blobs->Create(name_.key(), name_.size);
      });
      if (!opened.ok()) return FailWith(opened.status());
      session_ = std::move(*opened);
      session_->Take(this);
    }
    absl::Status status =
        session_->Append(this, request_.write_offset(), request_.data());
    // The message's bytes are on the disk now.
    bool finish = request_.finish_write();
    request_.Clear();
    if (status.ok() && finish) {
      status = session_->Finish(this);
      parts.uploads->Forget(SessionName(*call_, name_));
    }
    if (!status.ok()) return FailWith(status);
    if (finish) return Answer(name_.size);
    call_->Read();
  }

  // Whether the blob is here: from earlier, or because another was faster.
  bool Complete() {
    if (IsEmptyBlob(name_.key())) return true;
    const Key keys[] = {name_.key()};
    return call_->parts().blobs->Missing(keys).empty();
  }

  void Answer(int64_t bytes) {
    bytestream::WriteResponse response;
    response.set_committed_size(bytes);
    call_->WriteAndEnd(response);
  }

  void FailWith(const absl::Status& status) {
    std::string blob = BlobText(name_.hash, name_.size);
    if (absl::IsAborted(status)) {
      return call_->Fail(
          {"UPLOAD_TAKEN_OVER", blob + ": " + std::string(status.message())});
    }
    // A wrong offset leaves the upload as it is; all else has ended it.
    if (!absl::IsOutOfRange(status)) {
      call_->parts().uploads->Forget(SessionName(*call_, name_));
    }
    call_->Fail(BlobFailure(status, blob));
  }

  Call* const call_;
  bytestream::WriteRequest request_;
  bool named_ = false;
  BlobName name_;
  std::string resource_name_;
  std::shared_ptr<UploadSessions::Session> session_;
};

}  // namespace

std::unique_ptr<CallHandler> MakeByteStreamWrite(Call* call) {
  return std::make_unique<WriteHandler>(call);
}

grpc::Status QueryWriteStatus(
    Call& call, const bytestream::QueryWriteStatusRequest& request,
    bytestream::QueryWriteStatusResponse* response) {
  BlobName name;
  if (auto failure = ParseWriteName(request.resource_name(), &name)) {
    return ToStatus(*failure);
  }
  // The call has ended with the reason.
  if (!call.Admit(name.instance)) return grpc::Status::CANCELLED;
  const Key keys[] = {name.key()};
  if (call.parts().blobs->Missing(keys).empty()) {
    response->set_committed_size(name.size);
    response->set_complete(true);
    return grpc::Status::OK;
  }
  auto session = call.parts().uploads->Find(SessionName(call, name));
  if (session == nullptr) {
    return ToStatus({"BLOB_MISSING", "nothing is known of this upload"});
  }
  response->set_committed_size(session->committed());
  return grpc::Status::OK;
}

}  // namespace fold
