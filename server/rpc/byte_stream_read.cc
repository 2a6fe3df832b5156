#include <algorithm>

#include "compiler/api/action.h"
#include "server/rpc/blob_names.h"
#include "server/rpc/byte_stream.h"
#include "server/rpc/unary.h"

namespace fold {
namespace {

namespace bytestream = google::bytestream;

class ReadHandler : public CallHandler {
 public:
  explicit ReadHandler(Call* call) : call_(call) {}

  void OnMessage(grpc::ByteBuffer* message) override {
    bytestream::ReadRequest request;
    if (!ParseMessage(message, &request)) {
      return call_->Fail(NotOneMessage("cannot be parsed"));
    }
    auto failure = ParseReadName(request.resource_name(), &name_);
    if (!failure && request.read_offset() < 0) {
      failure = Failure{"OFFSET_OUT_OF_RANGE", "read_offset is negative"};
    }
    if (!failure && request.read_limit() < 0) {
      failure = Failure{"BAD_REQUEST", "read_limit is negative"};
    }
    if (failure) return call_->Fail(*failure);
    if (!call_->Admit(name_.instance)) return;
    offset_ = request.read_offset();
    limit_ = request.read_limit();
    call_->Run([this] { Open(); });
  }
  void OnHalfClose() override { call_->Fail(NotOneMessage("is missing")); }
  void OnWritten() override {
    call_->Run([this] { SendNext(); });
  }

 private:
  void Open() {
    auto reader = call_->parts().blobs->Open(name_.key(), name_.size);
    if (!reader.ok()) return FailWith(reader.status());
    reader_ = std::move(*reader);
    if (reader_->size() != name_.size) {
      return FailWith(absl::NotFoundError("the blob has another size"));
    }
    if (offset_ > name_.size) {
      return FailWith(absl::OutOfRangeError("read_offset is behind the end"));
    }
    absl::Status skipped = reader_->Skip(offset_);
    if (!skipped.ok()) return FailWith(skipped);
    left_ = name_.size - offset_;
    if (limit_ > 0) left_ = std::min(left_, limit_);
    SendNext();
  }

  void SendNext() {
    if (left_ == 0) return call_->End(grpc::Status::OK);
    auto piece =
        reader_->Read(std::min(left_, static_cast<int64_t>(kStreamBytes)));
    if (!piece.ok()) return FailWith(piece.status());
    left_ -= static_cast<int64_t>(piece->size());
    if (left_ == 0) {
      // Whether the blob is right shows at its end, which may lie behind what
      // was asked for.
      absl::Status rest = ReadToTheEnd();
      if (!rest.ok()) return FailWith(rest);
    }
    bytestream::ReadResponse response;
    response.set_data(std::move(*piece));
    call_->Write(response);
  }

  absl::Status ReadToTheEnd() {
    for (;;) {
      if (call_->ended()) return absl::CancelledError("the caller has gone");
      auto piece = reader_->Read(kMaxPieceBytes);
      if (!piece.ok()) return piece.status();
      if (piece->empty()) return absl::OkStatus();
    }
  }

  void FailWith(const absl::Status& status) {
    call_->Fail(BlobFailure(status, BlobText(name_.hash, name_.size)));
  }

  Call* const call_;
  BlobName name_;
  int64_t offset_ = 0;
  int64_t limit_ = 0;
  int64_t left_ = 0;  // bytes to send
  std::unique_ptr<BlobReader> reader_;
};

}  // namespace

std::unique_ptr<CallHandler> MakeByteStreamRead(Call* call) {
  return std::make_unique<ReadHandler>(call);
}

}  // namespace fold
