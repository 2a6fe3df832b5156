#include "server/remote/reapi_tier.h"

#include <thread>

#include "compiler/api/sha256.h"
#include "gtest/gtest.h"
#include "server/remote/testing/fake_remote_cache.h"

namespace fold {
namespace {

namespace reapi = build::bazel::remote::execution::v2;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

Bytes Text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

// Keeps what is appended, and checks it as a store does.
class MemoryWriter : public BlobWriter {
 public:
  explicit MemoryWriter(SizedKey blob) : blob_(std::move(blob)) {}
  absl::Status Append(std::string_view bytes) override {
    text += bytes;
    if (committed() <= blob_.size) return absl::OkStatus();
    return absl::InvalidArgumentError("too many");
  }
  int64_t committed() const override {
    return static_cast<int64_t>(text.size());
  }
  absl::Status Finish() override {
    finished = Sha256Hex(text) == blob_.key.hash;
    return finished ? absl::OkStatus() : absl::InvalidArgumentError("wrong");
  }
  std::string text;
  bool finished = false;

 private:
  const SizedKey blob_;
};

class ReapiTierTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string root = testing::TempDir() + "reapi_tier_XXXXXX";
    ASSERT_NE(mkdtemp(root.data()), nullptr);
    auto disk = DiskStore::Open({root, 64 << 20, 0});
    ASSERT_TRUE(disk.ok());
    disk_ = std::move(*disk);
  }
  void Connect(const std::string& address, milliseconds timeout = seconds(20)) {
    ReapiTierOptions options;
    auto parsed = ParseRemoteAddress(address);
    ASSERT_TRUE(parsed.ok());
    options.client.address = *parsed;
    options.timeout = timeout;
    options.send_timeout = timeout;
    options.queue_bytes = queue_bytes_;
    options.breaker = {3, milliseconds(300), milliseconds(600)};
    auto tier = ReapiTier::Make(
        options, disk_.get(),
        [this](const std::string& operation, const std::string& result) {
          std::lock_guard lock(mutex_);
          ++counts_[operation + " " + result];
        });
    ASSERT_TRUE(tier.ok());
    tier_ = std::move(*tier);
  }
  int Count(const std::string& what) {
    std::lock_guard lock(mutex_);
    return counts_[what];
  }
  SizedKey Blob(const std::string& text, const std::string& instance = "") {
    return {{Space::kBlob, Sha256Hex(text), instance},
            static_cast<int64_t>(text.size())};
  }
  SizedKey Keep(const std::string& text, const std::string& instance = "") {
    SizedKey blob = Blob(text, instance);
    EXPECT_TRUE(disk_->Put(blob.key, Text(text)).ok());
    return blob;
  }
  std::string Entry(const std::vector<SizedKey>& blobs) {
    reapi::ActionResult result;
    for (const SizedKey& blob : blobs) {
      auto* digest = result.add_output_files()->mutable_digest();
      digest->set_hash(blob.key.hash);
      digest->set_size_bytes(blob.size);
    }
    return result.SerializeAsString();
  }
  // Sends an action with two blobs, one of them large.
  void Send(const std::string& instance = "") {
    std::vector<SizedKey> blobs = {Keep(small_, instance),
                                   Keep(large_, instance)};
    action_.key.instance = instance;
    tier_->SendLater(action_, Entry(blobs), blobs);
  }
  absl::Status Fetch(const SizedKey& blob, std::string* text = nullptr) {
    MemoryWriter writer(blob);
    absl::Status status = tier_->FetchBlob(blob, tier_->NewDeadline(), &writer);
    EXPECT_EQ(status.ok(), writer.finished);
    if (text != nullptr) *text = writer.text;
    return status;
  }

  const std::string small_ = "small";
  const std::string large_ = std::string(3'000'000, 'x') + "end";
  SizedKey action_ = {{Space::kAction, Sha256Hex("action")}, 42};
  int64_t queue_bytes_ = 32 << 20;
  std::unique_ptr<DiskStore> disk_;
  std::mutex mutex_;
  std::map<std::string, int> counts_;
  FakeRemoteCache remote_;
  std::unique_ptr<ReapiTier> tier_;  // goes first
};

TEST_F(ReapiTierTest, WhatOneSendsAnotherFetches) {
  Connect(remote_.address() + "/ci");
  Send("team");
  ASSERT_TRUE(tier_->Drain(seconds(60)));
  EXPECT_EQ(Count("send ok"), 1);
  EXPECT_EQ(Count("write_blob ok"), 2);
  EXPECT_EQ(Count("capabilities ok"), 1);
  EXPECT_EQ(tier_->queued_bytes(), 0);
  EXPECT_TRUE(remote_.Blobs().contains("ci-team/" + Sha256Hex(large_)));
  EXPECT_EQ(disk_->protection().held(), 0);

  auto entry = tier_->FetchAction(action_, tier_->NewDeadline());
  ASSERT_TRUE(entry.ok()) << entry.status();
  std::string text;
  EXPECT_TRUE(Fetch(Blob(small_, "team"), &text).ok());
  EXPECT_EQ(text, small_);
  EXPECT_TRUE(Fetch(Blob(large_, "team"), &text).ok());
  EXPECT_EQ(text, large_);
  // Other instances have none of it.
  EXPECT_TRUE(absl::IsNotFound(Fetch(Blob(small_))));
  // What is there is not sent again.
  Send("team");
  ASSERT_TRUE(tier_->Drain(seconds(60)));
  EXPECT_EQ(Count("write_blob ok"), 2);
}

