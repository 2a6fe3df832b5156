#include "server/access/certificate_source.h"

#include <ctime>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/access/testing/certificates.h"

namespace fold {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class CertificateSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    Write(authority_.IssueForServer());
    WriteText(paths_.client_ca, authority_.certificate());
  }
  void Write(const TestKeyPair& pair) {
    WriteText(paths_.certificate, pair.certificate);
    WriteText(paths_.key, pair.key);
  }
  absl::StatusOr<std::unique_ptr<CertificateSource>> Open() {
    return CertificateSource::Open(paths_, {"grpc", "http"}, &metrics_,
                                   milliseconds(5));
  }
  // How many reloads ended so.
  bool Counted(const std::string& result, int count) {
    return WaitUntil([&] {
      return metrics_.Text().find(
                 R"(foldd_access_reloads_total{file="tls",result=")" + result +
                 "\"} " + std::to_string(count) + "\n") != std::string::npos;
    });
  }
  std::string folder_ = testing::TempDir();
  CertificatePaths paths_ = {folder_ + "source_c.pem", folder_ + "source_k.pem",
                             folder_ + "source_ca.pem"};
  TestAuthority authority_{"authority"};
  Metrics metrics_;
};

TEST_F(CertificateSourceTest, ReadsThePairAndSaysWhenItEnds) {
  auto source = Open();
  ASSERT_TRUE(source.ok()) << source.status();
  int64_t end = (*source)->current()->not_after;
  EXPECT_NEAR(static_cast<double>(end),
              static_cast<double>(std::time(nullptr) + 3600), 120);
  std::string text = metrics_.Text();
  for (const char* listener : {"grpc", "http"}) {
    EXPECT_THAT(text, HasSubstr("foldd_tls_certificate_not_after_timestamp_"
                                "seconds{listener=\"" +
                                std::string(listener) + "\"} 1"));
  }
}

TEST_F(CertificateSourceTest, AHalfWrittenPairIsNotUsed) {
  auto source = Open();
  ASSERT_TRUE(source.ok()) << source.status();
  auto before = (*source)->current();
  TestKeyPair next = authority_.IssueForServer(7200);
  WriteText(paths_.key, next.key);
  EXPECT_TRUE(Counted("refused", 1));
  EXPECT_EQ((*source)->current(), before);
  WriteText(paths_.certificate, next.certificate);
  EXPECT_TRUE(Counted("loaded", 2));
  EXPECT_EQ((*source)->current()->certificate, next.certificate);
  EXPECT_GT((*source)->current()->not_after, before->not_after + 1800);
  WriteText(paths_.client_ca, "");
  EXPECT_TRUE(Counted("refused", 2));
  EXPECT_EQ((*source)->current()->client_ca, authority_.certificate());
}

TEST_F(CertificateSourceTest, EachFaultNamesItsField) {
  TestKeyPair good = authority_.IssueForServer();
  TestKeyPair other = authority_.IssueForServer();
  std::string cut = good.certificate.substr(0, good.certificate.size() / 2);
  const std::tuple<std::string, std::string, std::string, const char*>
      faults[] = {
          {"", good.key, authority_.certificate(), "tls_certificate: "},
          {"x", good.key, authority_.certificate(), "tls_certificate: "},
          {cut, good.key, authority_.certificate(), "tls_certificate: "},
          {good.certificate + cut, good.key, authority_.certificate(),
           "tls_certificate: "},
          {good.certificate, "", authority_.certificate(), "tls_key: "},
          {good.certificate, good.certificate, authority_.certificate(),
           "tls_key: "},
          {good.certificate, other.key, authority_.certificate(),
           "is not the key of"},
          {good.certificate, good.key, "x", "tls_client_ca: "},
          {good.certificate, good.key, cut, "tls_client_ca: "},
      };
  for (const auto& [certificate, key, ca, message] : faults) {
    auto bundle =
        CheckCertificates(paths_, {{certificate, ""}, {key, ""}, {ca, ""}});
    ASSERT_FALSE(bundle.ok()) << message;
    EXPECT_THAT(std::string(bundle.status().message()), HasSubstr(message));
  }
  paths_.key = "/no/such/key";
  auto source = Open();
  ASSERT_FALSE(source.ok());
  EXPECT_THAT(std::string(source.status().message()),
              HasSubstr("tls_key: cannot read '/no/such/key'"));
}

TEST_F(CertificateSourceTest, AnExpiredOneIsServedAndSeen) {
  Write(authority_.IssueForServer(-10));
  auto source = Open();
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_LT((*source)->current()->not_after, std::time(nullptr));
}

}  // namespace
}  // namespace fold
