#include "server/cache/disk_store.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "compiler/api/sha256.h"
#include "gtest/gtest.h"
#include "server/cache/verifying_store.h"

namespace fold {
namespace {

namespace fs = std::filesystem;

Bytes Text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}
Key BlobKey(const std::string& text) { return {Space::kBlob, Sha256Hex(text)}; }

int64_t FilesUnder(const std::string& folder) {
  int64_t count = 0;
  for (const auto& file : fs::recursive_directory_iterator(folder)) {
    count += file.is_regular_file();
  }
  return count;
}

class DiskStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "disk_store_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    root_ = folder_ + "/a/cache";
  }
  std::unique_ptr<DiskStore> Open(int64_t limit = 1 << 20,
                                  int64_t min_free = 0) {
    auto store = DiskStore::Open({root_, limit, min_free});
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? std::move(*store) : nullptr;
  }
  std::string PathOf(const Key& key) {
    return root_ + "/instances/_/blobs/" + key.hash.substr(0, 2) + "/" +
           key.hash;
  }
  std::string folder_, root_;
};

TEST_F(DiskStoreTest, EntriesSurviveARestart) {
  {
    auto store = Open();
    ASSERT_TRUE(store->Put(BlobKey("one"), Text("one")).ok());
    ASSERT_TRUE(store->Put({Space::kAction, Sha256Hex("k")}, Text("two")).ok());
  }
  auto store = Open();
  EXPECT_EQ(**store->Get(BlobKey("one")), "one");
  EXPECT_EQ(**store->Get({Space::kAction, Sha256Hex("k")}), "two");
  EXPECT_EQ(store->used_bytes(), 6);
}

TEST_F(DiskStoreTest, ABlobIsAPlainFileUnderItsHash) {
  auto store = Open();
  ASSERT_TRUE(store->Put(BlobKey("one"), Text("one")).ok());
  std::ifstream file(PathOf(BlobKey("one")));
  std::string text;
  file >> text;
  EXPECT_EQ(text, "one");
}

TEST_F(DiskStoreTest, RefusesBytesThatAreNotTheKeys) {
  auto store = Open();
  EXPECT_TRUE(absl::IsInvalidArgument(store->Put(BlobKey("one"), Text("two"))));
  EXPECT_TRUE(absl::IsInvalidArgument(
      store->Put({Space::kBlob, "../../etc/passwd"}, Text("x"))));
  EXPECT_EQ(store->used_bytes(), 0);
  EXPECT_EQ(FilesUnder(root_ + "/temp"), 0);
}

TEST_F(DiskStoreTest, EvictsTheLeastRecentlyUsedAlsoAfterARestart) {
  std::vector<std::string> texts;
  for (char c : {'a', 'b', 'c', 'd'}) texts.emplace_back(1000, c);
  {
    auto store = Open(4000);
    for (const auto& text : texts) {
      ASSERT_TRUE(store->Put(BlobKey(text), Text(text)).ok());
    }
  }
  // File times decide after a restart: make 'a' the newest.
  for (int i = 0; i < 4; ++i) {
    timespec times[2] = {{100 + (i == 0 ? 9 : i), 0},
                         {100 + (i == 0 ? 9 : i), 0}};
    utimensat(AT_FDCWD, PathOf(BlobKey(texts[i])).c_str(), times, 0);
  }
  auto store = Open(4000);
  EXPECT_TRUE(store->Get(BlobKey(texts[1])).ok());  // 'b' is used now
  std::string more(1500, 'e');
  ASSERT_TRUE(store->Put(BlobKey(more), Text(more)).ok());
  EXPECT_TRUE(store->Touch(BlobKey(texts[0])));
  EXPECT_TRUE(store->Touch(BlobKey(texts[1])));
  EXPECT_FALSE(store->Touch(BlobKey(texts[2])));
  EXPECT_FALSE(store->Touch(BlobKey(texts[3])));
  EXPECT_EQ(store->evictions(), 2);
  EXPECT_EQ(store->used_bytes(), 3500);
  EXPECT_EQ(FilesUnder(root_ + "/instances/_/blobs"), 3);
}

TEST_F(DiskStoreTest, TheLimitHoldsAtTheStart) {
  {
    auto store = Open(4000);
    for (char c : {'a', 'b', 'c'}) {
      std::string text(1000, c);
      ASSERT_TRUE(store->Put(BlobKey(text), Text(text)).ok());
    }
  }
  auto store = Open(2000);
  EXPECT_LE(store->used_bytes(), 2000);
  EXPECT_EQ(FilesUnder(root_ + "/instances/_/blobs"), 2);
}

