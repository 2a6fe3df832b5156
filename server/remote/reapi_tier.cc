#include "server/remote/reapi_tier.h"

#include <algorithm>
#include <utility>

#include "spdlog/spdlog.h"

namespace fold {
namespace {

namespace reapi = build::bazel::remote::execution::v2;

// To send one result: with the pauses of the breaker, minutes.
constexpr int kAttempts = 10;
constexpr std::chrono::milliseconds kIdleWait{1000};

reapi::Digest DigestFor(const SizedKey& key) {
  reapi::Digest digest;
  digest.set_hash(key.key.hash);
  digest.set_size_bytes(key.size);
  return digest;
}

// What the server does not do, or not for us.
bool IsRefusal(const absl::Status& status) {
  return absl::IsPermissionDenied(status) || absl::IsUnimplemented(status) ||
         absl::IsUnauthenticated(status);
}

const char* ResultName(const absl::Status& status) {
  if (status.ok()) return "ok";
  if (IsRefusal(status)) return "refused";
  if (absl::IsNotFound(status)) return "miss";
  if (absl::IsDataLoss(status)) return "wrong";
  if (absl::IsDeadlineExceeded(status)) return "timeout";
  return "error";
}

// Whether every other call would end in the same way now. A call that we may
// not make says nothing of those that we may.
bool IsServersFault(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsUnauthenticated(status);
}

}  // namespace

ReapiTier::ReapiTier(ReapiTierOptions options,
                     std::unique_ptr<RemoteClient> client, DiskStore* disk,
                     RemoteObserver observer)
    : options_(std::move(options)),
      client_(std::move(client)),
      disk_(disk),
      observer_(std::move(observer)),
      breaker_(options_.breaker) {}

absl::StatusOr<std::unique_ptr<ReapiTier>> ReapiTier::Make(
    ReapiTierOptions options, DiskStore* disk, RemoteObserver observer) {
  auto client = RemoteClient::Make(options.client);
  if (!client.ok()) return client.status();
  std::unique_ptr<ReapiTier> tier(new ReapiTier(
      std::move(options), std::move(*client), disk, std::move(observer)));
  tier->thread_ =
      std::make_unique<LoopThread>([raw = tier.get()] { raw->Loop(); });
  return tier;
}

ReapiTier::~ReapiTier() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  client_->CancelAll();
  thread_.reset();
}

RemoteTier::Deadline ReapiTier::NewDeadline() const {
  return std::chrono::steady_clock::now() + options_.timeout;
}

RemoteTier::Deadline ReapiTier::SendDeadline() const {
  return std::chrono::steady_clock::now() + options_.send_timeout;
}

std::string ReapiTier::InstanceOf(const Key& key) const {
  return RemoteInstance(options_.client.address, key.instance);
}

absl::Status ReapiTier::Try(const char* operation,
                            const std::function<absl::Status()>& call) {
  if (!breaker_.Allow()) {
    observer_(operation, "skipped");
    return absl::UnavailableError("the remote cache is left alone");
  }
  absl::Status status = call();
  bool was_used = breaker_.closed();
  if (IsServersFault(status)) {
    breaker_.Failed();
  } else {
    breaker_.Succeeded();
  }
  observer_(operation, ResultName(status));
  if (was_used != breaker_.closed()) {
    spdlog::warn("remote cache {}: {}{}", options_.client.address.host_and_port,
                 was_used ? "left alone for a while: " : "used again",
                 was_used ? std::string(status.message()) : "");
  }
  if (absl::IsDataLoss(status)) {
    spdlog::error("remote cache {}: {} gave wrong bytes, refused",
                  options_.client.address.host_and_port, operation);
  }
  return status;
}

absl::Status ReapiTier::FetchBlob(const SizedKey& blob, Deadline deadline,
                                  BlobWriter* into) {
  return Try("read_blob", [&] {
    return client_->Read(InstanceOf(blob.key), DigestFor(blob), deadline, into);
  });
}

