#include "compiler/sandbox/sandbox.h"

#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>

#include "compiler/sandbox/landlock.h"
#include "compiler/sandbox/probe.h"
#include "compiler/sandbox/sanitized.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::HasSubstr;

std::string ErrorName(bool done) {
  return done ? "done" : strerrorname_np(errno);
}

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "sandbox_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    outside_ = testing::TempDir() + "outside_XXXXXX";
    ASSERT_NE(mkdtemp(outside_.data()), nullptr);
    std::ofstream(outside_ + "/file") << "text";
  }
  // What `attempt` says from behind the walls.
  std::string Inside(const std::function<std::string()>& attempt,
                     const std::vector<std::string>& readable = {}) {
    return TryInChild([&] {
      if (chdir(folder_.c_str()) != 0) return std::string("chdir");
      std::string fault = sandbox_.Enclose({folder_, readable, {}});
      return fault.empty() ? attempt() : fault;
    });
  }
  bool HasLandlock() const {
    return sandbox_.report()[Wall::kLandlockFiles].stands;
  }

  Sandbox sandbox_;
  std::string folder_, outside_;
};

// The report of a machine on which these calls are refused, as a container's
// own filter does it.
std::string ReportWithout(
    const std::vector<int>& calls,
    const std::function<std::string(const SandboxReport&)>& say) {
  return TryInChild([&]() -> std::string {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    for (int call : calls) {
      if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0) != 0) {
        return "no rule";
      }
    }
    if (seccomp_load(filter) != 0) return "no filter";
    seccomp_release(filter);
    return say(Sandbox().report());
  });
}

std::string LevelWithout(const std::vector<int>& calls) {
  return ReportWithout(calls, [](const SandboxReport& report) {
    return std::string(SandboxLevelName(report.level()));
  });
}

TEST_F(SandboxTest, ReportsWhatStandsHere) {
  const SandboxReport& report = sandbox_.report();
  SCOPED_TRACE(report.Summary());
  EXPECT_TRUE(report[Wall::kLimits].stands);
  EXPECT_EQ(report[Wall::kAddressSpace].stands, !kSanitized);
  EXPECT_TRUE(report[Wall::kNoNewPrivileges].stands);
  EXPECT_TRUE(report[Wall::kCapabilities].stands);
  EXPECT_TRUE(report[Wall::kSeccomp].stands);
  EXPECT_EQ(report[Wall::kStrictCalls].stands, !kSanitized);
  std::string why;
  int abi = LandlockAbi(&why);
  EXPECT_EQ(report[Wall::kLandlockFiles].stands, abi > 0);
  EXPECT_EQ(report[Wall::kLandlockNetwork].stands, abi >= kLandlockNetworkAbi);
  EXPECT_EQ(report[Wall::kLandlockScope].stands, abi >= kLandlockScopeAbi);
  if (abi > 0) {
    EXPECT_THAT(report[Wall::kLandlockFiles].detail,
                HasSubstr("ABI " + std::to_string(abi)));
  }
  EXPECT_EQ(report.level(), abi > 0 && !kSanitized ? SandboxLevel::kFull
                                                   : SandboxLevel::kSeccomp);
}

TEST_F(SandboxTest, WallsThatAreNotAllowedAreReportedMissing) {
  EXPECT_EQ(LevelWithout({SCMP_SYS(landlock_create_ruleset)}), "seccomp");
  EXPECT_EQ(LevelWithout({SCMP_SYS(landlock_restrict_self)}), "seccomp");
  EXPECT_EQ(LevelWithout({SCMP_SYS(seccomp)}), "limits");
  EXPECT_EQ(LevelWithout({SCMP_SYS(capset)}), "limits");
  EXPECT_EQ(LevelWithout({SCMP_SYS(prlimit64), SCMP_SYS(setrlimit)}), "none");
  EXPECT_THAT(ReportWithout({SCMP_SYS(landlock_create_ruleset)},
                            [](const SandboxReport& report) {
                              return report.Missing(SandboxLevel::kFull);
                            }),
              HasSubstr(kSanitized ? "'address_space'" : "'landlock_files'"));
}

