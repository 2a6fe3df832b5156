// One suite over every store and every decorator: the contract of store.h.
#include <sys/stat.h>

#include <atomic>
#include <functional>
#include <random>
#include <set>
#include <thread>

#include "compiler/api/sha256.h"
#include "gtest/gtest.h"
#include "server/cache/disk_store.h"
#include "server/cache/memory_store.h"
#include "server/cache/observed_store.h"
#include "server/cache/recall_list.h"
#include "server/cache/recalling_store.h"
#include "server/cache/single_flight_store.h"
#include "server/cache/tiered_store.h"
#include "server/cache/verifying_store.h"

namespace fold {
namespace {

constexpr int64_t kLimit = 1 << 20;

// A store with all that it stands on.
struct Stack {
  std::vector<std::unique_ptr<Store>> stores;
  Store& top() { return *stores.back(); }
  Store* Add(std::unique_ptr<Store> store) {
    stores.push_back(std::move(store));
    return stores.back().get();
  }
};

std::unique_ptr<Store> Disk() {
  std::string folder = testing::TempDir() + "conformance_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return nullptr;
  auto store = DiskStore::Open({folder + "/cache", kLimit, 0});
  return store.ok() ? std::move(*store) : nullptr;
}

std::unique_ptr<Store> Memory() {
  return std::make_unique<MemoryStore>(kLimit);
}

void Ignore(const std::string&, const std::string&) {}

struct Case {
  const char* name;
  std::function<void(Stack&)> build;
};

const Case kCases[] = {
    {"memory", [](Stack& s) { s.Add(Memory()); }},
    {"disk", [](Stack& s) { s.Add(Disk()); }},
    {"verifying_memory",
     [](Stack& s) {
       s.Add(std::make_unique<VerifyingStore>(s.Add(Memory())));
     }},
    {"verifying_disk",
     [](Stack& s) { s.Add(std::make_unique<VerifyingStore>(s.Add(Disk()))); }},
    {"single_flight",
     [](Stack& s) {
       s.Add(std::make_unique<SingleFlightStore>(s.Add(Memory())));
     }},
    {"observed",
     [](Stack& s) {
       s.Add(std::make_unique<ObservedStore>("t", s.Add(Memory()), Ignore));
     }},
    {"tiered",
     [](Stack& s) {
       Store* memory = s.Add(Memory());
       s.Add(std::make_unique<TieredStore>(memory, s.Add(Disk())));
     }},
    {"recalling",
     [](Stack& s) {
       static const RecallList none(testing::TempDir() + "no_recalls");
       s.Add(std::make_unique<RecallingStore>(s.Add(Memory()), &none));
     }},
    {"everything",
     [](Stack& s) {
       Store* memory = s.Add(Memory());
       Store* disk = s.Add(std::make_unique<VerifyingStore>(s.Add(Disk())));
       disk = s.Add(std::make_unique<ObservedStore>("disk", disk, Ignore));
       Store* tiers = s.Add(std::make_unique<TieredStore>(memory, disk));
       s.Add(std::make_unique<SingleFlightStore>(tiers));
     }},
};

Bytes Text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

Key BlobKey(const std::string& text) { return {Space::kBlob, Sha256Hex(text)}; }

class StoreConformance : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { GetParam().build(stack_); }
  Store& store() { return stack_.top(); }
  std::string Content(const Key& key) {
    absl::StatusOr<Bytes> got = store().Get(key);
    return got.ok() ? **got : "(" + std::string(got.status().message()) + ")";
  }
  Stack stack_;
};

TEST_P(StoreConformance, GivesWhatWasPut) {
  for (const std::string& text :
       {std::string("abc"), std::string(""), std::string("\0\xff\n", 3),
        std::string(100'000, 'x')}) {
    ASSERT_TRUE(store().Put(BlobKey(text), Text(text)).ok());
    EXPECT_EQ(Content(BlobKey(text)), text);
  }
  EXPECT_EQ(Content(BlobKey("abc")), "abc");
}

TEST_P(StoreConformance, WhatWasNotPutIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(store().Get(BlobKey("no")).status()));
  EXPECT_FALSE(store().Touch(BlobKey("no")));
  store().Quarantine(BlobKey("no"));
}

TEST_P(StoreConformance, SpacesAreApart) {
  std::string hash = Sha256Hex("x");
  ASSERT_TRUE(store().Put({Space::kAction, hash}, Text("an action")).ok());
  EXPECT_EQ(Content({Space::kAction, hash}), "an action");
  EXPECT_TRUE(absl::IsNotFound(store().Get({Space::kManifest, hash}).status()));
  EXPECT_TRUE(absl::IsNotFound(store().Get({Space::kBlob, hash}).status()));
  ASSERT_TRUE(store().Put({Space::kManifest, hash}, Text("a manifest")).ok());
  EXPECT_EQ(Content({Space::kAction, hash}), "an action");
}

TEST_P(StoreConformance, TheLastPutWins) {
  Key key = {Space::kAction, Sha256Hex("k")};
  ASSERT_TRUE(store().Put(key, Text("first")).ok());
  ASSERT_TRUE(store().Put(key, Text("second, longer")).ok());
  EXPECT_EQ(Content(key), "second, longer");
  ASSERT_TRUE(store().Put(key, Text("3")).ok());
  EXPECT_EQ(Content(key), "3");
}

TEST_P(StoreConformance, TouchTellsAndQuarantineHides) {
  Key key = BlobKey("text");
  ASSERT_TRUE(store().Put(key, Text("text")).ok());
  EXPECT_TRUE(store().Touch(key));
  store().Quarantine(key);
  EXPECT_FALSE(store().Touch(key));
  EXPECT_TRUE(absl::IsNotFound(store().Get(key).status()));
  ASSERT_TRUE(store().Put(key, Text("text")).ok());
  EXPECT_EQ(Content(key), "text");
}

TEST_P(StoreConformance, InstancesAreApart) {
  Key ours = BlobKey("text"), theirs = ours;
  theirs.instance = "theirs";
  ASSERT_TRUE(store().Put(ours, Text("text")).ok());
  EXPECT_TRUE(absl::IsNotFound(store().Get(theirs).status()));
  EXPECT_FALSE(store().Touch(theirs));
  EXPECT_FALSE(store().Hold(theirs).has_value());
  Key action = {Space::kAction, Sha256Hex("k"), "theirs"};
  ASSERT_TRUE(store().Put(action, Text("their action")).ok());
  EXPECT_EQ(Content(action), "their action");
  action.instance = "";
  EXPECT_TRUE(absl::IsNotFound(store().Get(action).status()));
}

TEST_P(StoreConformance, WhatIsHeldStays) {
  std::string held(50'000, 'h');
  EXPECT_FALSE(store().Hold(BlobKey(held)).has_value());
  ASSERT_TRUE(store().Put(BlobKey(held), Text(held)).ok());
  std::optional<Lease> lease = store().Hold(BlobKey(held));
  ASSERT_TRUE(lease.has_value());
  for (int i = 0; i < 40; ++i) {
    std::string text = std::to_string(i) + std::string(60'000, 'a');
    ASSERT_TRUE(store().Put(BlobKey(text), Text(text)).ok());
  }
  EXPECT_EQ(Content(BlobKey(held)), held);
}

TEST_P(StoreConformance, WhereAllIsHeldNothingFitsAndNothingIsLost) {
  std::vector<std::string> texts;
  std::vector<Lease> leases;
  for (int i = 0; i < 40; ++i) {
    std::string text = std::to_string(i) + std::string(100'000, 'a');
    absl::Status put = store().Put(BlobKey(text), Text(text));
    if (!put.ok()) {
      EXPECT_TRUE(absl::IsResourceExhausted(put)) << put;
      break;
    }
    leases.push_back(*store().Hold(BlobKey(text)));
    texts.push_back(text);
  }
  EXPECT_LT(texts.size(), 12u);
  EXPECT_GE(texts.size(), 8u);
  for (const std::string& text : texts) EXPECT_EQ(Content(BlobKey(text)), text);
  leases.clear();
  std::string text(100'000, 'b');
  EXPECT_TRUE(store().Put(BlobKey(text), Text(text)).ok());
}

TEST_P(StoreConformance, WhatCannotFitIsRefusedAndTheRestStays) {
  ASSERT_TRUE(store().Put(BlobKey("small"), Text("small")).ok());
  std::string large(kLimit + 1, 'x');
  EXPECT_TRUE(
      absl::IsResourceExhausted(store().Put(BlobKey(large), Text(large))));
  EXPECT_EQ(Content(BlobKey("small")), "small");
  EXPECT_TRUE(absl::IsNotFound(store().Get(BlobKey(large)).status()));
}

TEST_P(StoreConformance, ForgetsButNeverLies) {
  std::vector<std::string> texts;
  for (int i = 0; i < 40; ++i) {
    texts.push_back(std::to_string(i) + std::string(60'000, 'a' + i % 26));
    ASSERT_TRUE(store().Put(BlobKey(texts[i]), Text(texts[i])).ok());
  }
  int kept = 0;
  for (const std::string& text : texts) {
    absl::StatusOr<Bytes> got = store().Get(BlobKey(text));
    if (!got.ok()) {
      EXPECT_TRUE(absl::IsNotFound(got.status()));
      continue;
    }
    ++kept;
    EXPECT_EQ(**got, text);
  }
  EXPECT_GE(kept, 10);
  EXPECT_LT(kept, 40);
  // The last one put is the last one to go.
  EXPECT_EQ(Content(BlobKey(texts.back())), texts.back());
}

TEST_P(StoreConformance, ManyThreadsSeeWholeEntries) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 150; ++i) {
        std::string text(random() % 30'000, 'a' + random() % 4);
        Key key = BlobKey(text);
        switch (random() % 4) {
          case 0:
            wrong += !store().Put(key, Text(text)).ok();
            break;
          case 1:
            store().Touch(key);
            break;
          default: {
            absl::StatusOr<Bytes> got = store().Get(key);
            wrong += got.ok() ? **got != text : !absl::IsNotFound(got.status());
          }
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(All, StoreConformance, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace fold