absl::StatusOr<std::string> ReapiTier::FetchAction(const SizedKey& action,
                                                   Deadline deadline) {
  std::string entry;
  absl::Status status = Try("get_action", [&]() -> absl::Status {
    auto result = client_->GetActionResult(InstanceOf(action.key),
                                           DigestFor(action), deadline);
    if (!result.ok()) return result.status();
    entry = result->SerializeAsString();
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return entry;
}

void ReapiTier::SendLater(const SizedKey& action, std::string entry,
                          std::vector<SizedKey> blobs) {
  if (!takes_updates_) return;
  Item item{action, std::move(entry), std::move(blobs), {}, 0, 0};
  item.bytes = static_cast<int64_t>(item.entry.size());
  for (const SizedKey& blob : item.blobs) {
    item.bytes += blob.size;
    std::optional<Lease> lease = disk_->Hold(blob.key);
    if (lease) item.leases.push_back(std::move(*lease));
  }
  {
    std::lock_guard lock(mutex_);
    if (!stopping_ && queued_bytes_ + item.bytes <= options_.queue_bytes) {
      queued_bytes_ += item.bytes;
      queue_.push_back(std::move(item));
      changed_.notify_all();
      return;
    }
  }
  observer_("send", "dropped");
}

int64_t ReapiTier::queued_bytes() const {
  std::lock_guard lock(mutex_);
  return queued_bytes_;
}

bool ReapiTier::Drain(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit,
                           [this] { return queue_.empty() && !sending_; });
}

// What it is good for, asked once; without an answer, all that the API has.
void ReapiTier::AskCapabilities() {
  absl::Status status = Try("capabilities", [&]() -> absl::Status {
    auto said = client_->GetCapabilities(options_.client.address.instance,
                                         NewDeadline());
    if (!said.ok()) return said.status();
    const auto& cache = said->cache_capabilities();
    takes_updates_ = cache.action_cache_update_capabilities().update_enabled();
    const auto& functions = cache.digest_functions();
    if (std::find(functions.begin(), functions.end(),
                  reapi::DigestFunction::SHA256) == functions.end()) {
      spdlog::error("remote cache {} does not name blobs by SHA-256",
                    options_.client.address.host_and_port);
    }
    return absl::OkStatus();
  });
  if (status.ok() && !takes_updates_) {
    spdlog::warn("remote cache {} takes no results: it is only read",
                 options_.client.address.host_and_port);
  }
}

// Whether there is something to send, and a server to send it to.
bool ReapiTier::WaitForWork(std::unique_lock<std::mutex>* lock) {
  auto wait = kIdleWait;
  if (!queue_.empty()) {
    wait = std::min(breaker_.Remaining(), kIdleWait);
    if (wait.count() == 0) return true;
  }
  changed_.wait_for(*lock, wait, [this] {
    return stopping_ || (!queue_.empty() && breaker_.Remaining().count() == 0);
  });
  return !stopping_ && !queue_.empty() && breaker_.Remaining().count() == 0;
}

void ReapiTier::Loop() {
  AskCapabilities();
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (!WaitForWork(&lock)) continue;
    Item item = std::move(queue_.front());
    queue_.pop_front();
    sending_ = true;
    lock.unlock();
    Sent sent = Send(item);
    if (sent == Sent::kLater && ++item.attempts >= kAttempts) {
      sent = Sent::kNever;
    }
    if (sent != Sent::kLater) {
      observer_("send", sent == Sent::kDone      ? "ok"
                        : sent == Sent::kRefused ? "refused"
                                                 : "dropped");
      item.leases.clear();
    }
    lock.lock();
    sending_ = false;
    if (sent == Sent::kLater) {
      queue_.push_front(std::move(item));
    } else {
      queued_bytes_ -= item.bytes;
    }
    changed_.notify_all();
  }
}

ReapiTier::Sent ReapiTier::Send(const Item& item) {
  std::string instance = InstanceOf(item.action.key);
  reapi::ActionResult result;
  if (!result.ParseFromString(item.entry)) return Sent::kNever;
  absl::Status status = SendBlobs(item, instance);
  if (status.ok()) {
    status = Try("update_action", [&] {
      return client_->UpdateActionResult(instance, DigestFor(item.action),
                                         result, SendDeadline());
    });
  }
  if (status.ok()) return Sent::kDone;
  if (IsServersFault(status)) return Sent::kLater;
  if (!IsRefusal(status)) return Sent::kNever;
  if (!std::exchange(refusal_told_, true)) {
    spdlog::warn("remote cache {} refuses our results: {}",
                 options_.client.address.host_and_port,
                 std::string(status.message()));
  }
  return Sent::kRefused;
}

absl::Status ReapiTier::SendBlobs(const Item& item,
                                  const std::string& instance) {
  std::vector<reapi::Digest> digests;
  for (const SizedKey& blob : item.blobs) digests.push_back(DigestFor(blob));
  std::vector<reapi::Digest> missing;
  absl::Status status = Try("find_missing", [&]() -> absl::Status {
    auto found = client_->FindMissing(instance, digests, SendDeadline());
    if (!found.ok()) return found.status();
    missing = std::move(*found);
    return absl::OkStatus();
  });
  for (const reapi::Digest& digest : missing) {
    if (!status.ok()) break;
    auto reader =
        disk_->Peek({Space::kBlob, digest.hash(), item.action.key.instance});
    if (!reader.ok()) return reader.status();
    status = Try("write_blob", [&] {
      return client_->Write(instance, digest, SendDeadline(), reader->get());
    });
  }
  return status;
}

}  // namespace fold
