#include "server/access/access.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/access/testing/certificates.h"
#include "server/access/token.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class AccessTest : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(data_); }
  std::unique_ptr<Access> Open() {
    auto access = OpenAccess(config_, data_, &metrics_);
    fault_ = std::string(access.status().message());
    return access.ok() ? std::move(*access) : nullptr;
  }
  std::string data_ = testing::TempDir() + "access_test";
  Config config_;
  Metrics metrics_;
  std::string fault_;
};

TEST_F(AccessTest, OnLoopbackNothingNeedsToBeSaid) {
  auto access = Open();
  ASSERT_NE(access, nullptr) << fault_;
  EXPECT_EQ(access->certificates, nullptr);
  EXPECT_NE(access->credentials, nullptr);
  EXPECT_TRUE(access->gatekeeper->open());
  EXPECT_TRUE(fs::exists(data_ + "/audit/audit-000001.jsonl"));
  EXPECT_FALSE(access->quota->TakeRequest("anonymous"));
}

TEST_F(AccessTest, RefusesToStart) {
  config_.listen = "0.0.0.0:50051";
  EXPECT_EQ(Open(), nullptr);
  EXPECT_THAT(fault_, HasSubstr("nobody would have to say who they are"));
  config_.tls_certificate = "/no/such/c.pem";
  config_.tls_key = "/no/such/k.pem";
  config_.tokens_file = "/no/such/t.json";
  EXPECT_EQ(Open(), nullptr);
  EXPECT_THAT(fault_, HasSubstr("tls_certificate: cannot read"));
  TestKeyPair pair = TestAuthority("a").IssueForServer();
  config_.tls_certificate = testing::TempDir() + "access_c.pem";
  config_.tls_key = testing::TempDir() + "access_k.pem";
  WriteText(config_.tls_certificate, pair.certificate);
  WriteText(config_.tls_key, pair.key);
  EXPECT_EQ(Open(), nullptr);
  EXPECT_THAT(fault_, HasSubstr("tokens_file: /no/such/t.json"));
  config_.tokens_file = testing::TempDir() + "access_t.json";
  WriteText(config_.tokens_file,
            R"({"tokens":[)" +
                TokenRowJson({{"ci", Role::kRead, {""}}, TokenHash("t")}) +
                "]}");
  config_.audit_log = "/proc/no/folder";
  EXPECT_EQ(Open(), nullptr);
  EXPECT_THAT(fault_, HasSubstr("audit log: /proc/no/folder"));
  config_.audit_log = data_ + "/elsewhere";
  config_.quota_compiles = 1;
  auto access = Open();
  ASSERT_NE(access, nullptr) << fault_;
  EXPECT_NE(access->certificates, nullptr);
  EXPECT_FALSE(access->gatekeeper->open());
  EXPECT_TRUE(fs::exists(data_ + "/elsewhere/audit-000001.jsonl"));
  Quota::Grant first, second;
  EXPECT_FALSE(access->quota->TakeCompile("ci", &first));
  EXPECT_TRUE(access->quota->TakeCompile("ci", &second));
}

}  // namespace
}  // namespace fold
