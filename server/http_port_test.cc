#include "server/http_port.h"

#include "compiler/api/sha256.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "server/cache/memory_store.h"

namespace fold {
namespace {

class HttpPortTest : public testing::Test {
 protected:
  void SetUp() override {
    HttpHandlers handlers;
    handlers.metrics = [] { return std::string("a_metric 1\n"); };
    handlers.ready = [this] { return ready_; };
    handlers.blobs = &store_;
    handlers.gatekeeper = gatekeeper_.get();
    auto port = HttpPort::Start("127.0.0.1:0", handlers);
    ASSERT_TRUE(port.ok()) << port.status();
    port_ = std::move(*port);
    client_ = std::make_unique<httplib::Client>("127.0.0.1", port_->port());
    ASSERT_TRUE(store_
                    .Put({Space::kBlob, hash_},
                         std::make_shared<const std::string>(text_))
                    .ok());
  }
  httplib::Result Get(const std::string& path,
                      const httplib::Headers& headers = {}) {
    return client_->Get(path, headers);
  }
  Metrics metrics_;
  // Without tokens and certificates everybody may do everything.
  std::unique_ptr<Gatekeeper> gatekeeper_ =
      std::move(*Gatekeeper::Open({}, &metrics_));
  absl::Status ready_;
  MemoryStore store_{1 << 20};
  std::string text_ = "0123456789";
  std::string hash_ = Sha256Hex(text_);
  std::string path_ = "/v1/blobs/" + hash_;
  std::unique_ptr<HttpPort> port_;
  std::unique_ptr<httplib::Client> client_;
};

TEST_F(HttpPortTest, ProbesAndMetrics) {
  EXPECT_EQ(Get("/livez")->status, 200);
  EXPECT_EQ(Get("/readyz")->status, 200);
  ready_ = absl::ResourceExhaustedError("the disk is full");
  EXPECT_EQ(Get("/livez")->status, 200);
  EXPECT_EQ(Get("/readyz")->status, 503);
  EXPECT_EQ(Get("/readyz")->body, "the disk is full\n");
  EXPECT_EQ(Get("/metrics")->body, "a_metric 1\n");
  EXPECT_EQ(Get("/other")->status, 404);
}

TEST_F(HttpPortTest, BlobsByDigest) {
  auto whole = Get(path_);
  EXPECT_EQ(whole->status, 200);
  EXPECT_EQ(whole->body, text_);
  EXPECT_EQ(whole->get_header_value("ETag"), "\"" + hash_ + "\"");
  EXPECT_EQ(Get("/v1/blobs/" + Sha256Hex("none"))->status, 404);
  EXPECT_EQ(Get("/v1/blobs/abc")->status, 404);
  EXPECT_EQ(client_->Head(path_)->status, 200);
}

TEST_F(HttpPortTest, ADownloadCanBeResumed) {
  auto part = Get(path_, {{"Range", "bytes=4-"}});
  EXPECT_EQ(part->status, 206);
  EXPECT_EQ(part->body, "456789");
  EXPECT_EQ(part->get_header_value("Content-Range"), "bytes 4-9/10");
  part =
      Get(path_, {{"Range", "bytes=2-3"}, {"If-Range", "\"" + hash_ + "\""}});
  EXPECT_EQ(part->status, 206);
  EXPECT_EQ(part->body, "23");
  part = Get(path_, {{"Range", "bytes=-3"}});
  EXPECT_EQ(part->body, "789");
  // Other bytes were meant: all of these.
  part = Get(path_, {{"Range", "bytes=2-3"}, {"If-Range", "\"other\""}});
  EXPECT_EQ(part->status, 200);
  EXPECT_EQ(part->body, text_);
  part = Get(path_, {{"Range", "bytes=10-"}});
  EXPECT_EQ(part->status, 416);
  EXPECT_EQ(part->get_header_value("Content-Range"), "bytes */10");
}

TEST_F(HttpPortTest, WhatTheCallerHasIsNotSentAgain) {
  auto same = Get(path_, {{"If-None-Match", "\"" + hash_ + "\""}});
  EXPECT_EQ(same->status, 304);
  EXPECT_EQ(same->body, "");
  EXPECT_EQ(Get(path_, {{"If-None-Match", "\"x\""}})->status, 200);
}

TEST_F(HttpPortTest, APortThatIsTakenIsAnError) {
  std::string address = "127.0.0.1:" + std::to_string(port_->port());
  EXPECT_FALSE(HttpPort::Start(address, {}).ok());
}

TEST(SplitAddress, TakesHostsAndPorts) {
  std::string host;
  int port = 0;
  ASSERT_TRUE(SplitAddress("127.0.0.1:80", &host, &port));
  EXPECT_EQ(host, "127.0.0.1");
  EXPECT_EQ(port, 80);
  ASSERT_TRUE(SplitAddress("[::1]:0", &host, &port));
  EXPECT_EQ(host, "::1");
  for (const char* bad :
       {"", "80", ":80", "a:", "a:x", "a:99999", "::1:80", "a:-1"}) {
    EXPECT_FALSE(SplitAddress(bad, &host, &port)) << bad;
  }
}

}  // namespace
}  // namespace fold
