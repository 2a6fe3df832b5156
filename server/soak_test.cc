// Many transfers at one time against one server, whose memory stays small.
//   FOLD_SOAK_TRANSFERS, FOLD_SOAK_BYTES: how many, and of how many bytes.
#include <sys/statvfs.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "compiler/api/action.h"
#include "compiler/api/sha256.h"
#include "compiler/sandbox/sanitized.h"
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
using grpc::StatusCode;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int64_t kMaxResidentBytes = int64_t{512} << 20;
constexpr int64_t kPieceBytes = 256 << 10;
constexpr int kSources = 4;      // blobs that are downloaded
constexpr int kSlowReaders = 5;  // beside the transfers
constexpr int kChannels = 8;

int64_t Setting(const char* name, int64_t standard) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : standard;
}

// Bytes from `offset` on of the blob that is called so; `offset` is a multiple
// of 8. Any part can be made without the rest.
std::string Bytes(uint64_t blob, int64_t offset, int64_t size) {
  std::string bytes(static_cast<size_t>((size + 7) / 8 * 8), '\0');
  for (size_t at = 0; at < bytes.size(); at += 8) {
    uint64_t word = (blob << 40) + static_cast<uint64_t>(offset) + at;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    word ^= word >> 31;
    std::memcpy(&bytes[at], &word, 8);
  }
  bytes.resize(static_cast<size_t>(size));
  return bytes;
}

Digest DigestOfBlob(uint64_t blob, int64_t size) {
  Sha256 hash;
  for (int64_t at = 0; at < size; at += kPieceBytes) {
    hash.Update(Bytes(blob, at, std::min(kPieceBytes, size - at)));
  }
  Digest digest;
  digest.set_hash(hash.Finish());
  digest.set_size_bytes(size);
  return digest;
}

std::string NameOfBlob(const Digest& digest) {
  return "blobs/" + digest.hash() + "/" + std::to_string(digest.size_bytes());
}

// Bytes that a line of /proc/PID/status tells, "VmRSS:" or "VmHWM:".
int64_t StatusBytes(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name, 0) == 0) {
      return std::atoll(line.c_str() + name.size()) << 10;
    }
  }
  return 0;
}

// What all transfers of a run have in common.
struct Soak {
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  std::vector<std::unique_ptr<bytestream::ByteStream::Stub>> stubs;
  int64_t bytes = 0;  // of each blob
  std::vector<Digest> sources;

  std::mutex mutex;
  std::condition_variable changed;
  int open = 0;  // transfers
  std::vector<std::string> faults;
  std::atomic<int64_t> moved{0};
  std::atomic<int64_t> retries{0};

  void Ended(const std::string& fault) {
    std::lock_guard lock(mutex);
    if (!fault.empty()) faults.push_back(fault);
    --open;
    changed.notify_all();
  }
  bool WaitAll(std::chrono::seconds limit) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, limit, [this] { return open == 0; });
  }
};

// A call that ended with overload is to be sent again, as the server says.
bool MayGoOn(const grpc::Status& status) { return ReadEnd(status).retry; }

// One upload, which goes on where it was if the server is too busy.
class Upload : public grpc::ClientWriteReactor<bytestream::WriteRequest> {
 public:
  Upload(Soak* soak, int number)
      : soak_(soak),
        blob_(static_cast<uint64_t>(number) + 1000),
        stub_(soak->stubs[static_cast<size_t>(number) % soak->stubs.size()]
                  .get()),
        digest_(DigestOfBlob(blob_, soak->bytes)),
        name_("uploads/soak-" + std::to_string(number) + "/" +
              NameOfBlob(digest_)) {}

  void Begin() {
    context_ = std::make_unique<grpc::ClientContext>();
    stub_->async()->Write(context_.get(), &response_, this);
    SendNext();
    StartCall();
  }
  void OnWriteDone(bool ok) override {
    if (ok && offset_ < soak_->bytes) SendNext();
  }
  void OnDone(const grpc::Status& status) override {
    std::string fault;
    if (!status.ok()) {
      fault = status.error_message();
      again = MayGoOn(status);
    } else if (response_.committed_size() != soak_->bytes) {
      fault = "committed " + std::to_string(response_.committed_size());
    }
    if (again) ++soak_->retries;
    soak_->Ended(again ? "" : fault);
  }
  const Digest& digest() const { return digest_; }
  uint64_t blob() const { return blob_; }

  // From where the server has it; once the call has ended.
  void Resume() {
    again = false;
    grpc::ClientContext context;
    bytestream::QueryWriteStatusRequest request;
    bytestream::QueryWriteStatusResponse status;
    request.set_resource_name(name_);
    bool known = stub_->QueryWriteStatus(&context, request, &status).ok();
    offset_ = known ? status.committed_size() : 0;
    Begin();
  }
  bool again = false;

