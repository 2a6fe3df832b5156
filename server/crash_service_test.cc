// Crashing models and the sandbox as a client and an operator see them: a real
// server, its errors, its bundles, its metrics.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "compiler/api/action.h"
#include "compiler/api/report_file.h"
#include "compiler/api/reproducer.h"
#include "compiler/api/reproducer_writer.h"
#include "compiler/api/sha256.h"
#include "compiler/api/target_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/testing/server_process.h"

namespace fold {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;
namespace v1 = foldd::v1;

// The exit code of a program, or minus the signal that ended it.
int RunProgram(std::vector<std::string> words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = fork();
  if (pid == 0) {
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string Foldc() {
  const char* folder = std::getenv("FOLD_BIN");
  return std::string(folder != nullptr ? folder : ".") + "/foldc";
}

class CrashServiceTest : public testing::Test {
 protected:
  void Start(const std::vector<std::string>& flags = {},
             const std::string& compiler = "") {
    if (data_.empty()) data_ = NewFolder("crash_service");
    server_ = std::make_unique<ServerProcess>(
        ServerOptions{data_, flags, compiler, 0});
  }
  // The bundle of this digest, as a file, by HTTP.
  std::string Download(const std::string& digest) {
    int status = 0;
    std::string bytes = server_->Get("/v1/blobs/" + digest, &status);
    EXPECT_EQ(status, 200);
    EXPECT_EQ(Sha256Hex(bytes), digest);
    std::string path = data_ + "/downloaded.tar";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  std::string data_;
  std::unique_ptr<ServerProcess> server_;
};

TEST_F(CrashServiceTest, AModelThatCrashesTwiceIsRefusedWithItsReproducer) {
  Start();
  ASSERT_TRUE(server_->started());
  const auto request = Script("diagnostic float_island conv_3\nsignal 11");
  for (int i = 0; i < 2; ++i) {
    CompileEnd end = server_->Compile(request);
    EXPECT_EQ(end.reason, "COMPILER_CRASHED");
    EXPECT_EQ(end.metadata["signal"], "11");
    EXPECT_EQ(end.metadata["reproducer"].size(), 64u);
  }
  CompileEnd refused = server_->Compile(request);
  EXPECT_EQ(refused.reason, "MODEL_CRASHES_COMPILER");
  EXPECT_EQ(refused.code, grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_FALSE(refused.retry);
  EXPECT_EQ(refused.metadata["crashes"], "2");
  EXPECT_FALSE(refused.metadata["tried_again_at"].empty());
  EXPECT_THAT(refused.metadata["last_diagnostic"], HasSubstr("conv_3"));
  // Neither is it compiled for another target; other models are.
  EXPECT_EQ(server_->Compile(Script(request.model(), "x86-64-integer")).reason,
            "MODEL_CRASHES_COMPILER");
  EXPECT_TRUE(server_->Compile(Script("progress 1")).ok());
  EXPECT_EQ(server_->Metric("foldd_crash_refusals_total"), 2);
  EXPECT_GT(server_->Metric("foldd_reproducer_bytes"), 0);
  EXPECT_EQ(
      server_->Metric("foldd_job_exits_total{reason=\"COMPILER_CRASHED\"}"), 2);

  std::string bundle = Download(refused.metadata["reproducer"]);
  EXPECT_EQ(RunProgram({FAKE_COMPILER, "replay", bundle}), -SIGSEGV);
  v1::Reproducer about;
  std::string folder = NewFolder("unpacked");
  ASSERT_EQ(UnpackReproducer(bundle, folder, &about), "");
  EXPECT_EQ(about.compiler_id(), "fake-compiler-1");
  EXPECT_EQ(about.target_name(), "x86-64");
  EXPECT_EQ(about.exit().signal(), SIGSEGV);
  EXPECT_EQ(about.diagnostics(0).node(), "conv_3");
  EXPECT_GT(about.walls_size(), 0);
  EXPECT_EQ(about.left_out_size(), 0);
  std::string model;
  ASSERT_EQ(ReadWholeFile(folder + "/model.onnx", 1 << 20, &model), "");
  EXPECT_EQ(model, request.model());
}

TEST_F(CrashServiceTest, ItIsTriedAgainAfterAWhile) {
  Start({"--crash-limit", "1", "--crash-refusal-seconds", "1"});
  ASSERT_TRUE(server_->started());
  EXPECT_EQ(server_->Compile(Script("signal 6")).reason, "COMPILER_CRASHED");
  EXPECT_EQ(server_->Compile(Script("signal 6")).reason,
            "MODEL_CRASHES_COMPILER");
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_EQ(server_->Compile(Script("signal 6")).reason, "COMPILER_CRASHED");
}

TEST_F(CrashServiceTest, AForbiddenCallIsACrashAndIsNamed) {
  Start();
  ASSERT_TRUE(server_->started());
  CompileEnd end = server_->Compile(Script("attempt ptrace"));
  EXPECT_EQ(end.reason, "COMPILER_CRASHED");
  EXPECT_EQ(end.metadata["wall"], "seccomp");
  EXPECT_THAT(end.message, HasSubstr("system call"));
  (void)server_->Compile(Script("attempt ptrace"));
  EXPECT_EQ(server_->Compile(Script("attempt ptrace")).reason,
            "MODEL_CRASHES_COMPILER");
}

TEST_F(CrashServiceTest, LimitsAndCancellationsAreNoCrashes) {
  Start({"--job-cpu-seconds", "1"});
  ASSERT_TRUE(server_->started());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(server_->Compile(Script("spin")).reason, "COMPILER_OUT_OF_TIME");
    EXPECT_EQ(server_->Compile(Script("sleep 60000"), 100).code,
              grpc::StatusCode::DEADLINE_EXCEEDED);
  }
  EXPECT_EQ(server_->Metric("foldd_reproducer_bytes"), 0);
}

TEST_F(CrashServiceTest, TheWallsAreSeenFromOutside) {
  Start();
  ASSERT_TRUE(server_->started());
  int status = 0;
  std::string ready = server_->Get("/readyz", &status);
  EXPECT_EQ(status, 200);
  EXPECT_THAT(ready, HasSubstr("ready\nsandbox: "));
  EXPECT_THAT(ready, HasSubstr("seccomp"));
  for (const char* wall : {"limits", "no_new_privs", "seccomp"}) {
    EXPECT_EQ(server_->Metric("foldd_sandbox_wall{wall=\"" + std::string(wall) +
                              "\"}"),
              1)
        << wall;
  }
  EXPECT_GE(server_->Metric("foldd_sandbox_wall{wall=\"landlock_files\"}"), 0);
}

TEST_F(CrashServiceTest, BelowTheMinimumTheServerDoesNotStart) {
  data_ = NewFolder("crash_service");
  std::string compiler = data_ + "/compiler";
  std::ofstream(compiler) << "#!/bin/sh\nexec " FEWER_WALLS
                             " seccomp " FAKE_COMPILER " \"$@\"\n";
  chmod(compiler.c_str(), 0700);
  Start({}, compiler);
  EXPECT_FALSE(server_->started());
  EXPECT_EQ(server_->exit_code(), 5);
  Start({"--sandbox-minimum", "limits"}, compiler);
  ASSERT_TRUE(server_->started());
  EXPECT_EQ(server_->Metric("foldd_sandbox_wall{wall=\"seccomp\"}"), 0);
  EXPECT_TRUE(server_->Compile(Script("progress 1")).ok());
  Start({"--sandbox-minimum", "high"});
  EXPECT_EQ(server_->exit_code(), 2);
}

// A bundle of a real model, replayed by the real compiler: the same artifact
// as without the bundle.
TEST(Replay, ARealModelCompilesAgainFromItsBundle) {
  std::string job = NewFolder("real_job");
  ActionInputs inputs;
  ASSERT_EQ(FindBuiltinTarget("x86-64", &inputs.target), "");
  std::string model;
  const std::string path = "tests/models/sample/sample.onnx";
  ASSERT_EQ(ReadWholeFile(path, 1 << 26, &model), "");
  inputs.model = DigestOf(model);
  v1::InputShape* shape = inputs.options.add_shapes();
  shape->set_name("image");
  for (int64_t size : {3, 1, 12, 12}) shape->add_dimensions(size);
  CompileAction action = BuildAction(inputs);
  std::ofstream(job + "/" + std::string(kModelFile), std::ios::binary) << model;
  std::ofstream(job + "/" + std::string(kTargetFile), std::ios::binary)
      << action.target_bytes;
  v1::Reproducer about;
  *about.mutable_arguments() = action.command.arguments();
  std::string bundle = job + ".tar", kept = job + ".kept";
  ASSERT_EQ(WriteReproducer(job, ListInputs(job), 1 << 26, about, bundle), "");
  ASSERT_EQ(RunProgram({Foldc(), "replay", bundle, "--keep", kept}), 0);
  ASSERT_EQ(RunProgram({Foldc(), path, "--target", "x86-64", "--shape",
                        "image=3,1,12,12", "-o", job + "/direct"}),
            0);
  std::string direct, replayed;
  ASSERT_EQ(ReadWholeFile(job + "/direct", 1 << 26, &direct), "");
  ASSERT_EQ(ReadWholeFile(kept + "/" + std::string(kArtifactFile), 1 << 26,
                          &replayed),
            "");
  EXPECT_EQ(direct, replayed);
}

}  // namespace
}  // namespace fold
