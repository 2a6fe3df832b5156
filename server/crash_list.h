// Models that crash the compiler, refused for a while: a crash costs a process
// and helps nobody, and what crashes a compiler on purpose tries again.
//
// A model is refused once it has crashed `limit` times, for `refusal` from its
// last crash. Then it is tried again: a success clears it, another crash
// refuses it at once. A model that has not crashed for twice `refusal` is
// forgotten. The list is in memory: a restart, which may bring another
// compiler, begins anew.
#ifndef FOLD_SERVER_CRASH_LIST_H_
#define FOLD_SERVER_CRASH_LIST_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "proto/foldd/v1/job.pb.h"
#include "server/failure.h"
#include "server/job_runner.h"

namespace fold {

// Whose crash it is. Namespaces hear nothing of each other's models.
struct CrashKey {
  std::string instance;
  std::string model;  // digest
  std::string compiler_id;
  friend auto operator<=>(const CrashKey&, const CrashKey&) = default;
};

struct CrashLimits {
  int64_t limit = 2;  // crashes; 0: nothing is ever refused
  std::chrono::seconds refusal{600};
  size_t entries = 4096;  // the one whose crash is oldest goes first
};

// Whether the compile itself crashed: a signal that the process brought on
// itself, a forbidden system call included. Not: limits, cancellation, and
// signals that only others send (SIGKILL by the kernel's out-of-memory killer
// or an operator).
bool IsCrash(const foldd::v1::JobExit& exit);

class CrashList {
 public:
  using Clock = std::chrono::system_clock;
  using Now = std::function<Clock::time_point()>;

  explicit CrashList(CrashLimits limits, Now now = Clock::now);

  // Why the model is not compiled now, if so: MODEL_CRASHES_COMPILER with the
  // last crash in its metadata.
  std::optional<Failure> Refuse(const CrashKey& key) const;
  // Takes note of how a compile of the model ended.
  void Record(const CrashKey& key, const JobOutcome& outcome);

  size_t size() const;

 private:
  struct Entry {
    int64_t crashes = 0;
    Clock::time_point last;
    std::map<std::string, std::string> metadata;  // of the last crash
    std::string message;
  };
  // Called with the mutex held.
  void Forget(Clock::time_point now);

  const CrashLimits limits_;
  const Now now_;
  mutable std::mutex mutex_;
  std::map<CrashKey, Entry> entries_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CRASH_LIST_H_
