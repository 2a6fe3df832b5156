#include "server/access/quota.h"

#include <algorithm>
#include <cmath>

namespace fold {
namespace {

using Seconds = std::chrono::duration<double>;

// Tokens carry any name: what is idle is forgotten when so many are known.
constexpr size_t kSweepAbove = 1024;
constexpr double kFirstGuessSeconds = 1;
constexpr double kShortestRetrySeconds = 0.05;
constexpr double kLongestRetrySeconds = 60;
// Weight of the newest in the average.
constexpr double kNewest = 0.2;

// Something of which a principal may hold so much.
struct Held {
  int64_t amount = 0;
  double average_seconds = kFirstGuessSeconds;  // that a grant lasts
};

struct Account {
  double tokens = 0;  // of the bucket, at `filled`
  Quota::Clock::time_point filled;
  Held bytes, compiles;
};

Failure Exceeded(const std::string& principal, const std::string& limit,
                 int64_t value, double seconds) {
  seconds = std::clamp(seconds, kShortestRetrySeconds, kLongestRetrySeconds);
  Failure failure = {"QUOTA_EXCEEDED",
                     "the quota of " + principal + " is used up: " + limit +
                         " " + std::to_string(value),
                     {{"principal", principal}, {"limit", limit}}};
  failure.quota_violations = {
      {principal, limit + ": " + std::to_string(value)}};
  failure.retry_milliseconds = static_cast<int64_t>(std::ceil(seconds * 1000));
  return failure;
}

}  // namespace

// Shared with the grants, so that they may come back late.
struct Quota::State {
  State(QuotaLimits limits, Metrics* metrics,
        std::function<Clock::time_point()> now)
      : limits(limits), metrics(metrics), now(std::move(now)) {}

  // Both with the mutex held.
  Account& Find(const std::string& principal) {
    auto found = accounts.find(principal);
    if (found != accounts.end()) return found->second;
    if (accounts.size() >= sweep_above) Sweep();
    Account& account = accounts[principal];
    account.filled = now();
    account.tokens = static_cast<double>(limits.requests_per_second);
    return account;
  }
  void Sweep() {
    auto full_again = now() - std::chrono::seconds(1);
    std::erase_if(accounts, [&](const auto& entry) {
      const Account& account = entry.second;
      return account.bytes.amount == 0 && account.compiles.amount == 0 &&
             account.filled <= full_again;
    });
    sweep_above = std::max(kSweepAbove, 2 * accounts.size());
  }

  std::optional<Failure> Take(const std::string& principal, const char* limit,
                              int64_t limit_value, int64_t amount,
                              Held Account::*which, std::shared_ptr<State> self,
                              std::shared_ptr<void>* give_back);
  void GiveBack(const std::string& principal, Held Account::*which,
                int64_t amount, Clock::time_point taken);

  const QuotaLimits limits;
  Metrics* const metrics;
  const std::function<Clock::time_point()> now;
  mutable std::mutex mutex;
  std::map<std::string, Account> accounts;
  size_t sweep_above = kSweepAbove;
};

std::optional<Failure> Quota::State::Take(const std::string& principal,
                                          const char* limit,
                                          int64_t limit_value, int64_t amount,
                                          Held Account::*which,
                                          std::shared_ptr<State> self,
                                          std::shared_ptr<void>* give_back) {
  Clock::time_point taken = now();
  {
    std::lock_guard lock(mutex);
    Held& held = Find(principal).*which;
    if (held.amount + amount > limit_value) {
      // Grants end all the time: half of one's life until the next does.
      double seconds = held.average_seconds / 2;
      metrics->Count(Metric::kQuotaRefusals, {limit});
      return Exceeded(principal, limit, limit_value, seconds);
    }
    held.amount += amount;
  }
  // A new grant stands in the old one's place only after it was taken.
  *give_back = std::shared_ptr<void>(
      nullptr, [self = std::move(self), principal, which, amount, taken](
                   void*) { self->GiveBack(principal, which, amount, taken); });
  return std::nullopt;
}

void Quota::State::GiveBack(const std::string& principal, Held Account::*which,
                            int64_t amount, Clock::time_point taken) {
  double seconds = Seconds(now() - taken).count();
  std::lock_guard lock(mutex);
  Held& held = Find(principal).*which;
  held.amount -= amount;
  held.average_seconds += kNewest * (seconds - held.average_seconds);
}

Quota::Quota(QuotaLimits limits, Metrics* metrics,
             std::function<Clock::time_point()> now)
    : state_(std::make_shared<State>(limits, metrics, std::move(now))) {}

Quota::~Quota() = default;

std::optional<Failure> Quota::TakeRequest(const std::string& principal) {
  int64_t rate = state_->limits.requests_per_second;
  if (rate == kUnlimited) return std::nullopt;
  auto per_second = static_cast<double>(rate);
  std::lock_guard lock(state_->mutex);
  Account& account = state_->Find(principal);
  Clock::time_point now = state_->now();
  account.tokens = std::min(
      per_second,
      account.tokens + Seconds(now - account.filled).count() * per_second);
  account.filled = now;
  if (account.tokens >= 1) {
    account.tokens -= 1;
    return std::nullopt;
  }
  state_->metrics->Count(Metric::kQuotaRefusals, {"requests_per_second"});
  return Exceeded(principal, "requests_per_second", rate,
                  (1 - account.tokens) / per_second);
}

std::optional<Failure> Quota::TakeBytes(const std::string& principal,
                                        int64_t bytes, Grant* grant) {
  int64_t limit = state_->limits.inflight_bytes;
  if (limit == kUnlimited) return std::nullopt;
  if (bytes > limit) {
    Failure failure = {"QUOTA_TOO_SMALL",
                       "the request has " + std::to_string(bytes) +
                           " bytes, more than the quota of " + principal +
                           " allows at all"};
    failure.quota_violations = {
        {principal, "inflight_bytes: " + std::to_string(limit)}};
    state_->metrics->Count(Metric::kQuotaRefusals, {"inflight_bytes"});
    return failure;
  }
  return state_->Take(principal, "inflight_bytes", limit, bytes,
                      &Account::bytes, state_, &grant->give_back_);
}

std::optional<Failure> Quota::TakeCompile(const std::string& principal,
                                          Grant* grant) {
  int64_t limit = state_->limits.compiles;
  if (limit == kUnlimited) return std::nullopt;
  return state_->Take(principal, "compiles", limit, 1, &Account::compiles,
                      state_, &grant->give_back_);
}

size_t Quota::principals() const {
  std::lock_guard lock(state_->mutex);
  return state_->accounts.size();
}

}  // namespace fold
