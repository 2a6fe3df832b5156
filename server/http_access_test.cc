// Who gets what on the HTTP port, over TLS.
#include "compiler/api/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "openssl/ssl.h"
#include "server/access/testing/certificates.h"
#include "server/access/token.h"
#include "server/cache/memory_store.h"
#include "server/http_port.h"

namespace fold {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class HttpAccessTest : public testing::Test {
 protected:
  void SetUp() override {
    WritePair(authority_.IssueForServer());
    WriteText(paths_.client_ca, clients_.certificate());
    WriteText(root_path_, authority_.certificate());
    auto row = [](const std::string& name, std::vector<std::string> instances) {
      return TokenRowJson(
          {{name, Role::kRead, std::move(instances)}, TokenHash(name)});
    };
    WriteText(tokens_path_, R"({"tokens":[)" + row("default", {""}) + "," +
                                row("a", {"a"}) + "," + row("all", {"*"}) +
                                R"(],"certificates":[{"identity":"Bob",
              "name":"bob","role":"read","instances":["a"]}]})");
    Put("", "0123456789");
    Put("a", "of a");
  }
  void WritePair(const TestKeyPair& pair) {
    WriteText(paths_.certificate, pair.certificate);
    WriteText(paths_.key, pair.key);
  }
  void Put(const std::string& instance, const std::string& bytes) {
    ASSERT_TRUE(store_
                    .Put({Space::kBlob, Sha256Hex(bytes), instance},
                         std::make_shared<const std::string>(bytes))
                    .ok());
  }
  void Start(bool metrics_open = false) {
    auto source =
        CertificateSource::Open(paths_, {"http"}, &metrics_, milliseconds(5));
    ASSERT_TRUE(source.ok()) << source.status();
    GatekeeperOptions options;
    options.tokens_file = tokens_path_;
    options.certificates = true;
    gatekeeper_ = std::move(*Gatekeeper::Open(options, &metrics_));
    HttpHandlers handlers;
    handlers.metrics = [] { return std::string("a_metric 1\n"); };
    handlers.ready = [] { return absl::OkStatus(); };
    handlers.blobs = &store_;
    handlers.gatekeeper = gatekeeper_.get();
    handlers.metrics_open = metrics_open;
    handlers.certificates = std::move(*source);
    auto port = HttpPort::Start("127.0.0.1:0", std::move(handlers));
    ASSERT_TRUE(port.ok()) << port.status();
    port_ = std::move(*port);
  }
  // "200 BODY", or "(no)" without a connection.
  std::string Get(const std::string& path, const std::string& token = "",
                  const TestKeyPair& pair = {}) {
    std::unique_ptr<httplib::SSLClient> client;
    if (pair.key.empty()) {
      client = std::make_unique<httplib::SSLClient>("127.0.0.1", port_->port());
    } else {
      std::string base = testing::TempDir() + "http_access_client_";
      WriteText(base + "c.pem", pair.certificate);
      WriteText(base + "k.pem", pair.key);
      client = std::make_unique<httplib::SSLClient>(
          "127.0.0.1", port_->port(), base + "c.pem", base + "k.pem");
    }
    client->set_ca_cert_path(root_path_.c_str());
    client->enable_server_certificate_verification(true);
    httplib::Headers headers;
    if (!token.empty()) headers.emplace("Authorization", "Bearer " + token);
    auto result = client->Get(path, headers);
    if (!result) return "(no)";
    return std::to_string(result->status) + " " + result->body;
  }
  static std::string Blob(const std::string& instance,
                          const std::string& bytes) {
    return "/v1/" + (instance.empty() ? "" : instance + "/") + "blobs/" +
           Sha256Hex(bytes);
  }
  std::string folder_ = testing::TempDir();
  CertificatePaths paths_ = {folder_ + "http_c.pem", folder_ + "http_k.pem",
                             folder_ + "http_ca.pem"};
  std::string root_path_ = folder_ + "http_root.pem";
  std::string tokens_path_ = folder_ + "http_tokens.json";
  TestAuthority authority_{"authority"}, clients_{"clients"};
  Metrics metrics_;
  MemoryStore store_{1 << 20};
  std::unique_ptr<Gatekeeper> gatekeeper_;
  std::unique_ptr<HttpPort> port_;
};

