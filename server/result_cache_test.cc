#include "server/result_cache.h"

#include <functional>

#include "compiler/api/action.h"
#include "compiler/api/sha256.h"
#include "gtest/gtest.h"
#include "server/cache/disk_store.h"
#include "server/cache/memory_store.h"
#include "server/cache/recall_list.h"
#include "server/cache/recalling_store.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
namespace reapi = build::bazel::remote::execution::v2;

Bytes Text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

CachedResult Result(const std::string& artifact, const std::string& dump = "") {
  auto report = std::make_shared<v1::CompileReport>();
  report->set_action_digest("a");
  report->mutable_artifact()->set_digest(Sha256Hex(artifact));
  return {Text(artifact), report, dump};
}

class ResultCacheTest : public testing::Test {
 protected:
  MemoryStore store_{1 << 20};
  ResultCache cache_{&store_};
  const std::string action_ = Sha256Hex("action");
};

TEST_F(ResultCacheTest, FindsWhatWasSaved) {
  EXPECT_FALSE(cache_.Find(action_).has_value());
  ASSERT_TRUE(cache_.Save(action_, Result("bytes", "graph text")).ok());
  auto found = cache_.Find(action_);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found->artifact, "bytes");
  EXPECT_EQ(found->dump, "graph text");
  EXPECT_EQ(found->report->action_digest(), "a");
}

TEST_F(ResultCacheTest, AnswersOnlyIfEveryBlobIsThere) {
  CachedResult result = Result("bytes", "dump");
  const std::string blobs[] = {"bytes", "dump",
                               SerializeDeterministic(*result.report)};
  for (const std::string& blob : blobs) {
    ASSERT_TRUE(cache_.Save(action_, result).ok());
    ASSERT_TRUE(cache_.Find(action_).has_value());
    store_.Quarantine({Space::kBlob, Sha256Hex(blob)});
    EXPECT_FALSE(cache_.Find(action_).has_value());
  }
}

TEST_F(ResultCacheTest, WithoutRoomForABlobThereIsNoAction) {
  MemoryStore small(800);
  ResultCache cache(&small);
  EXPECT_FALSE(cache.Save(action_, Result(std::string(500, 'x'))).ok());
  EXPECT_FALSE(small.Touch({Space::kAction, action_}));
}

TEST_F(ResultCacheTest, AnEntryThatIsNoActionIsAMiss) {
  ASSERT_TRUE(store_.Put({Space::kAction, action_}, Text("\xff\xff")).ok());
  EXPECT_FALSE(cache_.Find(action_).has_value());
  ASSERT_TRUE(store_.Put({Space::kAction, action_}, Text("")).ok());
  EXPECT_FALSE(cache_.Find(action_).has_value());
}

