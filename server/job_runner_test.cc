#include "server/job_runner.h"

#include <filesystem>
#include <fstream>

#include "compiler/api/error_table.h"
#include "compiler/api/reproducer.h"
#include "compiler/api/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;
namespace v1 = foldd::v1;

class JobRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "job_runner_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    auto started = CompilerProcess::Start(FAKE_COMPILER, [] {});
    ASSERT_TRUE(started.ok()) << started.status();
    process_ = std::move(*started);
    limits_.set_memory_bytes(int64_t{200} << 20);
    limits_.set_cpu_seconds(1);
    limits_.set_wall_milliseconds(4000);
    limits_.set_file_bytes(1 << 20);
    limits_.set_open_files(64);
    fs::create_directories(folder_ + "/jobs/17");
    std::ofstream(folder_ + "/jobs/17/old") << "left by another server";
    runner_ =
        std::make_unique<JobRunner>(folder_ + "/jobs", limits_, process_.get());
  }

  JobOutcome Run(const std::string& script) {
    ActionInputs inputs;
    inputs.model = DigestOf(script);
    inputs.timeout_milliseconds = limits_.wall_milliseconds();
    inputs.target.set_name("t");
    inputs.target.set_default_io(v1::IO_FLOAT);
    CompileJob job;
    job.action = BuildAction(inputs);
    job.inputs = {
        {std::string(kModelFile), std::make_shared<const std::string>(script)}};
    JobHandle handle;
    return runner_->Run(
        job, &handle,
        [this](const v1::JobEvent& event) {
          heard_bytes_ += static_cast<int64_t>(event.ByteSizeLong());
          heard_trace_ = event.traceparent();
        },
        traceparent_);
  }

  // Reason and message of a failed job; "DONE" if it did not fail.
  std::string Reason(const std::string& script) {
    JobOutcome outcome = Run(script);
    if (!outcome.failure) return "DONE";
    EXPECT_NE(FindError(outcome.failure->reason), nullptr);
    EXPECT_FALSE(outcome.failure->message.empty());
    return outcome.failure->reason;
  }

  std::string folder_;
  v1::JobLimits limits_;
  int64_t heard_bytes_ = 0;
  std::string traceparent_, heard_trace_;
  std::unique_ptr<CompilerProcess> process_;
  std::unique_ptr<JobRunner> runner_;
};

TEST_F(JobRunnerTest, GivesArtifactReportAndPrint) {
  JobOutcome outcome = Run("print the graph\nsize 1000");
  ASSERT_FALSE(outcome.failure.has_value()) << outcome.failure->message;
  EXPECT_EQ(outcome.artifact->size(), 1000u);
  EXPECT_EQ(outcome.report.artifact().size_bytes(), 1000);
  EXPECT_EQ(outcome.dump, " the graph\n");
  EXPECT_EQ(outcome.report.run().passes_size(), 1);
}

TEST_F(JobRunnerTest, TheJobsEventsCarryItsTrace) {
  traceparent_ = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  EXPECT_FALSE(Run("progress 1").failure.has_value());
  EXPECT_EQ(heard_trace_, traceparent_);
  traceparent_ = "";
  EXPECT_FALSE(Run("progress 1").failure.has_value());
  EXPECT_EQ(heard_trace_, "");
}

TEST_F(JobRunnerTest, LeavesNothingBehind) {
  EXPECT_TRUE(fs::is_empty(folder_ + "/jobs"));  // swept at the start
  Run("");
  Run("signal 9");
  EXPECT_TRUE(fs::is_empty(folder_ + "/jobs"));
}

TEST_F(JobRunnerTest, ACrashLeavesItsBundle) {
  auto bundles = ReproducerFolder::Open(folder_ + "/bundles", {});
  ASSERT_TRUE(bundles.ok()) << bundles.status();
  runner_ = std::make_unique<JobRunner>(
      folder_ + "/jobs", limits_, process_.get(), nullptr, bundles->get());
  JobOutcome outcome = Run("diagnostic float_island n\nsignal 11");
  ASSERT_TRUE(outcome.failure.has_value());
  const std::string digest = outcome.failure->metadata["reproducer"];
  v1::Reproducer about;
  std::string unpacked = folder_ + "/unpacked";
  fs::create_directory(unpacked);
  ASSERT_EQ(UnpackReproducer(folder_ + "/bundles/" + digest + ".tar", unpacked,
                             &about),
            "");
  EXPECT_TRUE(fs::exists(unpacked + "/model.onnx"));
  EXPECT_TRUE(fs::exists(unpacked + "/target.binpb"));
  EXPECT_FALSE(fs::exists(unpacked + "/stdout"));
  EXPECT_EQ(about.diagnostics(0).node(), "n");
  EXPECT_EQ(about.limits().open_files(), 64);
  // What fails in words, or hits a limit, leaves none.
  Run("diagnostic bad_scale q\nexit 3");
  Run("spin");
  EXPECT_EQ((*bundles)->count(), 1);
}

