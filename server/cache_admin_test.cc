#include "server/cache_admin.h"

#include <fstream>

#include "compiler/api/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/cache/disk_layout.h"
#include "server/cache/recalling_store.h"
#include "server/cache/tiered_store.h"
#include "server/cache/verifying_store.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CacheAdminTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "cache_admin_XXXXXX";
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
    auto disk = DiskStore::Open({root_, 16 << 20, 0});
    ASSERT_TRUE(disk.ok());
    disk_ = std::move(*disk);
    recalls_ = std::make_unique<RecallList>(root_ + "/recalls");
    verifying_ = std::make_unique<VerifyingStore>(disk_.get());
    tiers_ = std::make_unique<TieredStore>(&memory_, verifying_.get());
    store_ = std::make_unique<RecallingStore>(tiers_.get(), recalls_.get());
    ResultCacheParts parts;
    parts.recalls = recalls_.get();
    results_ = std::make_unique<ResultCache>(store_.get(), parts);
    admin_ = std::make_unique<CacheAdmin>(
        CacheAdminParts{disk_.get(), &memory_, 1 << 20, recalls_.get(),
                        store_.get(), results_.get(), [] { return "none"; }});
  }

  static CompileAction ActionFor(bool taps, const std::string& salt = "") {
    ActionInputs inputs;
    inputs.model = DigestOf("model");
    inputs.target.set_name("t");
    inputs.options.set_taps(taps);
    inputs.compiler_id = "c1";
    inputs.salt = salt;
    return BuildAction(inputs);
  }
  // Keeps a result of `action`, as the scheduler does.
  Key Keep(const CompileAction& action, const std::string& artifact,
           const std::string& instance = "") {
    auto report = std::make_shared<v1::CompileReport>();
    report->set_action_digest(action.digest.hash());
    report->mutable_artifact()->set_digest(Sha256Hex(artifact));
    CachedResult result{std::make_shared<const std::string>(artifact), report,
                        ""};
    EXPECT_TRUE(
        results_->Save({action.digest.hash(), -1, instance}, result, &action)
            .ok());
    v1::Manifest manifest;
    *manifest.mutable_artifact() = DigestOf(artifact);
    manifest.set_model_digest(Sha256Hex("model"));
    manifest.set_action_digest(action.digest.hash());
    manifest.set_target("t");
    EXPECT_TRUE(results_->AddManifest(manifest, instance).ok());
    return {Space::kAction, action.digest.hash(), instance};
  }
  template <typename Request>
  static Request About(const Key& key) {
    Request request;
    request.set_instance_name(key.instance);
    request.mutable_entry()->set_kind(key.space == Space::kBlob
                                          ? v1::CacheEntry::BLOB
                                          : v1::CacheEntry::ACTION);
    request.mutable_entry()->set_hash(key.hash);
    return request;
  }
  static Key BlobKey(const std::string& text) {
    return {Space::kBlob, Sha256Hex(text)};
  }
  v1::ExplainActionResponse Explain(const CompileAction& action) {
    v1::ExplainActionResponse response;
    EXPECT_FALSE(admin_->Explain(action, "", &response));
    return response;
  }
  static std::string ReasonOf(const std::optional<Failure>& failure) {
    return failure ? failure->reason : "";
  }
  static CacheAdmin::Deadline Soon() {
    return std::chrono::steady_clock::now() + std::chrono::seconds(60);
  }

  std::string root_;
  std::unique_ptr<DiskStore> disk_;
  MemoryStore memory_{1 << 20};
  std::unique_ptr<RecallList> recalls_;
  std::unique_ptr<VerifyingStore> verifying_;
  std::unique_ptr<TieredStore> tiers_;
  std::unique_ptr<RecallingStore> store_;
  std::unique_ptr<ResultCache> results_;
  std::unique_ptr<CacheAdmin> admin_;
};

TEST_F(CacheAdminTest, StatsAreOfTheNamespace) {
  Key action = Keep(ActionFor(false), "artifact");
  Keep(ActionFor(false), "artifact", "team");
  v1::PinEntryResponse pinned;
  auto pin = About<v1::PinEntryRequest>(action);
  pin.set_note("release");
  ASSERT_FALSE(admin_->Pin(pin, &pinned));
  v1::GetCacheStatsRequest request;
  v1::GetCacheStatsResponse stats;
  ASSERT_FALSE(admin_->Stats(request, &stats));
  EXPECT_EQ(stats.actions(), 1);
  EXPECT_EQ(stats.manifests(), 1);
  // Artifact, report; target, command, input root and the Action itself.
  EXPECT_EQ(stats.blobs(), 6);
  ASSERT_EQ(stats.pins_size(), 1);
  EXPECT_EQ(stats.pins(0).note(), "release");
  EXPECT_EQ(stats.remote(), "none");
  ASSERT_EQ(stats.tiers_size(), 2);
  EXPECT_GT(stats.tiers(0).used_bytes(), stats.blob_bytes());
  request.set_instance_name("other");
  v1::GetCacheStatsResponse other;
  ASSERT_FALSE(admin_->Stats(request, &other));
  EXPECT_EQ(other.blobs() + other.actions() + other.pins_size(), 0);
}

