#include "server/telemetry/otlp_http.h"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <regex>

#include "httplib.h"
#include "server/telemetry/otlp_json.h"
#include "server/worker_pool.h"

namespace fold {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr char kPath[] = "/v1/traces";
constexpr milliseconds kConnectLimit{2'000};
constexpr size_t kMaxAnswerBytes = 64 << 10;

bool IsRetryable(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

// Retry-After in seconds; its form as a date counts as nothing asked for.
milliseconds RetryAfter(const httplib::Response& response) {
  std::string text = response.get_header_value("Retry-After");
  int64_t seconds = 0;
  auto parsed =
      std::from_chars(text.data(), text.data() + text.size(), seconds);
  bool whole =
      parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return std::chrono::seconds(whole ? std::clamp<int64_t>(seconds, 0, 3600)
                                    : 0);
}

SendResult Judge(const httplib::Response& response, const std::string& body) {
  SendResult result;
  if (response.status >= 200 && response.status < 300) {
    std::string message;
    result.rejected = RejectedSpans(body, &message);
    if (result.rejected > 0 || !message.empty()) {
      result.why = "the collector refused " + std::to_string(result.rejected) +
                   " spans: " + message;
    }
    return result;
  }
  bool again = IsRetryable(response.status);
  result.kind =
      again ? SendResult::Kind::kTryAgain : SendResult::Kind::kRefused;
  result.after = RetryAfter(response);
  result.why = "the collector answers " + std::to_string(response.status);
  return result;
}

}  // namespace

// The client's own time-outs are for each read; one thread bounds the whole.
struct OtlpHttpSender::Parts {
  explicit Parts(const std::string& origin) : client(origin) {}
  void Watch();

  httplib::Client client;
  std::string path;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Clock::time_point> deadline;  // of the request under way
  bool aborted = false;
  bool stopping = false;
  std::unique_ptr<LoopThread> watch;
};

void OtlpHttpSender::Parts::Watch() {
  std::unique_lock lock(mutex);
  while (!stopping) {
    if (!deadline) {
      changed.wait(lock, [this] { return stopping || deadline; });
    } else if (!aborted && Clock::now() < *deadline) {
      // A copy: the request may end while this waits.
      changed.wait_until(lock, Clock::time_point(*deadline));
    } else {
      lock.unlock();
      client.stop();
      lock.lock();
      // Once more, if it was not yet connected when it was stopped.
      changed.wait_for(lock, milliseconds(20));
    }
  }
}

absl::StatusOr<std::unique_ptr<OtlpHttpSender>> OtlpHttpSender::Make(
    const std::string& endpoint) {
  static const std::regex kForm(
      "(https?://(?:\\[[0-9a-fA-F:]+\\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?)"
      "(/[!-~]*)?");
  std::smatch match;
  if (!std::regex_match(endpoint, match, kForm)) {
    return absl::InvalidArgumentError("otlp_endpoint: '" + endpoint +
                                      "' is not http(s)://HOST:PORT");
  }
  auto parts = std::make_unique<Parts>(match[1].str());
  if (!parts->client.is_valid()) {
    return absl::UnavailableError("otlp_endpoint: no client for '" + endpoint +
                                  "'");
  }
  parts->path = match[2].str();
  while (parts->path.ends_with('/')) parts->path.pop_back();
  parts->path += kPath;
  parts->client.set_keep_alive(true);
  parts->client.set_follow_location(false);
  parts->client.set_connection_timeout(kConnectLimit);
  parts->watch =
      std::make_unique<LoopThread>([raw = parts.get()] { raw->Watch(); });
  return std::unique_ptr<OtlpHttpSender>(new OtlpHttpSender(std::move(parts)));
}

OtlpHttpSender::OtlpHttpSender(std::unique_ptr<Parts> parts)
    : parts_(std::move(parts)) {}

OtlpHttpSender::~OtlpHttpSender() {
  {
    std::lock_guard lock(parts_->mutex);
    parts_->stopping = true;
    parts_->changed.notify_all();
  }
  parts_->watch.reset();
}

void OtlpHttpSender::Abort() {
  std::lock_guard lock(parts_->mutex);
  parts_->aborted = true;
  parts_->changed.notify_all();
}

SendResult OtlpHttpSender::Send(const std::string& request,
                                milliseconds limit) {
  SendResult failed;
  failed.kind = SendResult::Kind::kTryAgain;
  {
    std::lock_guard lock(parts_->mutex);
    if (parts_->aborted) {
      failed.why = "the server is shutting down";
      return failed;
    }
    parts_->deadline = Clock::now() + limit;
    parts_->changed.notify_all();
  }
  parts_->client.set_read_timeout(limit);
  parts_->client.set_write_timeout(limit);
  httplib::Request post;
  post.method = "POST";
  post.path = parts_->path;
  post.set_header("Content-Type", "application/json");
  post.body = request;
  std::string body;
  post.content_receiver = [&body](const char* data, size_t size, uint64_t,
                                  uint64_t) {
    if (body.size() + size > kMaxAnswerBytes) return false;
    body.append(data, size);
    return true;
  };
  httplib::Response response;
  httplib::Error error = httplib::Error::Success;
  bool answered = parts_->client.send(post, response, error);
  {
    std::lock_guard lock(parts_->mutex);
    parts_->deadline.reset();
    parts_->changed.notify_all();
  }
  if (answered) return Judge(response, body);
  failed.why = "no answer from the collector: " + httplib::to_string(error);
  return failed;
}

}  // namespace fold
