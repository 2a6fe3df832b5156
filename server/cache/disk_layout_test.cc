#include "server/cache/disk_layout.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "compiler/api/sha256.h"
#include "gtest/gtest.h"
#include "server/cache/disk_file.h"
#include "server/cache/disk_store.h"
#include "server/cache/verifying_store.h"

namespace fold {
namespace {

namespace fs = std::filesystem;

class DiskLayoutTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "disk_layout_XXXXXX";
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
  }
  // What version 1 left: `count` blobs and an action.
  void MakeFirstVersion(int count) {
    Write("/format", "foldd-cache 1\n");
    for (int i = 0; i < count; ++i) {
      std::string text = "blob " + std::to_string(i);
      std::string hash = Sha256Hex(text);
      Write("/blobs/" + hash.substr(0, 2) + "/" + hash, text);
    }
    std::string action = Sha256Hex("action");
    Write("/actions/" + action.substr(0, 2) + "/" + action,
          Sha256Hex("result") + "result");
    for (const char* name : {"/manifests", "/temp", "/quarantine"}) {
      fs::create_directories(root_ + name);
    }
  }
  void ExpectAllThere(int count) {
    auto store = DiskStore::Open({root_, 1 << 20, 0});
    ASSERT_TRUE(store.ok()) << store.status();
    VerifyingStore verifying(store->get());
    for (int i = 0; i < count; ++i) {
      std::string text = "blob " + std::to_string(i);
      auto got = verifying.Get({Space::kBlob, Sha256Hex(text)});
      ASSERT_TRUE(got.ok()) << i << got.status();
      EXPECT_EQ(**got, text);
    }
    EXPECT_EQ(**verifying.Get({Space::kAction, Sha256Hex("action")}), "result");
    EXPECT_FALSE(fs::exists(root_ + "/blobs"));
    EXPECT_EQ(*ReadSmallFile(root_ + "/format", 100), "foldd-cache 2\n");
  }
  void Write(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(root_ + name).parent_path());
    std::ofstream(root_ + name) << text;
  }
  std::string root_;
};

TEST_F(DiskLayoutTest, NamesGoThereAndBack) {
  for (const char* instance : {"", "team-a", "0_x"}) {
    for (Space space : kSpaces) {
      Key key = {space, Sha256Hex("x"), instance};
      EXPECT_EQ(ParseFlatName(FlatName(key)), key);
    }
  }
  std::string hash = Sha256Hex("x");
  for (const std::string& bad :
       {std::string(""), std::string(hash), "~blobs~" + hash,
        std::string("_~blobs~x"), "_~things~" + hash, "A~blobs~" + hash,
        "..~blobs~" + hash, "_~blobs~" + hash + ".new"}) {
    EXPECT_FALSE(ParseFlatName(bad).has_value()) << bad;
  }
}

TEST_F(DiskLayoutTest, InstanceNames) {
  for (const char* good : {"", "a", "0", "a-b_c", "team1"}) {
    EXPECT_TRUE(IsInstanceName(good)) << good;
  }
  for (const std::string& bad :
       {std::string("_"), std::string("-a"), std::string("A"),
        std::string("a/b"), std::string("a.b"), std::string(".."),
        std::string("a\0b", 3), std::string(64, 'a')}) {
    EXPECT_FALSE(IsInstanceName(bad)) << bad;
  }
  EXPECT_TRUE(IsInstanceName(std::string(63, 'a')));
}

TEST_F(DiskLayoutTest, TheFirstVersionIsUpgradedInPlace) {
  MakeFirstVersion(20);
  ExpectAllThere(20);
  ExpectAllThere(20);
}

// Each state in which a kill could leave an upgrade.
TEST_F(DiskLayoutTest, AnUpgradeThatWasCutShortIsFinished) {
  for (int moved = 0; moved <= 3; ++moved) {
    fs::remove_all(root_);
    MakeFirstVersion(5);
    Write("/format", "foldd-cache 2 upgrading\n");
    fs::create_directories(root_ + "/instances/_");
    const char* names[] = {"/blobs", "/actions", "/manifests"};
    for (int i = 0; i < moved; ++i) {
      fs::rename(root_ + names[i], root_ + "/instances/_" + names[i]);
    }
    ExpectAllThere(5);
  }
}

TEST_F(DiskLayoutTest, AFolderThatIsHalfMovedIsMerged) {
  MakeFirstVersion(50);
  std::string from, to;
  int count = 0;
  for (const auto& folder : fs::directory_iterator(root_ + "/blobs")) {
    if (++count % 2 == 0) continue;
    from = folder.path();
    to = root_ + "/instances/_/blobs/" + folder.path().filename().string();
    fs::create_directories(fs::path(to).parent_path());
    fs::rename(from, to);
  }
  ExpectAllThere(50);
}

TEST_F(DiskLayoutTest, KilledInTheMidstOfUpgradesNothingIsLost) {
  for (int round = 0; round < 12; ++round) {
    fs::remove_all(root_);
    MakeFirstVersion(40);
    pid_t pid = fork();
    if (pid == 0) {
      (void)PrepareLayout(root_);
      _exit(0);
    }
    usleep(round * 300);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    ExpectAllThere(40);
  }
}

TEST_F(DiskLayoutTest, ANewerVersionIsRefusedAndLeftAsItWas) {
  Write("/format", "foldd-cache 3\n");
  absl::Status status = PrepareLayout(root_);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_NE(status.message().find("newer server (format 3)"), std::string::npos)
      << status;
  EXPECT_EQ(*ReadSmallFile(root_ + "/format", 100), "foldd-cache 3\n");
  EXPECT_FALSE(fs::exists(root_ + "/instances"));
  for (const char* text : {"something\n", "foldd-cache x", "foldd-cache 0\n"}) {
    Write("/format", text);
    EXPECT_TRUE(absl::IsFailedPrecondition(PrepareLayout(root_))) << text;
  }
}

// While it is upgraded, version 1, which wants its own line, refuses it.
TEST_F(DiskLayoutTest, ACopyUnderWayIsRefused) {
  ASSERT_TRUE(BeginCopy(root_).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(PrepareLayout(root_)));
  EXPECT_FALSE(HasCurrentFormat(root_));
  ASSERT_TRUE(EndCopy(root_).ok());
  EXPECT_TRUE(HasCurrentFormat(root_));
  EXPECT_TRUE(PrepareLayout(root_).ok());
}

TEST_F(DiskLayoutTest, ScanFindsEntriesAndPassesStrangersOver) {
  ASSERT_TRUE(PrepareLayout(root_).ok());
  std::string hash = Sha256Hex("x");
  std::string tail = "/blobs/" + hash.substr(0, 2) + "/" + hash;
  for (const char* instance : {"_", "team", "UPPER", "..x"}) {
    Write(std::string("/instances/") + instance + tail, "x");
  }
  Write("/instances/team/blobs/README", "x");
  Write("/instances/stray", "x");
  std::set<std::string> found;
  ScanEntries(root_, [&](const FoundEntry& entry) {
    EXPECT_EQ(entry.size, 1);
    found.insert(entry.key.instance);
  });
  EXPECT_EQ(found, (std::set<std::string>{"", "team"}));
}

}  // namespace
}  // namespace fold