TEST_F(DiskStoreTest, TemporaryFilesAreSweptAndStrangersLeftAlone) {
  ASSERT_TRUE(Open()->Put(BlobKey("one"), Text("one")).ok());
  std::ofstream(root_ + "/temp/17") << "half";
  std::ofstream(root_ + "/instances/_/blobs/README") << "not an entry";
  auto store = Open();
  EXPECT_EQ(FilesUnder(root_ + "/temp"), 0);
  EXPECT_EQ(store->used_bytes(), 3);
  EXPECT_TRUE(fs::exists(root_ + "/instances/_/blobs/README"));
}

TEST_F(DiskStoreTest, AnotherServerIsRefused) {
  auto store = Open();
  auto second = DiskStore::Open({root_, 1000, 0});
  EXPECT_TRUE(absl::IsFailedPrecondition(second.status()));
}

TEST_F(DiskStoreTest, ACorruptEntryIsAMissAndQuarantined) {
  auto store = Open();
  VerifyingStore verifying(store.get());
  std::string text(1000, 'x');
  const std::function<void(const std::string&)> damages[] = {
      [](const std::string& path) {
        std::fstream(path) << "y";  // one byte changed
      },
      [](const std::string& path) { fs::resize_file(path, 500); },
      [](const std::string& path) { fs::resize_file(path, 0); },
      [](const std::string& path) { fs::resize_file(path, 2000); },
  };
  for (const auto& damage : damages) {
    ASSERT_TRUE(verifying.Put(BlobKey(text), Text(text)).ok());
    damage(PathOf(BlobKey(text)));
    EXPECT_TRUE(absl::IsDataLoss(verifying.Get(BlobKey(text)).status()));
    EXPECT_TRUE(absl::IsNotFound(verifying.Get(BlobKey(text)).status()));
    EXPECT_FALSE(verifying.Touch(BlobKey(text)));
  }
  EXPECT_EQ(FilesUnder(root_ + "/quarantine"), 1);
  EXPECT_EQ(store->used_bytes(), 0);
  ASSERT_TRUE(verifying.Put(BlobKey(text), Text(text)).ok());
  EXPECT_EQ(**verifying.Get(BlobKey(text)), text);
}

TEST_F(DiskStoreTest, ACorruptActionIsFoundToo) {
  auto store = Open();
  VerifyingStore verifying(store.get());
  Key key = {Space::kAction, Sha256Hex("k")};
  ASSERT_TRUE(verifying.Put(key, Text("the action's result")).ok());
  std::string path =
      root_ + "/instances/_/actions/" + key.hash.substr(0, 2) + "/" + key.hash;
  std::fstream file(path);
  file.seekp(70);
  file << "?";
  file.close();
  EXPECT_TRUE(absl::IsDataLoss(verifying.Get(key).status()));
  EXPECT_TRUE(absl::IsNotFound(verifying.Get(key).status()));
}

TEST_F(DiskStoreTest, AFileThatWasRemovedIsAMiss) {
  auto store = Open();
  ASSERT_TRUE(store->Put(BlobKey("one"), Text("one")).ok());
  fs::remove(PathOf(BlobKey("one")));
  EXPECT_TRUE(absl::IsNotFound(store->Get(BlobKey("one")).status()));
  EXPECT_EQ(store->used_bytes(), 0);
}

