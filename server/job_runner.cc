#include "server/job_runner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "compiler/api/convert.h"
#include "compiler/api/error_table.h"
#include "compiler/api/fork_server.h"
#include "compiler/api/report_file.h"
#include "compiler/api/sandbox_proto.h"
#include "spdlog/spdlog.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
namespace v1 = foldd::v1;

constexpr size_t kMaxReportBytes = size_t{64} << 20;
constexpr size_t kMaxStderrBytes = 4096;
constexpr int64_t kFullBelowBytes = 1 << 20;
// What a job may say to its callers as it goes; its report may say more.
constexpr int64_t kMaxSaidBytes = 1 << 20;

// A new file. Jobs' inputs need no sync: they die with the server.
class NewFile {
 public:
  explicit NewFile(const std::string& path)
      : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)),
        error_(fd_ < 0 ? errno : 0) {}
  ~NewFile() { (void)Close(); }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void Write(std::string_view bytes) {
    while (error_ == 0 && !bytes.empty()) {
      ssize_t wrote = write(fd_, bytes.data(), bytes.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) {
        error_ = wrote < 0 ? errno : EIO;
      } else {
        bytes.remove_prefix(static_cast<size_t>(wrote));
      }
    }
  }
  // 0, or the number of the first error.
  int Close() {
    if (fd_ >= 0 && close(std::exchange(fd_, -1)) != 0 && error_ == 0) {
      error_ = errno;
    }
    return error_;
  }

 private:
  int fd_;
  int error_;
};

int WriteNewFile(const std::string& path, std::string_view bytes) {
  NewFile file(path);
  file.Write(bytes);
  return file.Close();
}

Failure StorageFailure(int error) {
  bool full = error == ENOSPC || error == EDQUOT;
  return {full ? "STORAGE_FULL" : "STORAGE_FAILED",
          std::string("the job's folder cannot be written: ") +
              std::strerror(error)};
}

// The end of what the job printed, on one line and printable.
std::string LastWords(const std::string& folder) {
  std::string text;
  (void)ReadWholeFile(folder + "/" + kJobStderrFile, size_t{1} << 20, &text);
  if (text.size() > kMaxStderrBytes) {
    text.erase(0, text.size() - kMaxStderrBytes);
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ' ';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f ||
        static_cast<unsigned char>(c) > 0x7e) {
      c = '?';
    }
  }
  return text;
}

// The reason of an exit code without a diagnostic that we know.
std::string ReasonOfExitCode(int exit_code) {
  switch (exit_code) {
    case kExitInput:
      return "MODEL_INVALID";
    case kExitRequirement:
      return "OVER_BUDGET";
    case kExitUsage:
      return "BAD_REQUEST";
    default:
      return "COMPILER_FAILED";
  }
}

}  // namespace

JobRunner::JobRunner(std::string folder, v1::JobLimits limits,
                     CompilerProcess* compiler, BlobCache* blobs,
                     ReproducerFolder* reproducers)
    : folder_(std::move(folder)),
      limits_(std::move(limits)),
      compiler_(compiler),
      blobs_(blobs),
      reproducers_(reproducers) {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  fs::create_directories(folder_, ignored);
}

std::optional<Failure> JobRunner::WriteInputs(const CompileJob& job,
                                              const std::string& folder) const {
  // The folder of all jobs may be missing where the disk was full at the start.
  bool made = mkdir(folder.c_str(), 0700) == 0;
  if (!made && errno == ENOENT) {
    made = (mkdir(folder_.c_str(), 0700) == 0 || errno == EEXIST) &&
           mkdir(folder.c_str(), 0700) == 0;
  }
  if (!made) return StorageFailure(errno);
  int error = WriteNewFile(folder + "/" + std::string(kTargetFile),
                           job.action.target_bytes);
  if (error != 0) return StorageFailure(error);
  for (const JobInput& input : job.inputs) {
    std::string path = folder + "/" + input.name;
    if (input.bytes == nullptr) {
      if (auto failure = CopyBlob(input.blob, path)) return failure;
      continue;
    }
    error = WriteNewFile(path, *input.bytes);
    if (error != 0) return StorageFailure(error);
  }
  return std::nullopt;
}