TEST_F(ResultCacheTest, AnAnswersBlobsAreHeldUntilItIsLetGo) {
  ASSERT_TRUE(cache_.Save(action_, Result("bytes", "dump")).ok());
  auto found = cache_.Find(action_);
  ASSERT_TRUE(found.has_value());
  ASSERT_NE(found->leases, nullptr);
  EXPECT_EQ(found->leases->size(), 3u);
  // Fills the store: what is held stays, the rest may go.
  for (int i = 0; i < 40; ++i) {
    std::string text = std::to_string(i) + std::string(100'000, 'x');
    (void)store_.Put({Space::kBlob, Sha256Hex(text)}, Text(text));
  }
  EXPECT_TRUE(store_.Touch({Space::kBlob, Sha256Hex("bytes")}));
  EXPECT_TRUE(store_.Touch({Space::kBlob, Sha256Hex("dump")}));
  found.reset();
  for (int i = 40; i < 80; ++i) {
    std::string text = std::to_string(i) + std::string(100'000, 'x');
    (void)store_.Put({Space::kBlob, Sha256Hex(text)}, Text(text));
  }
  EXPECT_FALSE(store_.Touch({Space::kBlob, Sha256Hex("bytes")}));
}

TEST_F(ResultCacheTest, InstancesShareNothing) {
  ActionName theirs = {action_, 42, "team"};
  ASSERT_TRUE(cache_.Save(theirs, Result("bytes")).ok());
  EXPECT_FALSE(cache_.Find(action_).has_value());
  EXPECT_TRUE(cache_.Find(theirs).has_value());
}

TEST_F(ResultCacheTest, OnlyAWholeCompilesEntryIsAnAnswer) {
  CachedResult result = Result("bytes");
  reapi::ActionResult entry;
  ASSERT_TRUE(cache_.Save(action_, result).ok());
  ASSERT_FALSE(cache_.GetActionResult({action_}, &entry));
  const std::function<void(reapi::ActionResult*)> changes[] = {
      [](auto* e) { e->set_exit_code(1); },
      [](auto* e) { e->mutable_output_files()->RemoveLast(); },
      // Another artifact than the report's.
      [](auto* e) {
        *e->mutable_output_files(0)->mutable_digest() = DigestOf("other");
      },
  };
  ASSERT_TRUE(
      store_.Put({Space::kBlob, Sha256Hex("other")}, Text("other")).ok());
  for (const auto& change : changes) {
    reapi::ActionResult changed = entry;
    change(&changed);
    ASSERT_TRUE(
        store_.Put({Space::kAction, action_}, Text(changed.SerializeAsString()))
            .ok());
    EXPECT_FALSE(cache_.Find(action_).has_value());
  }
}

TEST_F(ResultCacheTest, GetActionResultChecksEveryBlob) {
  CachedResult result = Result("bytes", "dump");
  for (const std::string& blob : {std::string("bytes"), std::string("dump"),
                                  SerializeDeterministic(*result.report)}) {
    ASSERT_TRUE(cache_.Save(action_, result).ok());
    reapi::ActionResult entry;
    EXPECT_FALSE(cache_.GetActionResult({action_}, &entry));
    EXPECT_EQ(entry.output_files_size(), 2);
    store_.Quarantine({Space::kBlob, Sha256Hex(blob)});
    auto failure = cache_.GetActionResult({action_}, &entry);
    ASSERT_TRUE(failure.has_value());
    EXPECT_EQ(failure->reason, "NO_ACTION_RESULT");
  }
}

TEST_F(ResultCacheTest, UpdateActionResultNamesWhatIsMissing) {
  reapi::ActionResult entry;
  *entry.add_output_files()->mutable_digest() = DigestOf("here");
  *entry.add_output_files()->mutable_digest() = DigestOf("gone");
  *entry.add_output_files()->mutable_digest() = DigestOf("");
  ASSERT_TRUE(store_.Put({Space::kBlob, Sha256Hex("here")}, Text("here")).ok());
  auto failure = cache_.UpdateActionResult({action_}, entry);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->reason, "BLOBS_MISSING");
  EXPECT_EQ(failure->missing_blobs,
            std::vector<std::string>{"blobs/" + Sha256Hex("gone") + "/4"});
  ASSERT_TRUE(store_.Put({Space::kBlob, Sha256Hex("gone")}, Text("gone")).ok());
  EXPECT_FALSE(cache_.UpdateActionResult({action_}, entry));
  reapi::ActionResult got;
  EXPECT_FALSE(cache_.GetActionResult({action_}, &got));
  EXPECT_EQ(got.output_files_size(), 3);

  entry.set_exit_code(1);
  EXPECT_EQ(cache_.UpdateActionResult({action_}, entry)->reason, "BAD_REQUEST");
  entry.set_exit_code(0);
  EXPECT_EQ(cache_.UpdateActionResult({"x"}, entry)->reason, "BAD_REQUEST");
  entry.mutable_output_files(0)->mutable_digest()->set_hash("x");
  EXPECT_EQ(cache_.UpdateActionResult({action_}, entry)->reason, "BAD_REQUEST");
}

// On a disk, with what a server has around it.
class ResultCacheOnDiskTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string root = testing::TempDir() + "result_cache_XXXXXX";
    ASSERT_NE(mkdtemp(root.data()), nullptr);
    auto disk = DiskStore::Open({root, 64 << 20, 0});
    ASSERT_TRUE(disk.ok());
    disk_ = std::move(*disk);
    recalls_ = std::make_unique<RecallList>(root + "/recalls");
    store_ = std::make_unique<RecallingStore>(disk_.get(), recalls_.get());
    blobs_ =
        std::make_unique<BlobCache>(disk_.get(), recalls_.get(), nullptr, 60);
    ResultCacheParts parts;
    parts.blobs = blobs_.get();
    parts.recalls = recalls_.get();
    parts.whole_artifact_bytes = 1000;
    cache_ = std::make_unique<ResultCache>(store_.get(), parts);
  }
  std::unique_ptr<DiskStore> disk_;
  std::unique_ptr<RecallList> recalls_;
  std::unique_ptr<RecallingStore> store_;
  std::unique_ptr<BlobCache> blobs_;
  std::unique_ptr<ResultCache> cache_;
  const std::string action_ = Sha256Hex("action");
};

TEST_F(ResultCacheOnDiskTest, ALargeArtifactIsReadInPieces) {
  std::string large(3'000'000, 'x');
  ASSERT_TRUE(cache_->Save(action_, Result(large)).ok());
  auto found = cache_->Find(action_);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->artifact, nullptr);
  EXPECT_EQ(found->artifact_digest.size_bytes(), 3'000'000);
  auto reader = blobs_->Open({Space::kBlob, found->artifact_digest.hash(), ""});
  ASSERT_TRUE(reader.ok());
  std::string read;
  for (;;) {
    auto piece = (*reader)->Read(kMaxPieceBytes);
    ASSERT_TRUE(piece.ok());
    if (piece->empty()) break;
    EXPECT_LE(piece->size(), size_t{1} << 20);
    read += *piece;
  }
  EXPECT_EQ(read, large);
  ASSERT_TRUE(cache_->Save(action_, Result("small")).ok());
  EXPECT_EQ(*cache_->Find(action_)->artifact, "small");
}

