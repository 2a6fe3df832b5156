#include "compiler/api/replay.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "compiler/api/compile_flags.h"
#include "compiler/api/report_file.h"
#include "compiler/api/reproducer.h"
#include "compiler/sandbox/sandbox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
namespace v1 = foldd::v1;

// A program that does what its model says.
int TestProgram(int argc, char** argv) {
  CompileFlags flags;
  std::vector<std::string> words(argv + 1, argv + argc);
  std::string model;
  if (!ParseCompileLine(words, &flags).empty() ||
      !ReadWholeFile(flags.model_path, 1 << 20, &model).empty()) {
    return 2;
  }
  if (model == "crash") raise(SIGSEGV);
  if (model == "write") {
    return WriteFileAtomically(flags.output_path, "made").empty() ? 0 : 5;
  }
  if (model == "look") return open("/etc/passwd", O_RDONLY) < 0 ? 0 : 9;
  return 4;
}

class ReplayTest : public testing::Test {
 protected:
  void SetUp() override {
    job_ = testing::TempDir() + "replay_job_XXXXXX";
    ASSERT_NE(mkdtemp(job_.data()), nullptr);
    bundle_ = job_ + "_bundle.tar";
    about_.set_compiler_id("compiler-1");
    for (const char* word :
         {"foldc", "model.onnx", "--target", "x86-64", "-o", "artifact.fold"}) {
      about_.add_arguments(word);
    }
  }
  void Bundle(const std::string& model) {
    std::ofstream(job_ + "/model.onnx") << model;
    ASSERT_EQ(WriteReproducer(job_, ListInputs(job_), 1 << 20, about_, bundle_),
              "");
  }
  // The exit code of a replay, or minus the signal that ended it; what it
  // printed is in said_.
  int Replay(std::vector<std::string> arguments) {
    int fds[2];
    EXPECT_EQ(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
      dup2(fds[1], STDERR_FILENO);
      _exit(ReplayMain(arguments, "foldc", "compiler-1", TestProgram));
    }
    close(fds[1]);
    said_.clear();
    char buffer[4096];
    for (ssize_t got; (got = read(fds[0], buffer, sizeof(buffer))) > 0;) {
      said_.append(buffer, static_cast<size_t>(got));
    }
    close(fds[0]);
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::string job_, bundle_, said_;
  v1::Reproducer about_;
};

TEST_F(ReplayTest, EndsAsTheCompileDoes) {
  about_.mutable_exit()->set_signal(SIGSEGV);
  Bundle("crash");
  EXPECT_EQ(Replay({bundle_}), -SIGSEGV) << said_;
  EXPECT_THAT(said_, testing::HasSubstr("as in the bundle"));
  Bundle("else");
  EXPECT_EQ(Replay({bundle_}), 4) << said_;
  EXPECT_THAT(said_, testing::HasSubstr("in the bundle: signal 11"));
}

TEST_F(ReplayTest, RunsBehindTheWalls) {
  Bundle("look");
  Sandbox sandbox;
  bool walled = sandbox.report()[Wall::kLandlockFiles].stands;
  EXPECT_EQ(Replay({bundle_}), walled ? 0 : 9) << said_;
  EXPECT_EQ(Replay({bundle_, "--bare"}), 9) << said_;
}

TEST_F(ReplayTest, KeepsTheFolderIfAsked) {
  Bundle("write");
  std::string kept = job_ + "_kept";
  EXPECT_EQ(Replay({bundle_, "--keep", kept}), 0) << said_;
  EXPECT_TRUE(fs::exists(kept + "/artifact.fold"));
  EXPECT_EQ(Replay({bundle_, "--keep", kept}), 3);  // it is there already
}

TEST_F(ReplayTest, DifferencesAreSaid) {
  about_.set_compiler_id("compiler-0");
  Bundle("else");
  EXPECT_EQ(Replay({bundle_}), 4);
  EXPECT_THAT(said_, testing::HasSubstr("is of compiler compiler-0"));
}

TEST_F(ReplayTest, ACommandLineThatLeavesTheFolderIsRefused) {
  for (const char* path : {"/etc/passwd", "../out", "a/../../b"}) {
    about_.set_arguments(5, path);
    Bundle("write");
    EXPECT_EQ(Replay({bundle_}), 3) << path;
    EXPECT_THAT(said_, testing::HasSubstr("leaves its folder"));
  }
  about_.set_arguments(5, "artifact.fold");
  about_.add_arguments("--progress-fd");
  about_.add_arguments("1");
  Bundle("write");
  EXPECT_EQ(Replay({bundle_}), 3);
  about_.clear_arguments();
  Bundle("write");
  EXPECT_EQ(Replay({bundle_}), 3);
}

TEST_F(ReplayTest, UsageIsTold) {
  EXPECT_EQ(Replay({}), 2);
  EXPECT_EQ(Replay({"a", "b"}), 2);
  EXPECT_EQ(Replay({"--what"}), 2);
  EXPECT_EQ(Replay({"/no/such/bundle"}), 3);
}

}  // namespace
}  // namespace fold
