#include "server/telemetry/otlp_http.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"
#include "httplib.h"

namespace fold {
namespace {

using std::chrono::milliseconds;
using Kind = SendResult::Kind;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kLimit{5'000};

// A collector on a free port.
class Collector {
 public:
  Collector() {
    server_.Post("/v1/traces", [this](const httplib::Request& request,
                                      httplib::Response& response) {
      Handle(request, response);
    });
    server_.Post("/some/path/v1/traces", [this](const auto&, auto& response) {
      ++calls;
      response.status = 200;
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~Collector() {
    stop = true;
    server_.stop();
    thread_.join();
  }
  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(port_);
  }

  std::atomic<int> status{200};
  std::atomic<bool> drip{false};  // a byte at a time, and never an end
  std::atomic<bool> stop{false};
  std::atomic<int> calls{0};
  std::string answer = "{}";
  std::string retry_after;
  std::string body, type;  // of the last call

 private:
  void Handle(const httplib::Request& request, httplib::Response& response) {
    body = request.body;
    type = request.get_header_value("Content-Type");
    ++calls;
    response.status = status;
    if (!retry_after.empty()) response.set_header("Retry-After", retry_after);
    if (!drip) return response.set_content(answer, "application/json");
    response.set_chunked_content_provider(
        "application/json", [this](size_t, httplib::DataSink& sink) {
          std::this_thread::sleep_for(milliseconds(20));
          return !stop && sink.write(" ", 1);
        });
  }

  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

std::unique_ptr<OtlpHttpSender> Make(const std::string& url) {
  auto sender = OtlpHttpSender::Make(url);
  EXPECT_TRUE(sender.ok()) << sender.status();
  return sender.ok() ? std::move(*sender) : nullptr;
}

TEST(OtlpHttp, PostsJsonToThePathOfTraces) {
  Collector collector;
  auto sender = Make(collector.url());
  EXPECT_EQ(sender->Send("{\"a\":1}", kLimit).kind, Kind::kSent);
  EXPECT_EQ(collector.body, "{\"a\":1}");
  EXPECT_EQ(collector.type, "application/json");
  EXPECT_EQ(sender->Send("{\"a\":2}", kLimit).kind, Kind::kSent);
  EXPECT_EQ(collector.calls, 2);
  auto below = Make(collector.url() + "/some/path/");
  EXPECT_EQ(below->Send("{}", kLimit).kind, Kind::kSent);
  EXPECT_EQ(collector.calls, 3);
}

TEST(OtlpHttp, WhatIsWorthAnotherTry) {
  Collector collector;
  auto sender = Make(collector.url());
  for (int status : {429, 502, 503, 504}) {
    collector.status = status;
    SendResult result = sender->Send("{}", kLimit);
    EXPECT_EQ(result.kind, Kind::kTryAgain) << status;
    EXPECT_EQ(result.after.count(), 0);
  }
  for (int status : {301, 400, 401, 404, 413, 500, 501}) {
    collector.status = status;
    EXPECT_EQ(sender->Send("{}", kLimit).kind, Kind::kRefused) << status;
  }
  collector.status = 202;
  EXPECT_EQ(sender->Send("{}", kLimit).kind, Kind::kSent);
}

TEST(OtlpHttp, WaitsAsLongAsItIsAskedTo) {
  Collector collector;
  collector.status = 503;
  auto sender = Make(collector.url());
  for (auto [text, seconds] : {std::pair{"7", 7},
                               {"-1", 0},
                               {"999999", 3600},
                               {"Fri, 31 Dec 1999 23:59:59 GMT", 0}}) {
    collector.retry_after = text;
    EXPECT_EQ(sender->Send("{}", kLimit).after, std::chrono::seconds(seconds))
        << text;
  }
}

TEST(OtlpHttp, ReadsPartialSuccess) {
  Collector collector;
  collector.answer =
      R"({"partialSuccess":{"rejectedSpans":"2","errorMessage":"old"}})";
  SendResult result = Make(collector.url())->Send("{}", kLimit);
  EXPECT_EQ(result.kind, Kind::kSent);
  EXPECT_EQ(result.rejected, 2);
  EXPECT_NE(result.why.find("old"), std::string::npos);
}

TEST(OtlpHttp, NobodyThereIsWorthAnotherTry) {
  std::string url;
  {
    Collector collector;
    url = collector.url();
  }
  auto sender = Make(url);
  SendResult result = sender->Send("{}", kLimit);
  EXPECT_EQ(result.kind, Kind::kTryAgain);
  EXPECT_FALSE(result.why.empty());
}

// The library's own limits are for each read: this one never runs into them.
TEST(OtlpHttp, ASlowAnswerRunsIntoTheDeadline) {
  Collector collector;
  collector.drip = true;
  auto sender = Make(collector.url());
  auto start = Clock::now();
  EXPECT_EQ(sender->Send("{}", milliseconds(200)).kind, Kind::kTryAgain);
  EXPECT_GE(Clock::now() - start, milliseconds(190));
  EXPECT_LT(Clock::now() - start, milliseconds(3'000));
  collector.drip = false;
  EXPECT_EQ(sender->Send("{}", kLimit).kind, Kind::kSent);  // and works again
}

TEST(OtlpHttp, ALongAnswerIsNotRead) {
  Collector collector;
  collector.answer = std::string(1 << 20, ' ');
  EXPECT_EQ(Make(collector.url())->Send("{}", kLimit).kind, Kind::kTryAgain);
}

TEST(OtlpHttp, AbortEndsARequest) {
  Collector collector;
  collector.drip = true;
  auto sender = Make(collector.url());
  auto start = Clock::now();
  std::thread other([&] {
    while (collector.calls == 0) std::this_thread::sleep_for(milliseconds(1));
    sender->Abort();
  });
  EXPECT_EQ(sender->Send("{}", milliseconds(60'000)).kind, Kind::kTryAgain);
  other.join();
  EXPECT_LT(Clock::now() - start, milliseconds(20'000));
  int calls = collector.calls;
  EXPECT_EQ(sender->Send("{}", kLimit).kind, Kind::kTryAgain);
  EXPECT_EQ(collector.calls, calls);
}

TEST(OtlpHttp, SaysWhatIsWrongWithAnEndpoint) {
  for (const char* url : {"", "localhost:4318", "ftp://h:1", "grpc://h:4317",
                          "http://", "http://h:port"}) {
    EXPECT_FALSE(OtlpHttpSender::Make(url).ok()) << url;
  }
  EXPECT_TRUE(OtlpHttpSender::Make("https://collector.example:4318").ok());
}

}  // namespace
}  // namespace fold