TEST_F(ResultCacheOnDiskTest, WhatIsRecalledIsRefusedUntilItIsUndone) {
  ASSERT_TRUE(cache_->Save(action_, Result("bytes")).ok());
  Key artifact = {Space::kBlob, Sha256Hex("bytes")};
  Key action = {Space::kAction, action_};
  EXPECT_FALSE(cache_->Recalled({action_}, artifact.hash));
  ASSERT_TRUE(recalls_->Add(artifact, "wrong scale").ok());
  EXPECT_FALSE(cache_->Find(action_).has_value());
  EXPECT_FALSE(cache_->Recalled({action_}));
  auto failure = cache_->Recalled({action_}, artifact.hash);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->reason, "ARTIFACT_RECALLED");
  EXPECT_NE(failure->message.find("wrong scale"), std::string::npos);
  // The same bytes come out again: they are not kept.
  EXPECT_FALSE(cache_->Save(action_, Result("bytes")).ok());
  ASSERT_TRUE(recalls_->Remove(artifact).ok());
  EXPECT_TRUE(cache_->Find(action_).has_value());

  ASSERT_TRUE(recalls_->Add(action, "").ok());
  EXPECT_FALSE(cache_->Find(action_).has_value());
  EXPECT_EQ(cache_->Recalled({action_})->reason, "ARTIFACT_RECALLED");
  reapi::ActionResult entry;
  EXPECT_EQ(cache_->GetActionResult({action_}, &entry)->reason,
            "ARTIFACT_RECALLED");
  EXPECT_EQ(cache_->UpdateActionResult({action_}, entry)->reason,
            "ARTIFACT_RECALLED");
  // Elsewhere it is not.
  EXPECT_FALSE(cache_->Recalled({action_, -1, "team"}, artifact.hash));
}

v1::Manifest ManifestOf(const std::string& artifact,
                        const std::vector<std::string>& compatible) {
  v1::Manifest manifest;
  *manifest.mutable_artifact() = DigestOf(artifact);
  manifest.set_model_digest(Sha256Hex("model"));
  manifest.set_action_digest(Sha256Hex("action of " + artifact));
  for (const auto& one : compatible) manifest.add_compatible(one);
  return manifest;
}

TEST_F(ResultCacheTest, ResolvesTheMostSpecificAndNewest) {
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(store_.Put({Space::kBlob, Sha256Hex(name)}, Text(name)).ok());
  }
  ASSERT_TRUE(cache_.AddManifest(ManifestOf("a", {"board", "soc"})).ok());
  ASSERT_TRUE(cache_.AddManifest(ManifestOf("b", {"soc"})).ok());
  const std::string model = Sha256Hex("model");
  auto resolve = [&](std::vector<std::string> compatible) {
    auto manifest = cache_.Resolve(model, compatible);
    return manifest ? manifest->artifact().hash() : "";
  };
  EXPECT_EQ(resolve({"board", "soc"}), Sha256Hex("a"));
  EXPECT_EQ(resolve({"other", "soc"}), Sha256Hex("b"));
  EXPECT_EQ(resolve({"other"}), "");
  EXPECT_EQ(resolve({}), "");
  EXPECT_FALSE(
      cache_.Resolve(Sha256Hex("none"), std::vector<std::string>{"soc"}));
  // Compiled again: the newest once more.
  ASSERT_TRUE(cache_.AddManifest(ManifestOf("a", {"board", "soc"})).ok());
  EXPECT_EQ(resolve({"soc"}), Sha256Hex("a"));
  // An artifact that is gone is no answer; the next newest is.
  store_.Quarantine({Space::kBlob, Sha256Hex("a")});
  EXPECT_EQ(resolve({"board", "soc"}), Sha256Hex("b"));
}

TEST_F(ResultCacheTest, TheListOfManifestsIsBounded) {
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(
        cache_.AddManifest(ManifestOf(std::to_string(i), {"soc"})).ok());
  }
  v1::ManifestList list;
  ASSERT_TRUE(list.ParseFromString(
      **store_.Get({Space::kManifest, Sha256Hex("model")})));
  EXPECT_EQ(list.manifests_size(), 256);
  EXPECT_EQ(list.manifests(255).artifact().hash(), Sha256Hex("299"));
}

}  // namespace
}  // namespace fold