TEST_F(CacheAdminTest, PinningAnActionKeepsItsBlobs) {
  Key action = Keep(ActionFor(false), "artifact");
  v1::PinEntryResponse pinned;
  ASSERT_FALSE(admin_->Pin(About<v1::PinEntryRequest>(action), &pinned));
  EXPECT_EQ(pinned.entries(), 3);
  v1::PurgeEntriesRequest everything;
  everything.set_everything(true);
  v1::PurgeEntriesResponse purged;
  ASSERT_FALSE(admin_->Purge(everything, &purged));
  EXPECT_EQ(purged.kept(), 3);
  EXPECT_TRUE(results_->Find(action.hash).has_value());
  v1::UnpinEntryResponse unpinned;
  ASSERT_FALSE(admin_->Unpin(About<v1::UnpinEntryRequest>(action), &unpinned));
  EXPECT_EQ(unpinned.pinned_bytes(), 0);
  EXPECT_EQ(
      ReasonOf(admin_->Unpin(About<v1::UnpinEntryRequest>(action), &unpinned)),
      "NO_CACHE_ENTRY");
}

TEST_F(CacheAdminTest, AnActionWithoutABlobIsNotPinned) {
  Key action = Keep(ActionFor(false), "artifact");
  store_->Quarantine(BlobKey("artifact"));
  v1::PinEntryResponse pinned;
  auto failure = admin_->Pin(About<v1::PinEntryRequest>(action), &pinned);
  EXPECT_EQ(ReasonOf(failure), "NO_CACHE_ENTRY");
  EXPECT_THAT(failure->missing_blobs,
              ElementsAre("blobs/" + Sha256Hex("artifact") + "/8"));
}

TEST_F(CacheAdminTest, PurgeForgetsInEveryTierButNotWhatIsHeld) {
  Key action = Keep(ActionFor(false), "artifact");
  {
    auto held = results_->Find(action.hash);
    v1::PurgeEntriesResponse purged;
    ASSERT_FALSE(
        admin_->Purge(About<v1::PurgeEntriesRequest>(action), &purged));
    EXPECT_EQ(purged.removed(), 1);  // the entry; its blobs are in use
    EXPECT_EQ(purged.kept(), 2);
  }
  EXPECT_FALSE(results_->Find(action.hash).has_value());
  Keep(ActionFor(false), "artifact");
  v1::PurgeEntriesResponse purged;
  ASSERT_FALSE(admin_->Purge(About<v1::PurgeEntriesRequest>(action), &purged));
  EXPECT_EQ(purged.removed(), 3);
  EXPECT_FALSE(memory_.Touch(BlobKey("artifact")));
  EXPECT_FALSE(store_->Touch(BlobKey("artifact")));
  EXPECT_EQ(
      ReasonOf(admin_->Purge(About<v1::PurgeEntriesRequest>(action), &purged)),
      "NO_CACHE_ENTRY");
}

TEST_F(CacheAdminTest, PurgeOfANamespaceLeavesTheOthers) {
  Key ours = Keep(ActionFor(false), "artifact");
  Keep(ActionFor(false), "artifact", "team");
  v1::PurgeEntriesRequest request;
  request.set_instance_name("team");
  request.set_everything(true);
  v1::PurgeEntriesResponse purged;
  ASSERT_FALSE(admin_->Purge(request, &purged));
  EXPECT_EQ(purged.removed(), 8);
  EXPECT_TRUE(results_->Find(ours.hash).has_value());
}

TEST_F(CacheAdminTest, RecallAndUndo) {
  Key action = Keep(ActionFor(false), "artifact");
  auto request = About<v1::RecallEntryRequest>(BlobKey("artifact"));
  request.set_note("wrong scale");
  v1::RecallEntryResponse response;
  ASSERT_FALSE(admin_->Recall(request, &response));
  EXPECT_FALSE(results_->Find(action.hash).has_value());
  auto told = Explain(ActionFor(false));
  EXPECT_EQ(told.verdict(), v1::ExplainActionResponse::RECALLED);
  EXPECT_THAT(told.recall_note(), HasSubstr("wrong scale"));
  request.set_undo(true);
  ASSERT_FALSE(admin_->Recall(request, &response));
  EXPECT_TRUE(results_->Find(action.hash).has_value());
  EXPECT_EQ(ReasonOf(admin_->Recall(request, &response)), "NO_CACHE_ENTRY");
}