TEST_F(JobRunnerTest, AnIncompleteResultIsNone) {
  EXPECT_EQ(Reason("no-report"), "COMPILER_BROKEN_RESULT");
  EXPECT_EQ(Reason("no-artifact"), "COMPILER_BROKEN_RESULT");
  EXPECT_EQ(Reason("wrong-artifact"), "COMPILER_BROKEN_RESULT");
  EXPECT_EQ(Reason(""), "DONE");
}

TEST_F(JobRunnerTest, EachEndHasItsReason) {
  EXPECT_EQ(Reason("signal 9"), "COMPILER_CRASHED");
  EXPECT_EQ(Run("signal 10").failure->metadata.at("signal"), "10");
  EXPECT_EQ(Reason("sleep 20000"), "COMPILER_OUT_OF_TIME");
  EXPECT_EQ(Reason("spin"), "COMPILER_OUT_OF_TIME");
  EXPECT_EQ(Reason("size 2000000"), "COMPILER_OUT_OF_FILE");
  EXPECT_EQ(Reason("exit 5"), "COMPILER_FAILED");
  EXPECT_EQ(Reason("exit 99"), "COMPILER_FAILED");
  // A disk that was full, and is not any more.
  EXPECT_EQ(Reason("exit 6"), "STORAGE_FULL");
}

TEST_F(JobRunnerTest, AnInputThatIsLostIsNamedWithItsSize) {
  auto disk = DiskStore::Open({folder_ + "/disk", 1 << 20, 0});
  ASSERT_TRUE(disk.ok());
  RecallList recalls(folder_ + "/recalls");
  BlobCache blobs(disk->get(), &recalls, nullptr, 60);
  JobRunner runner(folder_ + "/jobs", limits_, process_.get(), &blobs);
  const std::string hash = Sha256Hex("gone");
  CompileJob job;
  job.inputs = {{std::string(kModelFile), nullptr, {{Space::kBlob, hash}, 4}}};
  JobHandle handle;
  JobOutcome outcome = runner.Run(
      job, &handle, [](const v1::JobEvent&) {}, "");
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->reason, "BLOBS_MISSING");
  EXPECT_EQ(outcome.failure->missing_blobs,
            std::vector<std::string>{"blobs/" + hash + "/4"});
}

TEST_F(JobRunnerTest, WithoutItsFolderNothingRuns) {
  std::filesystem::remove_all(folder_);
  std::ofstream(folder_) << "no folder";
  JobOutcome outcome = Run("");
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->reason, "STORAGE_FAILED");
  std::filesystem::remove(folder_);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(JobRunnerTest, MemoryIsLimited) {
  EXPECT_EQ(Reason("allocate"), "COMPILER_OUT_OF_MEMORY");
}
#endif

TEST_F(JobRunnerTest, AFloodOfDiagnosticsIsBounded) {
  std::string script;
  for (int i = 0; i < 20'000; ++i) {
    script += "diagnostic nan_reachable " + std::string(100, 'n') + "\n";
  }
  heard_bytes_ = 0;
  // Without a report, which would be larger than a job's file may be.
  EXPECT_EQ(Reason(script + "no-report"), "COMPILER_BROKEN_RESULT");
  EXPECT_GT(heard_bytes_, 500'000);
  EXPECT_LE(heard_bytes_, 1 << 20);
}

TEST_F(JobRunnerTest, TheFirstErrorIsTheReason) {
  JobOutcome outcome =
      Run("diagnostic float_island a\ndiagnostic bad_scale q1\n"
          "diagnostic bad_axis q2\nexit 3");
  ASSERT_TRUE(outcome.failure.has_value());
  EXPECT_EQ(outcome.failure->reason, "BAD_SCALE");
  EXPECT_THAT(outcome.failure->message, HasSubstr("node 'q1'"));
  EXPECT_EQ(outcome.failure->metadata.at("node"), "q1");
  EXPECT_EQ(Reason("diagnostic not_exact c\nexit 4"), "NOT_EXACT");
  // A code that this build does not know falls back to the exit code.
  EXPECT_EQ(Reason("exit 3"), "MODEL_INVALID");
}

TEST_F(JobRunnerTest, AMissingFolderOfJobsIsMadeAgain) {
  fs::remove_all(folder_ + "/jobs");
  EXPECT_EQ(Reason(""), "DONE");
}

}  // namespace
}  // namespace fold