TEST_F(DiskStoreTest, AFullDiskIsAClearErrorAndLosesNothing) {
  auto store = Open();
  ASSERT_TRUE(store->Put(BlobKey("one"), Text("one")).ok());
  EXPECT_TRUE(store->Health().ok());
  // A limit on file sizes fails a write as a full disk does.
  signal(SIGXFSZ, SIG_IGN);
  rlimit old, small;
  getrlimit(RLIMIT_FSIZE, &old);
  small = {1000, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string text(5000, 'x');
  absl::Status status = store->Put(BlobKey(text), Text(text));
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_FALSE(store->Health().ok());
  EXPECT_EQ(FilesUnder(root_ + "/temp"), 0);
  EXPECT_EQ(store->used_bytes(), 3);
  EXPECT_EQ(**store->Get(BlobKey("one")), "one");
  ASSERT_TRUE(store->Put(BlobKey(text), Text(text)).ok());
  EXPECT_TRUE(store->Health().ok());
}

TEST_F(DiskStoreTest, AFullDiskIsTriedAgainAfterAWhile) {
  int64_t now = 100;
  auto opened = DiskStore::Open({root_, 1 << 20, 0, [&] { return now; }});
  ASSERT_TRUE(opened.ok());
  DiskStore& store = **opened;
  signal(SIGXFSZ, SIG_IGN);
  rlimit old, small;
  getrlimit(RLIMIT_FSIZE, &old);
  small = {1000, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string text(5000, 'x');
  EXPECT_FALSE(store.Put(BlobKey(text), Text(text)).ok());
  setrlimit(RLIMIT_FSIZE, &old);
  now += 29;
  EXPECT_FALSE(store.Health().ok());
  now += 1;
  EXPECT_TRUE(store.Health().ok());
}

TEST_F(DiskStoreTest, TooLittleFreeSpaceIsNotHealthy) {
  EXPECT_TRUE(
      absl::IsResourceExhausted(Open(1 << 20, int64_t{1} << 60)->Health()));
}

TEST_F(DiskStoreTest, InstancesAreFoldersUnderOneLimit) {
  std::string text(1000, 'x'), other(1000, 'y');
  Key theirs = {Space::kBlob, Sha256Hex(text), "team-a"};
  {
    auto store = Open(2500);
    ASSERT_TRUE(store->Put(theirs, Text(text)).ok());
    EXPECT_TRUE(absl::IsNotFound(store->Get(BlobKey(text)).status()));
    EXPECT_TRUE(fs::exists(root_ + "/instances/team-a/blobs"));
    ASSERT_TRUE(store->Put(BlobKey(text), Text(text)).ok());
    EXPECT_EQ(store->used_bytes(), 2000);
  }
  auto store = Open(2500);
  EXPECT_EQ(**store->Get(BlobKey(text)), text);  // used last
  ASSERT_TRUE(store->Put(BlobKey(other), Text(other)).ok());
  EXPECT_FALSE(store->Touch(theirs));
  for (const char* bad : {"..", "a/b", "A", "_", "-a"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        store->Put({Space::kBlob, Sha256Hex(text), bad}, Text(text))))
        << bad;
  }
}

TEST_F(DiskStoreTest, TimeLeasesEndByThemselves) {
  int64_t now = 100;
  auto opened = DiskStore::Open({root_, 2500, 0, [&] { return now; }});
  ASSERT_TRUE(opened.ok());
  DiskStore& store = **opened;
  std::string a(1000, 'a'), b(1000, 'b'), c(1000, 'c');
  ASSERT_TRUE(store.Put(BlobKey(a), Text(a)).ok());
  ASSERT_TRUE(store.Put(BlobKey(b), Text(b)).ok());
  EXPECT_TRUE(store.TouchFor(BlobKey(a), 10));
  EXPECT_TRUE(store.TouchFor(BlobKey(b), 20));
  EXPECT_TRUE(absl::IsResourceExhausted(store.Put(BlobKey(c), Text(c))));
  EXPECT_TRUE(store.Touch(BlobKey(a)));
  now = 110;
  ASSERT_TRUE(store.Put(BlobKey(c), Text(c)).ok());
  EXPECT_FALSE(store.Touch(BlobKey(a)));
  EXPECT_TRUE(store.Touch(BlobKey(b)));
}

TEST_F(DiskStoreTest, WhatIsHeldIsNotRemoved) {
  auto store = Open();
  ASSERT_TRUE(store->Put(BlobKey("one"), Text("one")).ok());
  {
    auto lease = store->Hold(BlobKey("one"));
    EXPECT_TRUE(absl::IsFailedPrecondition(store->Remove(BlobKey("one"))));
  }
  EXPECT_TRUE(store->Remove(BlobKey("one")).ok());
  EXPECT_TRUE(absl::IsNotFound(store->Remove(BlobKey("one"))));
  EXPECT_EQ(store->used_bytes(), 0);
  EXPECT_FALSE(fs::exists(PathOf(BlobKey("one"))));
}

TEST_F(DiskStoreTest, AWriteIsCountedWhileItIsUnderWay) {
  auto store = Open(2500);
  std::string text(1000, 'x');
  {
    auto writer = store->CreateBlob(BlobKey(text), 1000);
    ASSERT_TRUE(writer.ok());
    EXPECT_EQ(store->used_bytes(), 1000);
    EXPECT_EQ(store->temporary_bytes(), 1000);
    EXPECT_EQ(FilesUnder(root_ + "/temp"), 1);
    // What is being written is not evicted to make room.
    EXPECT_TRUE(absl::IsResourceExhausted(
        store->CreateBlob(BlobKey("more"), 2000).status()));
    ASSERT_TRUE((*writer)->Append(text.substr(0, 400)).ok());
  }
  EXPECT_EQ(store->used_bytes(), 0);
  EXPECT_EQ(store->temporary_bytes(), 0);
  EXPECT_EQ(FilesUnder(root_ + "/temp"), 0);
  EXPECT_FALSE(store->Touch(BlobKey(text)));
  EXPECT_TRUE(store->Health().ok());  // abandoned is not failed
}

TEST_F(DiskStoreTest, TwoWritersOfOneBlobAreBothRight) {
  auto store = Open();
  std::string text(1000, 'x');
  auto first = store->CreateBlob(BlobKey(text), 1000);
  auto second = store->CreateBlob(BlobKey(text), 1000);
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE((*first)->Append(text).ok());
  ASSERT_TRUE((*second)->Append(text).ok());
  EXPECT_TRUE((*first)->Finish().ok());
  EXPECT_TRUE((*second)->Finish().ok());
  EXPECT_EQ(store->used_bytes(), 1000);
  EXPECT_EQ(**store->Get(BlobKey(text)), text);
}

TEST_F(DiskStoreTest, AReaderOutlivesTheEvictionOfItsEntry) {
  auto store = Open();
  std::string text(100, 'x');
  ASSERT_TRUE(store->Put(BlobKey(text), Text(text)).ok());
  auto reader = store->OpenBlob(BlobKey(text));
  ASSERT_TRUE(reader.ok());
  ASSERT_TRUE(store->Remove(BlobKey(text)).ok());
  EXPECT_EQ(*(*reader)->Read(1000), text);
}

TEST_F(DiskStoreTest, AWrongBlobIsNotReadToItsEnd) {
  int heard = 0;
  DiskStoreOptions options = {root_, 1 << 20, 0};
  options.on_wrong = [&](const Key&) { ++heard; };
  auto opened = DiskStore::Open(options);
  ASSERT_TRUE(opened.ok());
  std::unique_ptr<DiskStore> store = std::move(*opened);
  std::string text(3000, 'x');
  ASSERT_TRUE(store->Put(BlobKey(text), Text(text)).ok());
  std::fstream(PathOf(BlobKey(text))) << "y";
  auto reader = store->OpenBlob(BlobKey(text));
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE((*reader)->Read(2999).ok());
  EXPECT_TRUE(absl::IsDataLoss((*reader)->Read(1).status()));
  EXPECT_TRUE(absl::IsDataLoss((*reader)->Read(1).status()));
  EXPECT_FALSE(store->Touch(BlobKey(text)));
  EXPECT_EQ(store->quarantine().bytes(), 3000);
  EXPECT_EQ(heard, 1);
}

TEST_F(DiskStoreTest, RightBytesWrittenMeanwhileAreNotQuarantined) {
  auto store = Open();
  std::string text(3000, 'x');
  ASSERT_TRUE(store->Put(BlobKey(text), Text(text)).ok());
  std::fstream(PathOf(BlobKey(text))) << "y";
  auto reader = store->OpenBlob(BlobKey(text));
  ASSERT_TRUE(store->Put(BlobKey(text), Text(text)).ok());
  EXPECT_TRUE(absl::IsDataLoss((*reader)->Read(3000).status()));
  EXPECT_EQ(**store->Get(BlobKey(text)), text);
}

TEST_F(DiskStoreTest, QuarantineGoesBeforeEntries) {
  auto store = Open(32'000);
  std::string text(1000, 'x'), more(31'000, 'm');
  ASSERT_TRUE(store->Put(BlobKey(text), Text(text)).ok());
  store->Quarantine(BlobKey(text));
  EXPECT_EQ(store->quarantine().bytes(), 1000);
  ASSERT_TRUE(store->Put(BlobKey("one"), Text("one")).ok());
  ASSERT_TRUE(store->Put(BlobKey(more), Text(more)).ok());
  EXPECT_EQ(store->quarantine().bytes(), 0);
  EXPECT_TRUE(store->Touch(BlobKey("one")));
}

// A process is killed in the midst of its writes, again and again; what is
// found afterwards is whole.
TEST_F(DiskStoreTest, KilledInTheMidstOfWritesNothingIsWrong) {
  std::mt19937 random(1);
  int found = 0;
  for (int round = 0; round < 8; ++round) {
    pid_t pid = fork();
    if (pid == 0) {
      auto store = DiskStore::Open({root_, 64 << 20, 0});
      VerifyingStore verifying(store->get());
      for (int i = 0;; ++i) {
        std::string text(50'000 + i, static_cast<char>('a' + round));
        (void)verifying.Put(BlobKey(text), Text(text));
      }
    }
    usleep(5'000 + random() % 60'000);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    auto store = Open(64 << 20);
    VerifyingStore verifying(store.get());
    EXPECT_EQ(FilesUnder(root_ + "/temp"), 0);
    for (const auto& file :
         fs::recursive_directory_iterator(root_ + "/instances")) {
      if (!file.is_regular_file()) continue;
      ++found;
      EXPECT_TRUE(verifying.Get({Space::kBlob, file.path().filename()}).ok());
    }
  }
  EXPECT_GT(found, 0);
  EXPECT_EQ(FilesUnder(root_ + "/quarantine"), 0);
}

}  // namespace
}  // namespace fold
