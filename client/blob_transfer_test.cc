#include "client/blob_transfer.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>

#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

namespace bytestream = google::bytestream;
namespace reapi = build::bazel::remote::execution::v2;
using grpc::Status;
using grpc::StatusCode;

// A CAS that breaks calls now and then, keeps what it has, and can be made to
// send wrong bytes.
class FlakyCas final : public reapi::ContentAddressableStorage::Service,
                       public bytestream::ByteStream::Service {
 public:
  Status FindMissingBlobs(grpc::ServerContext*,
                          const reapi::FindMissingBlobsRequest* request,
                          reapi::FindMissingBlobsResponse* response) override {
    std::lock_guard lock(mutex);
    if (busy > 0 && busy-- > 0) return {StatusCode::RESOURCE_EXHAUSTED, "busy"};
    for (const Digest& digest : request->blob_digests()) {
      if (blobs.count(digest.hash()) == 0) {
        *response->add_missing_blob_digests() = digest;
      }
    }
    return Status::OK;
  }
  Status BatchUpdateBlobs(grpc::ServerContext*,
                          const reapi::BatchUpdateBlobsRequest* request,
                          reapi::BatchUpdateBlobsResponse* response) override {
    std::lock_guard lock(mutex);
    ++batches;
    for (const auto& one : request->requests()) {
      auto* out = response->add_responses();
      *out->mutable_digest() = one.digest();
      if (DigestOf(one.data()).hash() != one.digest().hash()) {
        out->mutable_status()->set_code(StatusCode::INVALID_ARGUMENT);
        continue;
      }
      blobs[one.digest().hash()] = one.data();
    }
    return Status::OK;
  }
  Status Write(grpc::ServerContext*,
               grpc::ServerReader<bytestream::WriteRequest>* reader,
               bytestream::WriteResponse* response) override {
    bytestream::WriteRequest request;
    int messages = 0;
    std::string name;
    while (reader->Read(&request)) {
      std::lock_guard lock(mutex);
      if (!request.resource_name().empty()) name = request.resource_name();
      std::string& partial = uploads[name];
      if (request.write_offset() != static_cast<int64_t>(partial.size())) {
        return {StatusCode::OUT_OF_RANGE, "elsewhere"};
      }
      partial += request.data();
      if (request.finish_write()) {
        blobs[DigestOf(partial).hash()] = partial;
        response->set_committed_size(static_cast<int64_t>(partial.size()));
        return Status::OK;
      }
      if (++messages == 2 && breaks > 0) {
        --breaks;
        return {StatusCode::UNAVAILABLE, "broken"};
      }
    }
    return {StatusCode::UNAVAILABLE, "ended early"};
  }
  Status QueryWriteStatus(
      grpc::ServerContext*, const bytestream::QueryWriteStatusRequest* request,
      bytestream::QueryWriteStatusResponse* response) override {
    std::lock_guard lock(mutex);
    if (forgets) uploads.clear();
    response->set_committed_size(
        static_cast<int64_t>(uploads[request->resource_name()].size()));
    return Status::OK;
  }
  Status Read(grpc::ServerContext*, const bytestream::ReadRequest* request,
              grpc::ServerWriter<bytestream::ReadResponse>* writer) override {
    std::lock_guard lock(mutex);
    auto found = blobs.find(request->resource_name().substr(6, 64));
    if (found == blobs.end()) return {StatusCode::NOT_FOUND, "gone"};
    std::string bytes =
        found->second.substr(static_cast<size_t>(request->read_offset()));
    if (wrong) bytes.back() ^= 1;
    bytestream::ReadResponse response;
    response.set_data(bytes.substr(0, 100'000));
    writer->Write(response);
    if (breaks > 0 && bytes.size() > 100'000) {
      --breaks;
      return {StatusCode::UNAVAILABLE, "broken"};
    }
    if (bytes.size() > 100'000) {
      response.set_data(bytes.substr(100'000));
      writer->Write(response);
    }
    return Status::OK;
  }

  std::mutex mutex;
  std::map<std::string, std::string> blobs, uploads;
  int batches = 0, breaks = 0, busy = 0;
  bool forgets = false, wrong = false;
};

class BlobTransferTest : public testing::Test {
 protected:
  void SetUp() override {
    grpc::ServerBuilder builder;
    builder.RegisterService(
        static_cast<reapi::ContentAddressableStorage::Service*>(&cas_));
    builder.RegisterService(
        static_cast<bytestream::ByteStream::Service*>(&cas_));
    server_ = builder.BuildAndStart();
    transfer_ =
        std::make_unique<BlobTransfer>(server_->InProcessChannel({}), "", 3);
  }
  static LocalBlob Blob(size_t size, char c) {
    std::string bytes(size, c);
    return {DigestOf(bytes), "", bytes};
  }
  FlakyCas cas_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<BlobTransfer> transfer_;
};

TEST_F(BlobTransferTest, SmallBlobsTravelTogetherAndOnlyOnce) {
  LocalBlob blobs[] = {Blob(10, 'a'), Blob(900'000, 'b'), Blob(900'000, 'c'),
                       Blob(900'000, 'd'), Blob(900'000, 'e')};
  EXPECT_FALSE(transfer_->Upload(blobs).has_value());
  EXPECT_EQ(cas_.blobs.size(), 5u);
  EXPECT_EQ(cas_.batches, 2);
  EXPECT_FALSE(transfer_->Upload(blobs).has_value());
  EXPECT_EQ(cas_.batches, 2);
}

TEST_F(BlobTransferTest, ALargeOneGoesOnWhereItBroke) {
  cas_.breaks = 4;
  LocalBlob blobs[] = {Blob(3'000'000, 'x')};
  auto error = transfer_->Upload(blobs);
  ASSERT_FALSE(error.has_value()) << error->message;
  EXPECT_EQ(cas_.blobs.count(blobs[0].digest.hash()), 1u);
  EXPECT_EQ(transfer_->resumed(), 4);
  // What was committed was not sent again.
  EXPECT_LT(transfer_->sent_bytes(), 2 * 3'000'000);
}

TEST_F(BlobTransferTest, OneThatGetsNoFurtherIsGivenUp) {
  cas_.breaks = 1000;
  cas_.forgets = true;
  LocalBlob blobs[] = {Blob(3'000'000, 'x')};
  auto error = transfer_->Upload(blobs);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->reason, "SERVER_UNREACHABLE");
}

TEST_F(BlobTransferTest, ABusyServerIsAskedAgain) {
  cas_.busy = 2;
  LocalBlob blobs[] = {Blob(10, 'a')};
  EXPECT_FALSE(transfer_->Upload(blobs).has_value());
  cas_.busy = 1000;
  LocalBlob more[] = {Blob(11, 'a')};
  EXPECT_TRUE(transfer_->Upload(more).has_value());
}

TEST_F(BlobTransferTest, DownloadsAreResumedAndChecked) {
  LocalBlob blob = Blob(400'000, 'q');
  cas_.blobs[blob.digest.hash()] = blob.bytes;
  cas_.breaks = 2;
  std::string got;
  auto sink = [&](std::string_view piece) {
    got += piece;
    return std::string();
  };
  auto error = transfer_->Download(blob.digest, sink);
  ASSERT_FALSE(error.has_value()) << error->message;
  EXPECT_EQ(got, blob.bytes);
  EXPECT_EQ(transfer_->resumed(), 2);
  cas_.wrong = true;
  error = transfer_->Download(blob.digest, sink);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->reason, "PROTOCOL");
  error = transfer_->Download(DigestOf("absent"), sink);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->exit_code, 3);
  // A sink that is full ends it.
  cas_.wrong = false;
  error = transfer_->Download(
      blob.digest, [](std::string_view) { return std::string("disk full"); });
  EXPECT_EQ(error->message, "disk full");
}

TEST_F(BlobTransferTest, FilesAreReadInPieces) {
  std::string path = testing::TempDir() + "blob_transfer_XXXXXX";
  int fd = mkstemp(path.data());
  ASSERT_GE(fd, 0);
  const std::string bytes(2'500'000, 'f');
  std::ofstream(path, std::ios::binary) << bytes;
  LocalBlob blob;
  ASSERT_EQ(ReadLocalBlob(path, &blob), "");
  EXPECT_EQ(blob.digest.hash(), DigestOf(bytes).hash());
  EXPECT_EQ(blob.digest.size_bytes(), 2'500'000);
  LocalBlob blobs[] = {blob};
  ASSERT_FALSE(transfer_->Upload(blobs).has_value());
  EXPECT_EQ(cas_.blobs[blob.digest.hash()], bytes);
  // One that changes while it is sent is the caller's fault.
  cas_.blobs.clear();
  std::ofstream(path, std::ios::trunc) << "short";
  auto error = transfer_->Upload(blobs);
  ASSERT_TRUE(error.has_value());
  EXPECT_THAT(error->message, testing::HasSubstr("became shorter"));
  EXPECT_NE(ReadLocalBlob(path + ".none", &blob), "");
  std::remove(path.c_str());
}

TEST(NewUuid, IsAUuid) {
  std::string uuid = NewUuid();
  EXPECT_EQ(uuid.size(), 36u);
  EXPECT_EQ(uuid[14], '4');
  EXPECT_NE(uuid, NewUuid());
}

}  // namespace
}  // namespace fold