TEST_F(HttpAccessTest, ProbesAreOpenAndTheRestIsNot) {
  Start();
  EXPECT_EQ(Get("/livez"), "200 alive\n");
  EXPECT_EQ(Get("/readyz"), "200 ready\n");
  EXPECT_THAT(Get("/metrics"), HasSubstr("401 NO_CREDENTIALS"));
  EXPECT_THAT(Get("/metrics", "bad"), HasSubstr("401 BAD_TOKEN"));
  EXPECT_EQ(Get("/metrics", "a"), "200 a_metric 1\n");
  EXPECT_THAT(Get(Blob("", "0123456789")), HasSubstr("401"));
  EXPECT_EQ(Get(Blob("", "0123456789"), "default"), "200 0123456789");
}

TEST_F(HttpAccessTest, MetricsCanBeOpenForAll) {
  Start(/*metrics_open=*/true);
  EXPECT_EQ(Get("/metrics"), "200 a_metric 1\n");
  EXPECT_THAT(Get(Blob("", "0123456789")), HasSubstr("401"));
}

TEST_F(HttpAccessTest, InstancesDoNotLeak) {
  Start();
  EXPECT_EQ(Get(Blob("a", "of a"), "a"), "200 of a");
  EXPECT_EQ(Get(Blob("a", "of a"), "all"), "200 of a");
  // The same blob under another instance's name is not there.
  EXPECT_THAT(Get(Blob("", "of a"), "all"), HasSubstr("404"));
  EXPECT_THAT(Get(Blob("a", "0123456789"), "a"), HasSubstr("404"));
  // Byte for byte the same, whether the blob and the instance are there or
  // not.
  std::string there = Get(Blob("a", "of a"), "default");
  EXPECT_THAT(there, HasSubstr("403 NOT_ALLOWED"));
  EXPECT_EQ(Get(Blob("a", "nowhere"), "default"), there);
  EXPECT_EQ(Get(Blob("no-such-instance", "of a"), "default"), there);
  EXPECT_EQ(Get("/v1/a/blobs/0", "default"), there);
}

TEST_F(HttpAccessTest, ACertificateIsAsGoodAsAToken) {
  Start();
  TestKeyPair bob = clients_.Issue({"Bob", ""});
  EXPECT_EQ(Get(Blob("a", "of a"), "", bob), "200 of a");
  EXPECT_THAT(Get(Blob("", "0123456789"), "", bob), HasSubstr("403"));
  EXPECT_THAT(Get("/metrics", "", clients_.Issue({"Eve", ""})),
              HasSubstr("401 UNKNOWN_CERTIFICATE"));
  TestAuthority stranger("stranger");
  EXPECT_EQ(Get("/livez", "", stranger.Issue({"Bob", ""})), "(no)");
  EXPECT_EQ(Get("/livez", "", clients_.Issue({"Bob", "", -10})), "(no)");
}

TEST_F(HttpAccessTest, CertificatesAreReadAgain) {
  Start();
  TestAuthority next("next");
  TestKeyPair pair = next.IssueForServer();
  WriteText(paths_.key, pair.key);
  EXPECT_TRUE(WaitUntil([&] {
    return metrics_.Text().find("result=\"refused\"} 1") != std::string::npos;
  }));
  EXPECT_EQ(Get("/livez"), "200 alive\n");
  WriteText(paths_.certificate, pair.certificate);
  EXPECT_TRUE(WaitUntil([&] { return Get("/livez") == "(no)"; }));
  WriteText(root_path_, next.certificate());
  EXPECT_EQ(Get("/livez"), "200 alive\n");
}

TEST_F(HttpAccessTest, OldVersionsAndPlaintextAreRefused) {
  Start();
  EXPECT_FALSE(CanShakeHands(port_->port(), TLS1_1_VERSION));
  EXPECT_TRUE(CanShakeHands(port_->port(), TLS1_2_VERSION));
  httplib::Client plain("127.0.0.1", port_->port());
  EXPECT_FALSE(plain.Get("/livez"));
}

}  // namespace
}  // namespace fold