TEST_F(ReapiTierTest, MissingInAllWordsIsMissing) {
  Connect(remote_.address());
  for (auto code :
       {grpc::StatusCode::NOT_FOUND, grpc::StatusCode::FAILED_PRECONDITION,
        grpc::StatusCode::INTERNAL}) {
    remote_.missing_code = static_cast<int>(code);
    EXPECT_TRUE(absl::IsNotFound(Fetch(Blob(small_))));
    EXPECT_TRUE(absl::IsNotFound(Fetch(Blob(large_))));
    EXPECT_TRUE(absl::IsNotFound(
        tier_->FetchAction(action_, tier_->NewDeadline()).status()));
  }
  EXPECT_TRUE(tier_->in_use());
  EXPECT_EQ(Count("read_blob miss"), 6);
  EXPECT_EQ(Count("get_action miss"), 3);
}

TEST_F(ReapiTierTest, WrongBytesAreRefusedAndCounted) {
  Connect(remote_.address());
  Send();
  ASSERT_TRUE(tier_->Drain(seconds(60)));
  remote_.wrong_bytes = true;
  EXPECT_TRUE(absl::IsDataLoss(Fetch(Blob(small_))));
  EXPECT_TRUE(absl::IsDataLoss(Fetch(Blob(large_))));
  EXPECT_EQ(Count("read_blob wrong"), 2);
}

// It accepts and never answers: a caller waits its time, three times, and
// then not at all.
TEST_F(ReapiTierTest, ASilentServerIsLeftAlone) {
  remote_.hang = true;
  Connect(remote_.address(), milliseconds(150));
  auto start = Clock::now();
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(Fetch(Blob(small_)).ok());
  EXPECT_LT(Clock::now() - start, seconds(20));
  EXPECT_FALSE(tier_->in_use());
  EXPECT_GT(Count("read_blob skipped"), 30);
  EXPECT_GT(Count("read_blob timeout"), 0);
  remote_.hang = false;
  for (int i = 0; i < 200 && !tier_->in_use(); ++i) {
    std::this_thread::sleep_for(milliseconds(50));
    EXPECT_FALSE(Fetch(Blob(small_)).ok());  // a probe, or skipped
  }
  EXPECT_TRUE(tier_->in_use());
}

TEST_F(ReapiTierTest, AServerThatIsAwayIsUsedAgainWhenItIsBack) {
  Connect(remote_.address());
  Send();
  ASSERT_TRUE(tier_->Drain(seconds(60)));
  remote_.Stop();
  auto start = Clock::now();
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(Fetch(Blob(small_)).ok());
  EXPECT_LT(Clock::now() - start, seconds(20));
  EXPECT_FALSE(tier_->in_use());
  remote_.Start();
  for (int i = 0; i < 200 && !tier_->in_use(); ++i) {
    std::this_thread::sleep_for(milliseconds(50));
    (void)Fetch(Blob(small_));
  }
  EXPECT_TRUE(Fetch(Blob(small_)).ok());
}

TEST_F(ReapiTierTest, WhatWaitsIsBoundedAndSentWhenTheServerIsBack) {
  std::string address = remote_.address();
  remote_.Stop();
  queue_bytes_ = 4'000'000;
  Connect(address);
  Send();
  Send();  // has no room
  EXPECT_EQ(Count("send dropped"), 1);
  EXPECT_GT(tier_->queued_bytes(), 3'000'000);
  EXPECT_EQ(disk_->protection().held(), 2);  // not evicted before it is sent
  EXPECT_FALSE(tier_->Drain(milliseconds(50)));
  remote_.Start();
  tier_->Drain(seconds(60));
  // All attempts may have failed before it was back.
  EXPECT_EQ(Count("send ok") + Count("send dropped"), 2);
  EXPECT_EQ(tier_->queued_bytes(), 0);
  EXPECT_EQ(disk_->protection().held(), 0);
}

TEST_F(ReapiTierTest, TheEndDoesNotWaitForASilentServer) {
  remote_.hang = true;
  Connect(remote_.address(), seconds(600));
  Send();
  std::this_thread::sleep_for(milliseconds(100));
  auto start = Clock::now();
  tier_.reset();
  EXPECT_LT(Clock::now() - start, seconds(20));
  EXPECT_EQ(disk_->protection().held(), 0);
}

TEST_F(ReapiTierTest, AServerThatTakesNoResultsIsOnlyRead) {
  remote_.takes_updates = false;
  Connect(remote_.address());
  for (int i = 0; i < 500 && Count("capabilities ok") == 0; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  // The count comes before the answer is looked at.
  std::this_thread::sleep_for(milliseconds(100));
  Send();
  EXPECT_TRUE(tier_->Drain(seconds(60)));
  EXPECT_TRUE(remote_.Actions().empty());
}

// More of them than it takes to leave a server alone.
TEST_F(ReapiTierTest, AServerThatRefusesResultsIsStillRead) {
  Connect(remote_.address());
  Send();
  ASSERT_TRUE(tier_->Drain(seconds(60)));
  for (auto code :
       {grpc::StatusCode::PERMISSION_DENIED, grpc::StatusCode::UNIMPLEMENTED}) {
    remote_.update_code = static_cast<int>(code);
    for (int i = 0; i < 5; ++i) Send();
    ASSERT_TRUE(tier_->Drain(seconds(60)));
  }
  EXPECT_EQ(Count("update_action refused"), 10);
  EXPECT_EQ(Count("send refused"), 10);
  EXPECT_TRUE(tier_->in_use());
  EXPECT_TRUE(tier_->FetchAction(action_, tier_->NewDeadline()).ok());
}

TEST(ReapiTier, ATokenThatCannotBeReadIsAnError) {
  ReapiTierOptions options;
  options.client.address.host_and_port = "127.0.0.1:1";
  options.client.token_file = "/no/such/file";
  EXPECT_TRUE(absl::IsInvalidArgument(
      ReapiTier::Make(options, nullptr, nullptr).status()));
}

}  // namespace
}  // namespace fold