TEST_F(SandboxTest, WhatStandsPartlyStillEncloses) {
  // Without Landlock: the other walls are put up all the same.
  std::string said = TryInChild([&]() -> std::string {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM),
                     SCMP_SYS(landlock_create_ruleset), 0);
    if (seccomp_load(filter) != 0) return "no filter";
    std::string fault = Sandbox().Enclose({folder_, {}, {}});
    return fault.empty() ? ErrorName(fork() >= 0) : fault;
  });
  EXPECT_EQ(said, "EPERM");
}

TEST_F(SandboxTest, TheFolderIsToWorkIn) {
  EXPECT_EQ(Inside([] {
              std::ofstream("made") << "text";
              bool moved = rename("made", "moved") == 0;
              std::ifstream file("moved");
              std::string text;
              file >> text;
              return text + (moved && unlink("moved") == 0 ? "" : " stuck");
            }),
            "text");
}

TEST_F(SandboxTest, NothingElseIsOpened) {
  if (!HasLandlock()) GTEST_SKIP() << "no Landlock here";
  std::string file = outside_ + "/file";
  EXPECT_EQ(
      Inside([&] { return ErrorName(open(file.c_str(), O_RDONLY) >= 0); }),
      "EACCES");
  EXPECT_EQ(Inside([&] {
              return ErrorName(open("..", O_RDONLY | O_DIRECTORY) >= 0);
            }),
            "EACCES");
  EXPECT_EQ(Inside([&] {
              return ErrorName(open((outside_ + "/new").c_str(),
                                    O_WRONLY | O_CREAT, 0600) >= 0);
            }),
            "EACCES");
  EXPECT_EQ(Inside([&] { return ErrorName(unlink(file.c_str()) == 0); }),
            "EACCES");
}

TEST_F(SandboxTest, ReadableMeansReadAlone) {
  if (!HasLandlock()) GTEST_SKIP() << "no Landlock here";
  std::string file = outside_ + "/file";
  auto attempt = [&](int flags) {
    return Inside([&] { return ErrorName(open(file.c_str(), flags) >= 0); },
                  {file});
  };
  EXPECT_EQ(attempt(O_RDONLY), "done");
  EXPECT_EQ(attempt(O_WRONLY), "EACCES");
  EXPECT_EQ(attempt(O_RDONLY | O_TRUNC), "EPERM");
  // All below a folder.
  EXPECT_EQ(Inside([&] { return ErrorName(open(file.c_str(), O_RDONLY) >= 0); },
                   {outside_}),
            "done");
}

TEST_F(SandboxTest, AWallThatCannotBePutUpIsNamed) {
  if (!HasLandlock()) GTEST_SKIP() << "no Landlock here";
  std::string said = Inside([] { return "ran"; }, {"/no/such/file"});
  EXPECT_THAT(said, HasSubstr("'landlock_files' cannot be put up"));
  EXPECT_THAT(said, HasSubstr("/no/such/file"));
}

TEST_F(SandboxTest, RootObeysModes) {
  std::ofstream(folder_ + "/input") << "text";
  ASSERT_EQ(chmod((folder_ + "/input").c_str(), 0400), 0);
  EXPECT_EQ(Inside([] { return ErrorName(open("input", O_WRONLY) >= 0); }),
            "EACCES");
  EXPECT_EQ(Inside([] { return ErrorName(chmod("input", 0600) == 0); }),
            "EPERM");
}

TEST(Probe, SaysHowAnAttemptEnded) {
  EXPECT_EQ(TryInChild([] { return ""; }), "");
  EXPECT_EQ(TryInChild([] { return "some\nlines"; }), "some\nlines");
  EXPECT_THAT(TryInChild([]() -> std::string { _exit(3); }),
              HasSubstr("no answer"));
  EXPECT_THAT(TryInChild([] {
                raise(SIGTERM);
                return "";
              }),
              HasSubstr("Terminated"));
}

}  // namespace
}  // namespace fold