 private:
  void SendNext() {
    int64_t size = std::min(kPieceBytes, soak_->bytes - offset_);
    request_.set_resource_name(name_);
    request_.set_write_offset(offset_);
    request_.set_data(Bytes(blob_, offset_, size));
    offset_ += size;
    soak_->moved += size;
    request_.set_finish_write(offset_ == soak_->bytes);
    StartWrite(&request_);
  }

  Soak* const soak_;
  const uint64_t blob_;
  bytestream::ByteStream::Stub* const stub_;
  const Digest digest_;
  const std::string name_;
  std::unique_ptr<grpc::ClientContext> context_;
  bytestream::WriteRequest request_;
  bytestream::WriteResponse response_;
  int64_t offset_ = 0;
};

// One download, each byte of which is checked.
class Download : public grpc::ClientReadReactor<bytestream::ReadResponse> {
 public:
  Download(Soak* soak, int number)
      : soak_(soak),
        blob_(static_cast<uint64_t>(number) % kSources),
        stub_(soak->stubs[static_cast<size_t>(number) % soak->stubs.size()]
                  .get()) {}

  void Begin() {
    context_ = std::make_unique<grpc::ClientContext>();
    request_.set_resource_name(NameOfBlob(soak_->sources[blob_]));
    request_.set_read_offset(offset_);
    stub_->async()->Read(context_.get(), &request_, this);
    StartRead(&response_);
    StartCall();
  }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    tail_ += response_.data();
    // What is compared begins at a multiple of 8.
    int64_t begin = offset_ - static_cast<int64_t>(tail_.size()) +
                    static_cast<int64_t>(response_.data().size());
    offset_ += static_cast<int64_t>(response_.data().size());
    soak_->moved += static_cast<int64_t>(response_.data().size());
    if (tail_ != Bytes(blob_, begin, static_cast<int64_t>(tail_.size()))) {
      wrong_ = true;
    }
    tail_.erase(0, tail_.size() / 8 * 8);
    StartRead(&response_);
  }
  void OnDone(const grpc::Status& status) override {
    std::string fault;
    if (wrong_) {
      fault = "wrong bytes";
    } else if (!status.ok()) {
      fault = status.error_message();
      again = MayGoOn(status);
    } else if (offset_ != soak_->bytes) {
      fault = "ended at " + std::to_string(offset_);
    }
    if (again) ++soak_->retries;
    soak_->Ended(again ? "" : fault);
  }
  void Resume() {
    again = false;
    offset_ -= static_cast<int64_t>(tail_.size());
    tail_.clear();
    Begin();
  }
  bool again = false;

 private:
  Soak* const soak_;
  const uint64_t blob_;
  bytestream::ByteStream::Stub* const stub_;
  std::unique_ptr<grpc::ClientContext> context_;
  bytestream::ReadRequest request_;
  bytestream::ReadResponse response_;
  std::string tail_;
  int64_t offset_ = 0;
  bool wrong_ = false;
};

// A reader that takes one piece, rests until `go`, and then reads the rest.
class SlowReader {
 public:
  SlowReader(Soak* soak, int number)
      : soak_(soak), blob_(static_cast<uint64_t>(number) % kSources) {
    bytestream::ReadRequest request;
    request.set_resource_name(NameOfBlob(soak->sources[blob_]));
    reader_ =
        soak->stubs[static_cast<size_t>(number) % soak->stubs.size()]->Read(
            &context_, request);
    bytestream::ReadResponse piece;
    if (reader_->Read(&piece)) bytes_ = piece.data();
  }
  // What is wrong, or "".
  std::string Finish() {
    bytestream::ReadResponse piece;
    while (reader_->Read(&piece)) bytes_ += piece.data();
    grpc::Status status = reader_->Finish();
    if (!status.ok()) return status.error_message();
    bool right = bytes_ == Bytes(blob_, 0, soak_->bytes);
    return right ? "" : "a slow reader got wrong bytes";
  }

 private:
  Soak* const soak_;
  const uint64_t blob_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<bytestream::ReadResponse>> reader_;
  std::string bytes_;
};