// A copy, and not a link: it is hashed on the way, and what a job does to its
// files stays in its folder.
std::optional<Failure> JobRunner::CopyBlob(const SizedKey& blob,
                                           const std::string& path) const {
  auto lost = [&](const absl::Status& status) {
    Failure failure = {"BLOBS_MISSING", "an input is not there any more: " +
                                            std::string(status.message())};
    failure.missing_blobs = {BlobText(blob.key.hash, blob.size)};
    return failure;
  };
  auto reader = blobs_->Open(blob.key);
  if (!reader.ok()) return lost(reader.status());
  NewFile file(path);
  for (;;) {
    auto piece = (*reader)->Read(kMaxPieceBytes);
    if (!piece.ok()) return lost(piece.status());
    if (piece->empty()) break;
    file.Write(*piece);
  }
  int error = file.Close();
  if (error != 0) return StorageFailure(error);
  return std::nullopt;
}

JobOutcome JobRunner::Run(
    const CompileJob& job, JobHandle* handle,
    const std::function<void(const v1::JobEvent&)>& on_event,
    const std::string& traceparent) {
  JobOutcome outcome;
  std::string folder = folder_ + "/" + std::to_string(next_++);
  outcome.failure = WriteInputs(job, folder);
  if (!outcome.failure) {
    const auto& words = job.action.command.arguments();
    JobRequest request{{words.begin(), words.end()}, folder, limits_};
    const auto& timeout = job.action.action.timeout();
    request.limits.set_wall_milliseconds(timeout.seconds() * 1000 +
                                         timeout.nanos() / 1'000'000);
    request.arguments.push_back("--progress-fd");
    request.arguments.push_back(std::to_string(kJobProgressFd));
    if (!traceparent.empty()) {
      request.arguments.push_back("--job-traceparent=" + traceparent);
    }
    std::vector<InputFile> inputs;
    if (reproducers_ != nullptr) inputs = ListInputs(folder);
    int64_t said_bytes = 0;
    outcome.exit = compiler_->Run(request, handle, [&](const auto& event) {
      if (event.has_diagnostic()) {
        said_bytes += static_cast<int64_t>(event.ByteSizeLong());
        if (said_bytes > kMaxSaidBytes) return;
        outcome.said.push_back(event.diagnostic());
      }
      on_event(event);
    });
    Judge(folder, request.limits, &outcome);
    KeepReproducer(job, folder, inputs, &outcome);
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return outcome;
}

void JobRunner::KeepReproducer(const CompileJob& job, const std::string& folder,
                               const std::vector<InputFile>& inputs,
                               JobOutcome* outcome) const {
  if (reproducers_ == nullptr || !outcome->failure ||
      outcome->failure->reason != "COMPILER_CRASHED") {
    return;
  }
  v1::Reproducer about;
  about.set_compiler_id(compiler_->compiler_id());
  *about.mutable_arguments() = job.action.command.arguments();
  v1::TargetDescriptor target;
  if (target.ParseFromString(job.action.target_bytes)) {
    about.set_target_name(target.name());
  }
  about.set_action_digest(job.action.digest.hash());
  *about.mutable_limits() = limits_;
  *about.mutable_walls() = ToProto(compiler_->sandbox());
  *about.mutable_exit() = outcome->exit;
  about.mutable_diagnostics()->Assign(outcome->said.begin(),
                                      outcome->said.end());
  about.set_last_words(LastWords(folder));
  auto kept = reproducers_->Keep(folder, inputs, about, job.instance);
  if (kept.ok()) {
    outcome->failure->metadata["reproducer"] = *kept;
    outcome->failure->message += "; reproducer " + *kept;
  } else {
    spdlog::warn("no reproducer of action {}: {}", about.action_digest(),
                 std::string(kept.status().message()));
  }
}

void JobRunner::Judge(const std::string& folder, const v1::JobLimits& limits,
                      JobOutcome* outcome) const {
  const v1::JobExit& exit = outcome->exit;
  if (exit.cause() == v1::EXITED && exit.exit_code() == kExitDone) {
    ReadResult(folder, outcome);
  } else {
    outcome->failure = ExplainExit(folder, outcome->said, limits, exit);
  }
}

void JobRunner::ReadResult(const std::string& folder,
                           JobOutcome* outcome) const {
  auto broken = [&](const std::string& why) {
    outcome->failure = Failure{"COMPILER_BROKEN_RESULT", why};
  };
  std::string bytes;
  std::string error = ReadWholeFile(folder + "/" + std::string(kReportFile),
                                    kMaxReportBytes, &bytes);
  if (!error.empty()) return broken("the compile left no report");
  if (!outcome->report.ParseFromString(bytes)) {
    return broken("the compile's report cannot be read");
  }
  auto artifact = std::make_shared<std::string>();
  error =
      ReadWholeFile(folder + "/" + std::string(kArtifactFile),
                    static_cast<size_t>(limits_.file_bytes()), artifact.get());
  if (!error.empty()) return broken("the compile left no artifact");
  // Complete means: what the compiler hashed is what came to the disk.
  Digest digest = DigestOf(*artifact);
  const v1::ArtifactSummary& summary = outcome->report.artifact();
  if (artifact->empty() || digest.hash() != summary.digest() ||
      digest.size_bytes() != summary.size_bytes()) {
    return broken("the artifact is not the one that the report describes");
  }
  (void)ReadWholeFile(folder + "/" + kJobStdoutFile, kMaxReportBytes,
                      &outcome->dump);
  outcome->artifact = std::move(artifact);
}

Failure JobRunner::ExplainExit(const std::string& folder,
                               const std::vector<v1::Diagnostic>& said,
                               const v1::JobLimits& limits,
                               const v1::JobExit& exit) const {
  switch (exit.cause()) {
    case v1::SIGNALED:
      if (exit.signal() == SIGSYS) {
        return {"COMPILER_CRASHED",
                "the compile made a system call that no compile makes, and "
                "its sandbox ended it",
                {{"signal", std::to_string(SIGSYS)}, {"wall", "seccomp"}}};
      }
      return {"COMPILER_CRASHED",
              "the compile's process was ended by signal " +
                  std::to_string(exit.signal()) + " (" +
                  strsignal(exit.signal()) + ")",
              {{"signal", std::to_string(exit.signal())}}};
    case v1::KILLED:
      return {"CALL_CANCELLED", "no caller waits for the compile any more"};
    case v1::WALL_LIMIT:
      return {"COMPILER_OUT_OF_TIME",
              "the compile took longer than it may",
              {{"limit", "wall"},
               {"milliseconds", std::to_string(limits.wall_milliseconds())}}};
    case v1::CPU_LIMIT:
      return {"COMPILER_OUT_OF_TIME",
              "the compile used more processor time than it may",
              {{"limit", "cpu"},
               {"seconds", std::to_string(limits.cpu_seconds())}}};
    case v1::MEMORY_LIMIT:
      return {"COMPILER_OUT_OF_MEMORY",
              "the compile needs more memory than it may have",
              {{"bytes", std::to_string(limits.memory_bytes())}}};
    case v1::FILE_LIMIT:
      return {"COMPILER_OUT_OF_FILE",
              "the compile writes a larger file than it may",
              {{"bytes", std::to_string(limits.file_bytes())}}};
    case v1::PARENT_LOST:
      return {"COMPILER_LOST",
              "the compiler's parent process died: " + exit.message()};
    case v1::START_FAILED:
      if (DiskIsFull() || IsDiskFull(exit.message())) break;
      return {"COMPILER_FAILED", "the compile could not be started: " +
                                     exit.message() + " " + LastWords(folder)};
    default:
      break;
  }
  for (const v1::Diagnostic& diagnostic : said) {
    if (diagnostic.severity() != v1::ERROR) continue;
    std::string reason = ReasonOfDiagnostic(diagnostic.code());
    if (FindError(reason) == nullptr) {
      reason = ReasonOfExitCode(exit.exit_code());
    }
    return {reason,
            FormatDiagnosticMessage(diagnostic),
            {{"code", diagnostic.code()}, {"node", diagnostic.node()}}};
  }
  std::string words = LastWords(folder);
  // The half-written file is gone by now, and there may be room again; its last
  // words were for the same disk.
  if (exit.exit_code() == kExitTryAgain || DiskIsFull() ||
      IsDiskFull(exit.message()) || IsDiskFull(words)) {
    return {"STORAGE_FULL", "the server's disk is full"};
  }
  return {ReasonOfExitCode(exit.exit_code()),
          "the compile ended with exit code " +
              std::to_string(exit.exit_code()) +
              (words.empty() ? "" : ": " + words),
          {{"exit_code", std::to_string(exit.exit_code())}}};
}

bool JobRunner::DiskIsFull() const {
  struct statvfs status;
  return statvfs(folder_.c_str(), &status) == 0 &&
         static_cast<int64_t>(status.f_bavail) *
                 static_cast<int64_t>(status.f_frsize) <
             kFullBelowBytes;
}

}  // namespace fold
