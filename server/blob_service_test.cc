// A real server and a real client: blobs, in pieces and in batches.
#include <filesystem>
#include <fstream>
#include <thread>

#include "client/blob_transfer.h"
#include "compiler/api/action.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "proto/google/bytestream/bytestream.grpc.pb.h"
#include "server/testing/server_process.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
namespace bytestream = google::bytestream;
namespace reapi = build::bazel::remote::execution::v2;
namespace v1 = foldd::v1;
using grpc::StatusCode;
using ::testing::ElementsAre;

std::string Noise(size_t size, uint32_t seed) {
  std::string bytes(size, '\0');
  for (char& c : bytes) {
    seed = seed * 1664525 + 1013904223;
    c = static_cast<char>(seed >> 24);
  }
  return bytes;
}

class BlobServiceTest : public testing::Test {
 protected:
  void SetUp() override { Start(); }
  void Start(std::vector<std::string> flags = {}) {
    server_.reset();
    server_ =
        std::make_unique<ServerProcess>(ServerOptions{data_, std::move(flags)});
    ASSERT_TRUE(server_->started()) << server_->exit_code();
    cas_ = reapi::ContentAddressableStorage::NewStub(server_->channel());
    stream_ = bytestream::ByteStream::NewStub(server_->channel());
    actions_ = reapi::ActionCache::NewStub(server_->channel());
  }