TEST_F(CacheAdminTest, VerifyFindsQuarantinesAndLists) {
  Keep(ActionFor(false), "artifact");
  std::fstream(PathOfEntry(root_, BlobKey("artifact"))) << "?";
  v1::VerifyEntriesRequest request;
  v1::VerifyEntriesResponse first, second;
  ASSERT_FALSE(admin_->Verify(request, Soon(), &first));
  EXPECT_EQ(first.checked(), 8);
  EXPECT_TRUE(first.complete());
  ASSERT_EQ(first.wrong_size(), 1);
  EXPECT_EQ(first.wrong(0).hash(), Sha256Hex("artifact"));
  EXPECT_THAT(first.quarantine(), ElementsAre(FlatName(BlobKey("artifact"))));
  EXPECT_FALSE(memory_.Touch(BlobKey("artifact")));
  ASSERT_FALSE(admin_->Verify(request, Soon(), &second));
  EXPECT_EQ(second.checked(), 7);
  EXPECT_EQ(second.wrong_size(), 0);
  EXPECT_EQ(second.quarantine_size(), 1);
  v1::VerifyEntriesResponse cut;
  ASSERT_FALSE(admin_->Verify(request, std::chrono::steady_clock::now(), &cut));
  EXPECT_FALSE(cut.complete());
}

TEST_F(CacheAdminTest, ExplainTellsWhatDiffers) {
  auto none = Explain(ActionFor(false));
  EXPECT_EQ(none.verdict(), v1::ExplainActionResponse::NO_ENTRY);
  EXPECT_EQ(none.near_size(), 0);
  Key action = Keep(ActionFor(false), "artifact");
  Keep(ActionFor(false, "salted"), "artifact");
  EXPECT_EQ(Explain(ActionFor(false)).verdict(),
            v1::ExplainActionResponse::ANSWERED);
  auto told = Explain(ActionFor(true));
  EXPECT_EQ(told.verdict(), v1::ExplainActionResponse::NO_ENTRY);
  ASSERT_EQ(told.near_size(), 2);
  EXPECT_EQ(told.near(0).action_digest(), action.hash);  // the nearest
  ASSERT_EQ(told.near(0).differences_size(), 1);
  EXPECT_EQ(told.near(0).differences(0).part(), "options");
  EXPECT_EQ(told.near(0).differences(0).asked(), "--taps");
  EXPECT_EQ(told.near(1).differences_size(), 2);
  store_->Quarantine(BlobKey("artifact"));
  auto gone = Explain(ActionFor(false));
  EXPECT_EQ(gone.verdict(), v1::ExplainActionResponse::MISSING_BLOB);
  EXPECT_THAT(gone.missing_blobs(),
              ElementsAre("blobs/" + Sha256Hex("artifact") + "/8"));
  // By its digest alone.
  v1::ExplainActionResponse by_digest;
  ASSERT_FALSE(admin_->Explain(action.hash, "", &by_digest));
  EXPECT_EQ(by_digest.verdict(), v1::ExplainActionResponse::MISSING_BLOB);
  EXPECT_GT(by_digest.parts_size(), 4);
}

TEST_F(CacheAdminTest, BadRequestsAreRefused) {
  v1::PinEntryResponse response;
  v1::PinEntryRequest request;
  EXPECT_EQ(ReasonOf(admin_->Pin(request, &response)), "BAD_REQUEST");
  request.mutable_entry()->set_kind(v1::CacheEntry::BLOB);
  request.mutable_entry()->set_hash("../x");
  EXPECT_EQ(ReasonOf(admin_->Pin(request, &response)), "BAD_REQUEST");
  request.mutable_entry()->set_hash(Sha256Hex("x"));
  EXPECT_EQ(ReasonOf(admin_->Pin(request, &response)), "NO_CACHE_ENTRY");
  request.set_instance_name("../x");
  EXPECT_EQ(ReasonOf(admin_->Pin(request, &response)), "BAD_REQUEST");
  v1::ExplainActionResponse told;
  EXPECT_EQ(ReasonOf(admin_->Explain("x", "", &told)), "BAD_REQUEST");
}

TEST_F(CacheAdminTest, PinsHoldThreeQuartersOfTheCacheAtMost) {
  v1::PinEntryResponse pinned;
  std::optional<Failure> failure;
  for (int i = 0; i < 4 && !failure; ++i) {
    const std::string blob(4'100'000, static_cast<char>('a' + i));
    ASSERT_TRUE(
        disk_->Put(BlobKey(blob), std::make_shared<const std::string>(blob))
            .ok());
    failure = admin_->Pin(About<v1::PinEntryRequest>(BlobKey(blob)), &pinned);
    EXPECT_EQ(failure.has_value(), i == 3);
  }
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->reason, "PIN_LIMIT");
}

}  // namespace
}  // namespace fold
