#include "server/result_cache.h"

#include "compiler/api/action.h"
#include "compiler/api/sha256.h"
#include "gtest/gtest.h"
#include "server/cache/memory_store.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

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

v1::Manifest ManifestOf(const std::string& artifact,
                        std::vector<std::string> compatible) {
  v1::Manifest manifest;
  *manifest.mutable_artifact() = DigestOf(artifact);
  manifest.set_model_digest(Sha256Hex("model"));
  manifest.set_action_digest(Sha256Hex("action of " + artifact));
  for (auto& one : compatible) manifest.add_compatible(one);
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