  CallEnd Update(const std::string& bytes, const Digest& digest,
                 const std::string& instance = "") {
    reapi::BatchUpdateBlobsRequest request;
    reapi::BatchUpdateBlobsResponse response;
    request.set_instance_name(instance);
    auto* one = request.add_requests();
    *one->mutable_digest() = digest;
    one->set_data(bytes);
    grpc::ClientContext context;
    grpc::Status status = cas_->BatchUpdateBlobs(&context, request, &response);
    if (!status.ok()) return ReadEnd(status);
    const auto& inner = response.responses(0).status();
    return ReadEnd({static_cast<StatusCode>(inner.code()), inner.message(),
                    inner.SerializeAsString()});
  }
  // The digests that are missing, as hashes.
  std::vector<std::string> Missing(const std::vector<Digest>& digests,
                                   const std::string& instance = "") {
    reapi::FindMissingBlobsRequest request;
    reapi::FindMissingBlobsResponse response;
    request.set_instance_name(instance);
    for (const Digest& digest : digests) *request.add_blob_digests() = digest;
    grpc::ClientContext context;
    EXPECT_TRUE(cas_->FindMissingBlobs(&context, request, &response).ok());
    std::vector<std::string> hashes;
    for (const Digest& digest : response.missing_blob_digests()) {
      hashes.push_back(digest.hash());
    }
    return hashes;
  }
  static std::string ReadName(const Digest& digest) {
    return "blobs/" + digest.hash() + "/" + std::to_string(digest.size_bytes());
  }
  CallEnd Read(const std::string& name, std::string* bytes, int64_t offset = 0,
               int64_t limit = 0) {
    grpc::ClientContext context;
    bytestream::ReadRequest request;
    request.set_resource_name(name);
    request.set_read_offset(offset);
    request.set_read_limit(limit);
    auto reader = stream_->Read(&context, request);
    bytestream::ReadResponse response;
    bytes->clear();
    while (reader->Read(&response)) *bytes += response.data();
    return ReadEnd(reader->Finish());
  }
  // Sends pieces from `offset` on up to `until`; finishes at the end.
  CallEnd Write(const std::string& name, const std::string& bytes,
                size_t offset, size_t until, int64_t* committed) {
    grpc::ClientContext context;
    bytestream::WriteResponse response;
    auto writer = stream_->Write(&context, &response);
    bytestream::WriteRequest request;
    request.set_resource_name(name);
    for (size_t at = offset; at < until;) {
      size_t size = std::min(until - at, size_t{100'000});
      request.set_write_offset(static_cast<int64_t>(at));
      request.set_data(bytes.substr(at, size));
      at += size;
      request.set_finish_write(at == bytes.size());
      if (!writer->Write(request)) break;
    }
    writer->WritesDone();
    CallEnd end = ReadEnd(writer->Finish());
    *committed = response.committed_size();
    return end;
  }
  int64_t Committed(const std::string& name, bool* complete) {
    grpc::ClientContext context;
    bytestream::QueryWriteStatusRequest request;
    bytestream::QueryWriteStatusResponse response;
    request.set_resource_name(name);
    if (!stream_->QueryWriteStatus(&context, request, &response).ok()) {
      return -1;
    }
    *complete = response.complete();
    return response.committed_size();
  }

  std::string data_ = NewFolder("blob_service_test");
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<reapi::ContentAddressableStorage::Stub> cas_;
  std::unique_ptr<bytestream::ByteStream::Stub> stream_;
  std::unique_ptr<reapi::ActionCache::Stub> actions_;
};

TEST_F(BlobServiceTest, BatchesAreCheckedOneByOne) {
  Digest good = DigestOf("good");
  EXPECT_THAT(Missing({good, good}), ElementsAre(good.hash()));
  EXPECT_EQ(Update("good", good).code, StatusCode::OK);
  EXPECT_THAT(Missing({good}), ElementsAre());
  CallEnd end = Update("evil", DigestOf("dood"));
  EXPECT_EQ(end.code, StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(end.reason, "BLOB_WRONG");
  end = Update("longer", DigestOf("dood"));
  EXPECT_EQ(end.reason, "BLOB_WRONG");
  EXPECT_THAT(Missing({DigestOf("dood")}),
              ElementsAre(DigestOf("dood").hash()));
  // The blob of no bytes is always there.
  EXPECT_THAT(Missing({DigestOf("")}), ElementsAre());
  std::string bytes = "x";
  EXPECT_EQ(Read(ReadName(DigestOf("")), &bytes).code, StatusCode::OK);
  EXPECT_EQ(bytes, "");

  reapi::BatchReadBlobsRequest request;
  reapi::BatchReadBlobsResponse response;
  *request.add_digests() = good;
  *request.add_digests() = DigestOf("absent");
  grpc::ClientContext context;
  ASSERT_TRUE(cas_->BatchReadBlobs(&context, request, &response).ok());
  EXPECT_EQ(response.responses(0).data(), "good");
  EXPECT_EQ(response.responses(0).status().code(), 0);
  EXPECT_EQ(response.responses(1).status().code(), StatusCode::NOT_FOUND);

  // More than fits into a message is refused before it is read.
  request.clear_digests();
  Digest large = good;
  large.set_size_bytes(int64_t{1} << 40);
  *request.add_digests() = large;
  grpc::ClientContext second;
  end = ReadEnd(cas_->BatchReadBlobs(&second, request, &response));
  EXPECT_EQ(end.reason, "MESSAGE_TOO_LARGE");
}

TEST_F(BlobServiceTest, AnUploadGoesOnWhereItBroke) {
  const std::string bytes = Noise(3'000'000, 1);
  Digest digest = DigestOf(bytes);
  std::string name = "uploads/u1/" + ReadName(digest);
  bool complete = true;
  EXPECT_EQ(Committed(name, &complete), -1);
  int64_t committed = 0;
  // Ends without finish_write, as a client whose connection broke.
  CallEnd end = Write(name, bytes, 0, 1'000'000, &committed);
  EXPECT_EQ(end.code, StatusCode::OK) << end.message;
  EXPECT_EQ(committed, 1'000'000);
  EXPECT_EQ(Committed(name, &complete), 1'000'000);
  EXPECT_FALSE(complete);
  EXPECT_THAT(Missing({digest}), ElementsAre(digest.hash()));
  // A gap is refused, and leaves the upload as it was.
  end = Write(name, bytes, 1'500'000, 1'600'000, &committed);
  EXPECT_EQ(end.code, StatusCode::OUT_OF_RANGE);
  EXPECT_EQ(end.reason, "OFFSET_OUT_OF_RANGE");
  EXPECT_EQ(Committed(name, &complete), 1'000'000);
  end = Write(name, bytes, 1'000'000, bytes.size(), &committed);
  EXPECT_EQ(end.code, StatusCode::OK) << end.message;
  EXPECT_EQ(committed, 3'000'000);
  EXPECT_EQ(Committed(name, &complete), 3'000'000);
  EXPECT_TRUE(complete);

  // Downloads go on, too.
  std::string whole, rest, part;
  EXPECT_EQ(Read(ReadName(digest), &whole).code, StatusCode::OK);
  EXPECT_EQ(whole, bytes);
  EXPECT_EQ(Read(ReadName(digest), &rest, 2'345'678).code, StatusCode::OK);
  EXPECT_EQ(rest, bytes.substr(2'345'678));
  EXPECT_EQ(Read(ReadName(digest), &part, 17, 1'000'000).code, StatusCode::OK);
  EXPECT_EQ(part, bytes.substr(17, 1'000'000));
  EXPECT_EQ(Read(ReadName(digest), &part, 3'000'001).code,
            StatusCode::OUT_OF_RANGE);
  // Who sends what is there already is told so at once.
  end = Write("uploads/u2/" + ReadName(digest), bytes, 0, 100'000, &committed);
  EXPECT_EQ(end.code, StatusCode::OK);
  EXPECT_EQ(committed, 3'000'000);
}

TEST_F(BlobServiceTest, WrongBytesAreNeverABlob) {
  const std::string bytes = Noise(500'000, 2);
  Digest digest = DigestOf(bytes);
  std::string wrong = bytes;
  wrong[499'999] ^= 1;
  int64_t committed = 0;
  CallEnd end = Write("uploads/u/" + ReadName(digest), wrong, 0, wrong.size(),
                      &committed);
  EXPECT_EQ(end.code, StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(end.reason, "BLOB_WRONG");
  EXPECT_THAT(Missing({digest}), ElementsAre(digest.hash()));
  // More than was announced is wrong, too.
  end = Write("uploads/v/" + ReadName(digest), bytes + "more", 0,
              bytes.size() + 4, &committed);
  EXPECT_EQ(end.reason, "BLOB_WRONG");
  // And so is what the disk changed behind our back.
  ASSERT_EQ(Update("small", DigestOf("small")).code, StatusCode::OK);
  for (const auto& file : fs::recursive_directory_iterator(data_ + "/cache")) {
    if (file.path().filename() == DigestOf("small").hash()) {
      std::ofstream(file.path()) << "smell";
    }
  }
  std::string got;
  end = Read(ReadName(DigestOf("small")), &got);
  EXPECT_EQ(end.code, StatusCode::DATA_LOSS);
  EXPECT_EQ(end.reason, "BLOB_CORRUPT");
  EXPECT_EQ(got, "");
  EXPECT_THAT(Missing({DigestOf("small")}),
              ElementsAre(DigestOf("small").hash()));
  EXPECT_EQ(Update("small", DigestOf("small")).code, StatusCode::OK);
}

TEST_F(BlobServiceTest, PiecesAreBoundedInSize) {
  const std::string bytes = Noise(1'200'000, 8);
  grpc::ClientContext context;
  bytestream::WriteResponse response;
  auto writer = stream_->Write(&context, &response);
  bytestream::WriteRequest request;
  request.set_resource_name("uploads/u/" + ReadName(DigestOf(bytes)));
  request.set_data(bytes);
  request.set_finish_write(true);
  (void)writer->Write(request);
  CallEnd end = ReadEnd(writer->Finish());
  EXPECT_EQ(end.code, StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(end.reason, "MESSAGE_TOO_LARGE");
}

TEST_F(BlobServiceTest, BlobsAreBoundedInSize) {
  Start({"--max-blob-bytes", "100000"});
  const std::string bytes = Noise(100'001, 6);
  int64_t committed = 0;
  CallEnd end = Write("uploads/u/" + ReadName(DigestOf(bytes)), bytes, 0,
                      bytes.size(), &committed);
  EXPECT_EQ(end.code, StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(end.reason, "BLOB_TOO_LARGE");
  EXPECT_EQ(end.metadata.at("limit_bytes"), "100000");
  EXPECT_EQ(server_->Metric("foldd_cache_temporary_bytes"), 0);
}

TEST_F(BlobServiceTest, InstancesDoNotSeeEachOther) {
  Digest digest = DigestOf("secret");
  ASSERT_EQ(Update("secret", digest, "team").code, StatusCode::OK);
  EXPECT_THAT(Missing({digest}, "team"), ElementsAre());
  EXPECT_THAT(Missing({digest}), ElementsAre(digest.hash()));
  EXPECT_THAT(Missing({digest}, "other"), ElementsAre(digest.hash()));
  std::string bytes;
  EXPECT_EQ(Read("other/" + ReadName(digest), &bytes).code,
            StatusCode::NOT_FOUND);
  EXPECT_EQ(Read("team/" + ReadName(digest), &bytes).code, StatusCode::OK);
  EXPECT_EQ(bytes, "secret");
}

TEST_F(BlobServiceTest, AnActionIsAnsweredOnlyWithAllItsBlobs) {
  Digest action = DigestOf("action");
  reapi::UpdateActionResultRequest update;
  *update.mutable_action_digest() = action;
  auto* file = update.mutable_action_result()->add_output_files();
  file->set_path("out");
  *file->mutable_digest() = DigestOf("output");
  reapi::ActionResult result;
  {
    grpc::ClientContext context;
    CallEnd end =
        ReadEnd(actions_->UpdateActionResult(&context, update, &result));
    EXPECT_EQ(end.code, StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(end.reason, "BLOBS_MISSING");
    EXPECT_THAT(end.missing,
                ElementsAre("MISSING " + ReadName(DigestOf("output"))));
  }
  ASSERT_EQ(Update("output", DigestOf("output")).code, StatusCode::OK);
  {
    grpc::ClientContext context;
    EXPECT_TRUE(actions_->UpdateActionResult(&context, update, &result).ok());
  }
  reapi::GetActionResultRequest get;
  *get.mutable_action_digest() = action;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(actions_->GetActionResult(&context, get, &result).ok());
    EXPECT_EQ(result.output_files(0).path(), "out");
  }
  for (const auto& one : fs::recursive_directory_iterator(data_ + "/cache")) {
    if (one.path().filename() == DigestOf("output").hash()) {
      fs::remove(one.path());
      break;
    }
  }
  Start();
  grpc::ClientContext context;
  CallEnd end = ReadEnd(actions_->GetActionResult(&context, get, &result));
  EXPECT_EQ(end.code, StatusCode::NOT_FOUND);
  // A failure has no place there.
  update.mutable_action_result()->set_exit_code(1);
  grpc::ClientContext last;
  end = ReadEnd(actions_->UpdateActionResult(&last, update, &result));
  EXPECT_EQ(end.reason, "BAD_REQUEST");
}

TEST_F(BlobServiceTest, TreesAreWalkedInPages) {
  reapi::Directory leaf;
  leaf.add_files()->set_name("w");
  *leaf.mutable_files(0)->mutable_digest() = DigestOf("w");
  reapi::Directory root;
  for (const char* name : {"a", "b"}) {
    auto* node = root.add_directories();
    node->set_name(name);
    *node->mutable_digest() = DigestOf(leaf.SerializeAsString());
  }
  auto* last = root.add_directories();
  last->set_name("c");
  reapi::Directory empty;
  empty.add_symlinks()->set_name("l");
  *last->mutable_digest() = DigestOf(empty.SerializeAsString());
  for (const auto* directory : {&leaf, &root, &empty}) {
    std::string bytes = directory->SerializeAsString();
    ASSERT_EQ(Update(bytes, DigestOf(bytes)).code, StatusCode::OK);
  }
  reapi::GetTreeRequest request;
  *request.mutable_root_digest() = DigestOf(root.SerializeAsString());
  request.set_page_size(1);
  auto walk = [&] {
    grpc::ClientContext context;
    auto reader = cas_->GetTree(&context, request);
    reapi::GetTreeResponse page;
    std::vector<int> sizes;
    while (reader->Read(&page)) {
      sizes.push_back(page.directories_size());
    }
    EXPECT_TRUE(reader->Finish().ok());
    return sizes;
  };
  // The same directory under two names comes once.
  EXPECT_THAT(walk(), ElementsAre(1, 1, 1));
  request.set_page_size(0);
  EXPECT_THAT(walk(), ElementsAre(3));
  request.set_page_token("2");
  EXPECT_THAT(walk(), ElementsAre(1));
  *request.mutable_root_digest() = DigestOf("nothing");
  grpc::ClientContext context;
  reapi::GetTreeResponse page;
  auto reader = cas_->GetTree(&context, request);
  EXPECT_FALSE(reader->Read(&page));
  EXPECT_EQ(ReadEnd(reader->Finish()).reason, "BLOB_MISSING");
}

TEST_F(BlobServiceTest, CapabilitiesStateTheLimits) {
  auto stub = reapi::Capabilities::NewStub(server_->channel());
  grpc::ClientContext context;
  reapi::ServerCapabilities can;
  ASSERT_TRUE(stub->GetCapabilities(&context, {}, &can).ok());
  EXPECT_THAT(can.cache_capabilities().digest_functions(),
              ElementsAre(reapi::DigestFunction::SHA256));
  EXPECT_GT(can.cache_capabilities().max_batch_total_size_bytes(), 1 << 20);
  EXPECT_LE(can.cache_capabilities().max_batch_total_size_bytes(), 4 << 20);
  EXPECT_GT(can.cache_capabilities().max_cas_blob_size_bytes(), 1 << 30);
  EXPECT_EQ(can.high_api_version().major(), 2);
}

// A model larger than a message, and its external data, by digest.
TEST_F(BlobServiceTest, LargeModelsAreCompiledByDigest) {
  const std::string script = "size 3000000\n" + std::string(6'000'000, ' ');
  v1::CompileRequest request = Script("");
  request.clear_model();
  *request.mutable_model_digest() = DigestOf(script);
  auto* file = request.add_external_files();
  file->set_location("w.bin");
  *file->mutable_digest() = DigestOf("weights");
  CompileEnd end = server_->Compile(request);
  EXPECT_EQ(end.reason, "BLOBS_MISSING");
  EXPECT_THAT(end.missing,
              ElementsAre("MISSING " + ReadName(DigestOf(script)),
                          "MISSING " + ReadName(DigestOf("weights"))));
  BlobTransfer transfer(server_->channel(), "");
  LocalBlob model = {DigestOf(script), "", script};
  LocalBlob weights = {DigestOf("weights"), "", "weights"};
  LocalBlob blobs[] = {model, weights};
  auto error = transfer.Upload(blobs);
  ASSERT_FALSE(error.has_value()) << error->message;
  EXPECT_EQ(transfer.sent_bytes(), 6'000'000 + 13 + 7);
  ASSERT_FALSE(transfer.Upload(blobs).has_value());
  EXPECT_EQ(transfer.sent_bytes(), 6'000'000 + 13 + 7);  // nothing twice
  end = server_->Compile(request);
  ASSERT_TRUE(end.ok()) << end.message;
  EXPECT_EQ(end.artifact.size(), 3'000'000u);
  EXPECT_EQ(end.result.report().artifact().digest(),
            DigestOf(end.artifact).hash());
  // The artifact is a blob, and can stay one.
  request.set_omit_artifact(true);
  CompileEnd bare = server_->Compile(request);
  ASSERT_TRUE(bare.ok());
  EXPECT_TRUE(bare.cached());
  EXPECT_EQ(bare.artifact, "");
  std::string downloaded;
  error =
      transfer.Download(DigestOf(end.artifact), [&](std::string_view piece) {
        downloaded += piece;
        return std::string();
      });
  EXPECT_FALSE(error.has_value());
  EXPECT_EQ(downloaded, end.artifact);
}

TEST_F(BlobServiceTest, NamesOfExternalFilesAreChecked) {
  v1::CompileRequest request = Script("x");
  for (const char* name : {"../w", "model.onnx", "w", "./w"}) {
    auto* file = request.add_external_files();
    file->set_location(name);
    *file->mutable_digest() = DigestOf("w");
  }
  CompileEnd end = server_->Compile(request);
  EXPECT_EQ(end.reason, "BAD_REQUEST");
  EXPECT_THAT(end.fields, ElementsAre("external_files[0].location",
                                      "external_files[1].location",
                                      "external_files[3].location"));
}

TEST_F(BlobServiceTest, ACallerThatStallsIsLetGo) {
  Start({"--stall-seconds", "1"});
  Digest digest = DigestOf(Noise(1000, 3));
  grpc::ClientContext context;
  bytestream::WriteResponse response;
  auto writer = stream_->Write(&context, &response);
  bytestream::WriteRequest request;
  request.set_resource_name("uploads/slow/" + ReadName(digest));
  request.set_data(Noise(1000, 3).substr(0, 10));
  ASSERT_TRUE(writer->Write(request));
  CallEnd end = ReadEnd(writer->Finish());  // without another message
  EXPECT_EQ(end.code, StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(end.reason, "CALLER_STALLED");

  // A reader that does not read, either.
  const std::string large = Noise(40'000'000, 4);
  LocalBlob blobs[] = {{DigestOf(large), "", large}};
  BlobTransfer transfer(server_->channel(), "");
  ASSERT_FALSE(transfer.Upload(blobs).has_value());
  grpc::ClientContext slow;
  bytestream::ReadRequest read;
  read.set_resource_name(ReadName(DigestOf(large)));
  auto reader = stream_->Read(&slow, read);
  bytestream::ReadResponse piece;
  ASSERT_TRUE(reader->Read(&piece));
  EXPECT_TRUE(server_->WaitMetric("foldd_calls_stalled_total", 1));
  EXPECT_TRUE(server_->WaitMetric("foldd_calls", 0));
}

TEST_F(BlobServiceTest, OfTwoCallsOnOneUploadTheLaterGoesOn) {
  const std::string bytes = Noise(300'000, 7);
  std::string name = "uploads/u/" + ReadName(DigestOf(bytes));
  grpc::ClientContext context;
  bytestream::WriteResponse response;
  auto early = stream_->Write(&context, &response);
  bytestream::WriteRequest request;
  request.set_resource_name(name);
  request.set_data(bytes.substr(0, 100'000));
  ASSERT_TRUE(early->Write(request));
  bool complete = false;
  while (Committed(name, &complete) < 100'000) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  int64_t committed = 0;
  CallEnd end = Write(name, bytes, 100'000, 200'000, &committed);
  EXPECT_EQ(committed, 200'000) << end.message;
  request.set_write_offset(100'000);
  request.set_data(bytes.substr(100'000, 10));
  (void)early->Write(request);
  end = ReadEnd(early->Finish());
  EXPECT_EQ(end.code, StatusCode::ABORTED);
  EXPECT_EQ(end.reason, "UPLOAD_TAKEN_OVER");
  EXPECT_TRUE(end.retry);
  EXPECT_EQ(Write(name, bytes, 200'000, bytes.size(), &committed).code,
            StatusCode::OK);
}

TEST_F(BlobServiceTest, UploadsAreBoundedInNumber) {
  Start({"--max-uploads", "1"});
  Digest digest = DigestOf(Noise(1000, 5));
  auto begin = [&](grpc::ClientContext* context, const std::string& upload,
                   bytestream::WriteResponse* response) {
    auto writer = stream_->Write(context, response);
    bytestream::WriteRequest request;
    request.set_resource_name("uploads/" + upload + "/" + ReadName(digest));
    request.set_data("x");
    (void)writer->Write(request);
    return writer;
  };
  grpc::ClientContext first, second;
  bytestream::WriteResponse response;
  auto one = begin(&first, "a", &response);
  ASSERT_TRUE(server_->WaitMetric("foldd_uploads", 1));
  auto two = begin(&second, "b", &response);
  CallEnd end = ReadEnd(two->Finish());
  EXPECT_EQ(end.code, StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(end.retry);
  first.TryCancel();
  (void)one->Finish();
  EXPECT_TRUE(server_->WaitMetric("foldd_calls", 0));
}

TEST_F(BlobServiceTest, CallsAreBoundedInNumber) {
  Start({"--max-calls", "2"});
  grpc::ClientContext contexts[2];
  bytestream::WriteResponse response;
  auto one = stream_->Write(&contexts[0], &response);
  auto two = stream_->Write(&contexts[1], &response);
  ASSERT_TRUE(server_->WaitMetric("foldd_calls", 2));
  CompileEnd end = server_->Compile(Script("x"));
  EXPECT_EQ(end.reason, "TOO_MANY_CALLS");
  EXPECT_TRUE(end.retry);
  for (auto& context : contexts) context.TryCancel();
  (void)one->Finish();
  (void)two->Finish();
  EXPECT_TRUE(server_->WaitMetric("foldd_calls", 0));
  EXPECT_TRUE(server_->Compile(Script("x")).ok());
}

}  // namespace
}  // namespace fold