class SoakTest : public testing::Test {
 protected:
  void Start(std::vector<std::string> flags) {
    server_ =
        std::make_unique<ServerProcess>(ServerOptions{data_, std::move(flags)});
    ASSERT_TRUE(server_->started()) << server_->exit_code();
    for (int i = 0; i < kChannels; ++i) {
      grpc::ChannelArguments arguments;
      arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
      arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
      soak_.channels.push_back(grpc::CreateCustomChannel(
          server_->address(), grpc::InsecureChannelCredentials(), arguments));
      soak_.stubs.push_back(
          bytestream::ByteStream::NewStub(soak_.channels.back()));
    }
  }
  void TearDown() override {
    server_.reset();
    std::error_code error;
    fs::remove_all(data_, error);
  }
  // Runs transfers to their ends, again where the server was too busy.
  template <typename Transfer>
  bool Resume(std::vector<std::unique_ptr<Transfer>>& transfers) {
    bool any = false;
    for (auto& one : transfers) {
      if (!one->again) continue;
      any = true;
      {
        std::lock_guard lock(soak_.mutex);
        ++soak_.open;
      }
      one->Resume();
    }
    return any;
  }
  void PutSources() {
    for (int i = 0; i < kSources; ++i) {
      Digest digest = DigestOfBlob(static_cast<uint64_t>(i), soak_.bytes);
      soak_.sources.push_back(digest);
      grpc::ClientContext context;
      bytestream::WriteResponse response;
      auto writer = soak_.stubs[0]->Write(&context, &response);
      bytestream::WriteRequest request;
      request.set_resource_name("uploads/source/" + NameOfBlob(digest));
      for (int64_t at = 0; at < soak_.bytes; at += kPieceBytes) {
        int64_t size = std::min(kPieceBytes, soak_.bytes - at);
        request.set_write_offset(at);
        request.set_data(Bytes(static_cast<uint64_t>(i), at, size));
        request.set_finish_write(at + size == soak_.bytes);
        if (!writer->Write(request)) break;
      }
      writer->WritesDone();
      grpc::Status status = writer->Finish();
      ASSERT_TRUE(status.ok()) << status.error_message();
    }
  }
  size_t CountMissing(const std::vector<std::unique_ptr<Upload>>& uploads) {
    auto cas = reapi::ContentAddressableStorage::NewStub(server_->channel());
    reapi::FindMissingBlobsRequest request;
    reapi::FindMissingBlobsResponse response;
    for (const auto& one : uploads) {
      *request.add_blob_digests() = one->digest();
    }
    grpc::ClientContext context;
    EXPECT_TRUE(cas->FindMissingBlobs(&context, request, &response).ok());
    return static_cast<size_t>(response.missing_blob_digests_size());
  }

  std::string data_ = NewFolder("soak_test");
  std::unique_ptr<ServerProcess> server_;
  Soak soak_;
};

TEST_F(SoakTest, ManyTransfersInLittleMemory) {
  const int64_t transfers = Setting("FOLD_SOAK_TRANSFERS", 200);
  soak_.bytes = Setting("FOLD_SOAK_BYTES", 2'000'000);
  struct statvfs disk = {};
  ASSERT_EQ(statvfs(data_.c_str(), &disk), 0);
  auto free_bytes = static_cast<int64_t>(disk.f_bavail * disk.f_frsize);
  int64_t needed = transfers / 2 * soak_.bytes * 5 / 2;
  if (free_bytes < needed) {
    GTEST_SKIP() << "SOAK NOT RUN: " << free_bytes << " bytes are free on the "
                 << "disk of " << data_ << ", and " << needed
                 << " are to be free";
  }
  Start({"--cache-bytes", std::to_string(needed + (int64_t{1} << 30)),
         "--stall-seconds", "3600"});
  PutSources();
  std::vector<std::unique_ptr<SlowReader>> slow;
  slow.reserve(kSlowReaders);
  for (int i = 0; i < kSlowReaders; ++i) {
    slow.push_back(std::make_unique<SlowReader>(&soak_, i));
  }
  std::vector<std::unique_ptr<Upload>> uploads;
  std::vector<std::unique_ptr<Download>> downloads;
  for (int i = 0; i < transfers / 2; ++i) {
    uploads.push_back(std::make_unique<Upload>(&soak_, i));
    downloads.push_back(std::make_unique<Download>(&soak_, i));
  }
  int64_t idle = StatusBytes(server_->pid(), "VmRSS:");
  auto start = Clock::now();
  soak_.open = static_cast<int>(transfers / 2 * 2);
  for (auto& one : uploads) one->Begin();
  for (auto& one : downloads) one->Begin();
  // The slow ones rest meanwhile: nobody waits for them.
  ASSERT_TRUE(soak_.WaitAll(std::chrono::seconds(1500)));
  while (Resume(uploads) | Resume(downloads)) {
    ASSERT_TRUE(soak_.WaitAll(std::chrono::seconds(1500)));
  }
  std::chrono::duration<double> took = Clock::now() - start;
  EXPECT_THAT(soak_.faults, testing::IsEmpty());
  for (auto& one : slow) EXPECT_EQ(one->Finish(), "");
  EXPECT_EQ(CountMissing(uploads), 0u);
  int64_t peak = StatusBytes(server_->pid(), "VmHWM:");
  // A sanitizer keeps what was freed.
  if (!kSanitized) {
    EXPECT_LT(peak, kMaxResidentBytes);
  }
  EXPECT_TRUE(server_->WaitMetric("foldd_calls", 0));
  EXPECT_TRUE(server_->WaitMetric("foldd_uploads", 0));
  EXPECT_TRUE(server_->WaitMetric("foldd_inflight_bytes", 0));
  std::printf(
      "soak: %lld transfers of %lld bytes and %d slow readers in %.1f s, "
      "%.0f MB/s, %lld sent again; resident %lld MiB before, %lld MiB at the "
      "peak\n",
      static_cast<long long>(transfers), static_cast<long long>(soak_.bytes),
      kSlowReaders, took.count(),
      static_cast<double>(soak_.moved.load()) / took.count() * 1e-6,
      static_cast<long long>(soak_.retries.load()),
      static_cast<long long>(idle >> 20), static_cast<long long>(peak >> 20));
}

