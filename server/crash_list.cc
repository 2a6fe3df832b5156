#include "server/crash_list.h"

#include <signal.h>

#include <algorithm>
#include <ctime>

namespace fold {
namespace {

namespace v1 = foldd::v1;

// As google.protobuf.Timestamp is written in JSON.
std::string Rfc3339(CrashList::Clock::time_point time) {
  std::time_t seconds = CrashList::Clock::to_time_t(time);
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[32] = {};
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// The last thing that the compile said, the best hint at where it was.
std::string LastDiagnostic(const JobOutcome& outcome) {
  if (outcome.said.empty()) return "";
  const v1::Diagnostic& last = outcome.said.back();
  return last.code() + (last.node().empty() ? "" : " '" + last.node() + "'") +
         ": " + last.message();
}

}  // namespace

bool IsCrash(const v1::JobExit& exit) {
  if (exit.cause() != v1::SIGNALED) return false;
  for (int outside : {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGSTOP}) {
    if (exit.signal() == outside) return false;
  }
  return true;
}

CrashList::CrashList(CrashLimits limits, Now now)
    : limits_(limits), now_(std::move(now)) {}

std::optional<Failure> CrashList::Refuse(const CrashKey& key) const {
  Clock::time_point now = now_();
  std::lock_guard lock(mutex_);
  auto found = entries_.find(key);
  if (limits_.limit == 0 || found == entries_.end()) return std::nullopt;
  const Entry& entry = found->second;
  Clock::time_point again = entry.last + limits_.refusal;
  if (entry.crashes < limits_.limit || now >= again) return std::nullopt;
  Failure failure = {"MODEL_CRASHES_COMPILER",
                     "the model has crashed the compiler " +
                         std::to_string(entry.crashes) +
                         " times, the last time so: " + entry.message +
                         "; it is tried again from " + Rfc3339(again) + " on",
                     entry.metadata};
  auto left = std::chrono::ceil<std::chrono::seconds>(again - now);
  failure.metadata["crashes"] = std::to_string(entry.crashes);
  failure.metadata["tried_again_at"] = Rfc3339(again);
  failure.metadata["tried_again_in_seconds"] = std::to_string(left.count());
  return failure;
}

void CrashList::Record(const CrashKey& key, const JobOutcome& outcome) {
  if (limits_.limit == 0) return;
  Clock::time_point now = now_();
  std::lock_guard lock(mutex_);
  Forget(now);
  if (!outcome.failure) entries_.erase(key);
  if (!outcome.failure || !IsCrash(outcome.exit)) return;
  Entry& entry = entries_[key];
  entry.crashes++;
  entry.last = now;
  entry.message = outcome.failure->message;
  entry.metadata = outcome.failure->metadata;
  std::string last = LastDiagnostic(outcome);
  if (!last.empty()) entry.metadata["last_diagnostic"] = last;
  if (entries_.size() <= limits_.entries) return;
  entries_.erase(std::min_element(entries_.begin(), entries_.end(),
                                  [](const auto& one, const auto& two) {
                                    return one.second.last < two.second.last;
                                  }));
}

void CrashList::Forget(Clock::time_point now) {
  std::erase_if(entries_, [&](const auto& item) {
    return now >= item.second.last + 2 * limits_.refusal;
  });
}

size_t CrashList::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace fold
