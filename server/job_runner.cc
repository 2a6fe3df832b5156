#include "server/job_runner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "compiler/api/convert.h"
#include "compiler/api/error_table.h"
#include "compiler/api/fork_server.h"
#include "compiler/api/report_file.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
namespace v1 = foldd::v1;

constexpr size_t kMaxReportBytes = size_t{64} << 20;
constexpr size_t kMaxStderrBytes = 4096;
constexpr int64_t kFullBelowBytes = 1 << 20;
// What a job may say to its callers as it goes; its report may say more.
constexpr int64_t kMaxSaidBytes = 1 << 20;

// Writes a new file; 0 or the error's number. Jobs' inputs need no sync: they
// die with the server.
int WriteNewFile(const std::string& path, std::string_view bytes) {
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  int error = 0;
  while (error == 0 && !bytes.empty()) {
    ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      error = wrote < 0 ? errno : EIO;
    } else {
      bytes.remove_prefix(static_cast<size_t>(wrote));
    }
  }
  if (close(fd) != 0 && error == 0) error = errno;
  return error;
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
                     CompilerProcess* compiler)
    : folder_(std::move(folder)),
      limits_(std::move(limits)),
      compiler_(compiler) {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  fs::create_directories(folder_, ignored);
}

std::optional<Failure> JobRunner::WriteInputs(const CompileJob& job,
                                              const std::string& folder) const {
  if (mkdir(folder.c_str(), 0700) != 0) return StorageFailure(errno);
  auto write = [&](std::string_view name, std::string_view bytes) {
    return WriteNewFile(folder + "/" + std::string(name), bytes);
  };
  int error = write(kTargetFile, job.action.target_bytes);
  if (error == 0) error = write(kModelFile, *job.model);
  if (error == 0 && job.encodings != nullptr) {
    error = write(kEncodingsFile, *job.encodings);
  }
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
    request.arguments.push_back("--progress-fd");
    request.arguments.push_back(std::to_string(kJobProgressFd));
    if (!traceparent.empty()) {
      request.arguments.push_back("--job-traceparent=" + traceparent);
    }
    std::vector<v1::Diagnostic> said;
    int64_t said_bytes = 0;
    outcome.exit = compiler_->Run(request, handle, [&](const auto& event) {
      if (event.has_diagnostic()) {
        said_bytes += static_cast<int64_t>(event.ByteSizeLong());
        if (said_bytes > kMaxSaidBytes) return;
        said.push_back(event.diagnostic());
      }
      on_event(event);
    });
    Judge(folder, said, &outcome);
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return outcome;
}

void JobRunner::Judge(const std::string& folder,
                      const std::vector<v1::Diagnostic>& said,
                      JobOutcome* outcome) const {
  const v1::JobExit& exit = outcome->exit;
  if (exit.cause() == v1::EXITED && exit.exit_code() == kExitDone) {
    ReadResult(folder, outcome);
  } else {
    outcome->failure = ExplainExit(folder, said, exit);
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
                               const v1::JobExit& exit) const {
  switch (exit.cause()) {
    case v1::SIGNALED:
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
               {"milliseconds", std::to_string(limits_.wall_milliseconds())}}};
    case v1::CPU_LIMIT:
      return {"COMPILER_OUT_OF_TIME",
              "the compile used more processor time than it may",
              {{"limit", "cpu"},
               {"seconds", std::to_string(limits_.cpu_seconds())}}};
    case v1::MEMORY_LIMIT:
      return {"COMPILER_OUT_OF_MEMORY",
              "the compile needs more memory than it may have",
              {{"bytes", std::to_string(limits_.memory_bytes())}}};
    case v1::FILE_LIMIT:
      return {"COMPILER_OUT_OF_FILE",
              "the compile writes a larger file than it may",
              {{"bytes", std::to_string(limits_.file_bytes())}}};
    case v1::PARENT_LOST:
      return {"COMPILER_LOST",
              "the compiler's parent process died: " + exit.message()};
    case v1::START_FAILED:
      if (DiskIsFull()) break;
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
  // The half-written file is gone by now, and its room is free again.
  if (DiskIsFull() || words.find(std::strerror(ENOSPC)) != std::string::npos) {
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