// Writers who begin an upload and send nothing more: each keeps a call, and
// the bytes of a message.
class IdleWriters {
 public:
  IdleWriters(Soak* soak, int count, const std::string& name) {
    for (int i = 0; i < count; ++i) {
      contexts_.push_back(std::make_unique<grpc::ClientContext>());
      writers_.push_back(
          soak->stubs[0]->Write(contexts_.back().get(), &response_));
      bytestream::WriteRequest request;
      request.set_resource_name("uploads/idle-" + std::to_string(i) + "/" +
                                name);
      request.set_data("x");
      (void)writers_.back()->Write(request);
    }
  }
  ~IdleWriters() {
    for (auto& context : contexts_) context->TryCancel();
    for (auto& writer : writers_) (void)writer->Finish();
  }

 private:
  bytestream::WriteResponse response_;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts_;
  std::vector<std::unique_ptr<grpc::ClientWriter<bytestream::WriteRequest>>>
      writers_;
};

struct Overload {
  std::vector<std::string> flags;
  int writers;
  std::string metric;  // that shows it,
  double value;        // at this value
  std::string reason;
};

class OverloadTest : public SoakTest,
                     public testing::WithParamInterface<Overload> {};

TEST_P(OverloadTest, IsAnErrorToTryAgainAfterWhichAllGoesOn) {
  Start(GetParam().flags);
  for (int round = 0; round < 3; ++round) {
    // A call that has been answered is one for a moment longer.
    ASSERT_TRUE(server_->WaitMetric("foldd_calls", 0));
    // Another blob each time: an upload that broke goes on where it was.
    const std::string name =
        NameOfBlob(DigestOfBlob(static_cast<uint64_t>(round), 1000));
    {
      IdleWriters idle(&soak_, GetParam().writers, name);
      // All have sent their first message, and wait for the next.
      ASSERT_TRUE(server_->WaitMetric("foldd_uploads",
                                      (round + 1) * GetParam().writers));
      ASSERT_TRUE(server_->WaitMetric(GetParam().metric, GetParam().value));
      for (int i = 0; i < 3; ++i) {
        CompileEnd end = server_->Compile(Script("x"));
        EXPECT_EQ(end.code, StatusCode::RESOURCE_EXHAUSTED) << end.message;
        EXPECT_EQ(end.reason, GetParam().reason);
        EXPECT_TRUE(end.retry);
      }
    }
    ASSERT_TRUE(server_->WaitMetric("foldd_calls", 0));
    ASSERT_TRUE(server_->WaitMetric("foldd_inflight_bytes", 0));
    CompileEnd end =
        server_->Compile(Script("size " + std::to_string(round + 1000)));
    EXPECT_TRUE(end.ok()) << end.message;
  }
  if (!kSanitized) {
    EXPECT_LT(StatusBytes(server_->pid(), "VmHWM:"), kMaxResidentBytes);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Soak, OverloadTest,
    testing::Values(
        Overload{{"--max-calls", "8"}, 8, "foldd_calls", 8, "TOO_MANY_CALLS"},
        Overload{
            // Two pieces of uploads, and too little for a message then.
            {"--inflight-bytes", "6000000", "--inflight-wait-seconds", "1"},
            2,
            "foldd_inflight_bytes",
            2 * ((1 << 20) + (64 << 10)),
            "BYTES_IN_FLIGHT"}),
    [](const auto& info) { return info.param.reason; });

}  // namespace
}  // namespace fold
