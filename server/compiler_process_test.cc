#include "server/compiler_process.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "gtest/gtest.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

class CompilerProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "compiler_process_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    auto started = CompilerProcess::Start(FAKE_COMPILER, [this] { ++starts_; });
    ASSERT_TRUE(started.ok()) << started.status();
    process_ = std::move(*started);
  }

  JobRequest Job(const std::string& script) {
    std::string model = folder_ + "/m" + std::to_string(next_++);
    std::ofstream(model) << script;
    JobRequest request;
    request.arguments = {"foldc", model,      "--target", "x86-64",        "-o",
                         "a",     "--report", "r.binpb",  "--progress-fd", "3"};
    request.folder = folder_;
    request.limits.set_memory_bytes(int64_t{4} << 30);
    request.limits.set_cpu_seconds(30);
    request.limits.set_wall_milliseconds(30'000);
    request.limits.set_file_bytes(1 << 24);
    request.limits.set_open_files(64);
    return request;
  }

  v1::JobExit Run(const std::string& script) {
    JobHandle handle;
    return process_->Run(Job(script), &handle,
                         [this](const v1::JobEvent&) { ++events_; });
  }

  std::string folder_;
  std::atomic<int> starts_{0};
  std::atomic<int> events_{0};
  std::atomic<int> next_{0};
  std::unique_ptr<CompilerProcess> process_;
};

TEST_F(CompilerProcessTest, RunsJobsAndHearsThem) {
  EXPECT_EQ(process_->compiler_id(), "fake-compiler-1");
  EXPECT_EQ(Run("exit 3").exit_code(), 3);
  v1::JobExit exit = Run("progress 500");
  EXPECT_EQ(exit.cause(), v1::EXITED);
  EXPECT_EQ(events_, 500);
  EXPECT_EQ(Run("signal 10").signal(), SIGUSR1);
  EXPECT_EQ(starts_, 1);
}

TEST_F(CompilerProcessTest, KillEndsAJobAlsoBeforeItStarts) {
  JobHandle handle;
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    handle.Kill();
    handle.Kill();
  });
  auto nothing = [](const v1::JobEvent&) {};
  EXPECT_EQ(process_->Run(Job("sleep 60000"), &handle, nothing).cause(),
            v1::KILLED);
  killer.join();
  JobHandle early;
  early.Kill();
  EXPECT_EQ(process_->Run(Job("sleep 60000"), &early, nothing).cause(),
            v1::KILLED);
  handle.Kill();  // long over
  EXPECT_EQ(Run("exit 0").cause(), v1::EXITED);
}

TEST_F(CompilerProcessTest, ADeadParentIsReplacedAndItsJobsAreTold) {
  int pid = process_->pid();
  ASSERT_GT(pid, 0);
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    kill(pid, SIGKILL);
  });
  EXPECT_EQ(Run("sleep 60000").cause(), v1::PARENT_LOST);
  killer.join();
  EXPECT_EQ(Run("exit 4").exit_code(), 4);
  EXPECT_EQ(starts_, 2);
  EXPECT_NE(process_->pid(), pid);
}

TEST_F(CompilerProcessTest, ManyThreadsRunJobs) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  threads.reserve(6);
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        right += Run("exit " + std::to_string(t)).exit_code() == t;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 30);
}

TEST(CompilerProcess, SaysWhenThereIsNone) {
  EXPECT_TRUE(absl::IsNotFound(
      CompilerProcess::Start("/no/such/compiler", [] {}).status()));
}

}  // namespace
}  // namespace fold
