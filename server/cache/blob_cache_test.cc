#include "server/cache/blob_cache.h"

#include <atomic>
#include <map>
#include <thread>

#include "compiler/api/sha256.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

// A remote tier that has what it is told.
class FakeRemote : public RemoteTier {
 public:
  Deadline NewDeadline() const override {
    return std::chrono::steady_clock::now() + std::chrono::seconds(20);
  }
  absl::Status FetchBlob(const SizedKey& blob, Deadline,
                         BlobWriter* into) override {
    ++fetches;
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    auto found = blobs.find(blob.key.hash);
    if (found == blobs.end()) return absl::NotFoundError("no");
    absl::Status status = into->Append(found->second);
    return status.ok() ? into->Finish() : status;
  }
  absl::StatusOr<std::string> FetchAction(const SizedKey&, Deadline) override {
    return absl::NotFoundError("no");
  }
  void SendLater(const SizedKey&, std::string, std::vector<SizedKey>) override {
  }

  std::map<std::string, std::string> blobs;
  std::atomic<int> fetches{0};
  int pause_ms = 0;
};

Key BlobKey(const std::string& text) { return {Space::kBlob, Sha256Hex(text)}; }

class BlobCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string root = testing::TempDir() + "blob_cache_XXXXXX";
    ASSERT_NE(mkdtemp(root.data()), nullptr);
    auto disk = DiskStore::Open({root, 10'000, 0, [this] { return now_; }});
    ASSERT_TRUE(disk.ok());
    disk_ = std::move(*disk);
    recalls_ = std::make_unique<RecallList>(root + "/recalls");
    cache_ =
        std::make_unique<BlobCache>(disk_.get(), recalls_.get(), nullptr, 60);
    remote_cache_ =
        std::make_unique<BlobCache>(disk_.get(), recalls_.get(), &remote_, 60);
  }
  absl::Status Upload(const std::string& text) {
    auto writer =
        cache_->Create(BlobKey(text), static_cast<int64_t>(text.size()));
    if (!writer.ok()) return writer.status();
    absl::Status status = (*writer)->Append(text);
    return status.ok() ? (*writer)->Finish() : status;
  }
  std::string Content(BlobCache& cache, const Key& key, int64_t size) {
    auto reader = cache.Open(key, size);
    if (!reader.ok()) return std::string(reader.status().message());
    return *(*reader)->Read(1 << 20);
  }
  int64_t now_ = 0;
  std::unique_ptr<DiskStore> disk_;
  std::unique_ptr<RecallList> recalls_;
  FakeRemote remote_;
  std::unique_ptr<BlobCache> cache_, remote_cache_;
};

TEST_F(BlobCacheTest, WhatWasUploadedIsLeased) {
  std::string input(4000, 'i');
  ASSERT_TRUE(Upload(input).ok());
  ASSERT_TRUE(Upload(std::string(4000, 'a')).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Upload(std::string(4000, 'b'))));
  EXPECT_EQ(Content(*cache_, BlobKey(input), -1), input);
  now_ = 61;
  EXPECT_TRUE(Upload(std::string(4000, 'b')).ok());
}

TEST_F(BlobCacheTest, MissingLeasesWhatIsThere) {
  std::string text(4000, 'i');
  ASSERT_TRUE(Upload(text).ok());
  now_ = 59;
  std::vector<Key> keys = {BlobKey(text), BlobKey("no"), BlobKey("")};
  EXPECT_EQ(cache_->Missing(keys), (std::vector<Key>{BlobKey("no")}));
  now_ = 100;
  ASSERT_TRUE(Upload(std::string(4000, 'a')).ok());
  EXPECT_FALSE(Upload(std::string(4000, 'b')).ok());
  EXPECT_EQ(cache_->Missing({&keys[0], 1}).size(), 0u);
}

TEST_F(BlobCacheTest, TheEmptyBlobIsAlwaysThere) {
  EXPECT_EQ(Content(*cache_, BlobKey(""), -1), "");
  EXPECT_TRUE(cache_->Open(BlobKey("")).ok());
  EXPECT_TRUE(cache_->Hold(BlobKey("")).has_value());
}

TEST_F(BlobCacheTest, RecalledBlobsAreRefused) {
  ASSERT_TRUE(Upload("bad").ok());
  ASSERT_TRUE(recalls_->Add(BlobKey("bad"), "").ok());
  EXPECT_TRUE(
      absl::IsFailedPrecondition(cache_->Open(BlobKey("bad")).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(Upload("bad")));
  EXPECT_FALSE(cache_->Hold(BlobKey("bad")).has_value());
}

TEST_F(BlobCacheTest, FetchesOnceWhatIsNotHere) {
  std::string text(1000, 'r');
  remote_.blobs[Sha256Hex(text)] = text;
  remote_.pause_ms = 100;
  std::vector<std::thread> threads;
  threads.reserve(4);
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(
        [&] { right += Content(*remote_cache_, BlobKey(text), 1000) == text; });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 4);
  EXPECT_EQ(remote_.fetches, 1);
  EXPECT_EQ(Content(*cache_, BlobKey(text), -1), text);  // it is here now
  EXPECT_TRUE(remote_cache_->Hold(BlobKey(text), 1000).has_value());
}

TEST_F(BlobCacheTest, WrongBytesFromAfarAreNotKept) {
  std::string text(1000, 'r');
  remote_.blobs[Sha256Hex(text)] = std::string(1000, 'w');
  EXPECT_TRUE(
      absl::IsNotFound(remote_cache_->Open(BlobKey(text), 1000).status()));
  EXPECT_FALSE(disk_->Touch(BlobKey(text)));
  remote_.blobs[Sha256Hex(text)] = text + text;  // longer than it is
  EXPECT_TRUE(
      absl::IsNotFound(remote_cache_->Open(BlobKey(text), 1000).status()));
  EXPECT_EQ(disk_->used_bytes(), 0);
}

// A size is a stranger's word: it must not empty the cache.
TEST_F(BlobCacheTest, WhatIsTooLargeIsNotFetched) {
  std::string mine(4000, 'm');
  ASSERT_TRUE(Upload(mine).ok());
  now_ = 1000;
  EXPECT_TRUE(
      absl::IsNotFound(remote_cache_->Open(BlobKey("x"), 9000).status()));
  EXPECT_EQ(remote_.fetches, 0);
  EXPECT_TRUE(disk_->Touch(BlobKey(mine)));
  EXPECT_TRUE(absl::IsNotFound(remote_cache_->Open(BlobKey("x")).status()));
  EXPECT_EQ(remote_.fetches, 0);  // nor without a size
}

}  // namespace
}  // namespace fold
