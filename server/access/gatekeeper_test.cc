#include "server/access/gatekeeper.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/access/testing/certificates.h"
#include "server/access/token.h"

namespace fold {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kNow = 1'800'000'000;

class GatekeeperTest : public testing::Test {
 protected:
  void SetUp() override {
    WriteTokens("compile");
    WriteText(keys_path_, R"({"keys":[)" + signer_.Jwk() + "]}");
    options_.tokens_file = tokens_path_;
    options_.jwt_keys_file = keys_path_;
    options_.jwt_rules = {"me", "foldd"};
    options_.certificates = true;
    options_.interval = milliseconds(5);
    options_.now = [] { return kNow; };
  }
  void WriteTokens(const std::string& role) {
    TokenRow ci = {{"ci", *ParseRole(role), {""}}, TokenHash("good")};
    TokenRow old = {{"old", Role::kRead, {""}}, TokenHash("old"), kNow};
    WriteText(tokens_path_, R"({"tokens":[)" + TokenRowJson(ci) + "," +
                                TokenRowJson(old) +
                                R"(],"certificates":[
      {"identity":"b.example","name":"host","role":"read","instances":["x"]},
      {"identity":"Bob","name":"bob","role":"administer","instances":["*"]}]})");
  }
  void Open() {
    auto keeper = Gatekeeper::Open(options_, &metrics_);
    ASSERT_TRUE(keeper.ok()) << keeper.status();
    keeper_ = std::move(*keeper);
  }
  // "ci" or the reason of the refusal.
  std::string Name(const PeerFacts& facts) {
    Principal principal;
    auto failure = keeper_->Identify(facts, &principal);
    return failure ? failure->reason : principal.name;
  }
  std::string NameOfToken(const std::string& header) {
    return Name({header, {}, ""});
  }
  std::string NameOfCertificate(std::vector<std::string> identities) {
    return Name({"", std::move(identities), ""});
  }
  Role RoleOf(const std::string& header) {
    Principal principal;
    EXPECT_FALSE(keeper_->Identify({header, {}, ""}, &principal));
    return principal.role;
  }
  std::string Jwt(const std::string& role, int64_t expires = kNow + 60) {
    return "Bearer " +
           signer_.Sign(R"({"sub":"jo","iss":"me","aud":"foldd","exp":)" +
                        std::to_string(expires) + R"(,"foldd_role":")" + role +
                        R"(","foldd_instances":["*"]})");
  }
  std::string tokens_path_ = testing::TempDir() + "gatekeeper_tokens.json";
  std::string keys_path_ = testing::TempDir() + "gatekeeper_keys.json";
  TestSigner signer_{"EdDSA", "k"};
  GatekeeperOptions options_;
  Metrics metrics_;
  std::unique_ptr<Gatekeeper> keeper_;
};

TEST_F(GatekeeperTest, WithoutConfigurationEverybodyAdministers) {
  options_ = {};
  Open();
  EXPECT_TRUE(keeper_->open());
  for (const char* header : {"", "Bearer x", "nonsense"}) {
    Principal principal;
    EXPECT_FALSE(keeper_->Identify({header, {}, ""}, &principal));
    EXPECT_EQ(principal.name, "anonymous");
    EXPECT_FALSE(keeper_->Admit(principal, Role::kAdminister, "any"));
  }
}

TEST_F(GatekeeperTest, StaticTokens) {
  Open();
  EXPECT_EQ(NameOfToken("Bearer good"), "ci");
  EXPECT_EQ(NameOfToken("bearer good"), "ci");  // RFC 7235: any case
  EXPECT_EQ(RoleOf("Bearer good"), Role::kCompile);
  EXPECT_EQ(NameOfToken("Bearer old"), "TOKEN_EXPIRED");
  EXPECT_EQ(NameOfToken(""), "NO_CREDENTIALS");
  for (const char* bad :
       {"Bearer ", "Bearer", "good", "Basic good", "Bearer  good",
        "Bearer good ", "Bearer good, Bearer good", "Bearer Good",
        "Bearer a.b.c"}) {
    EXPECT_EQ(NameOfToken(bad), "BAD_TOKEN") << bad;
  }
  EXPECT_THAT(
      metrics_.Text(),
      HasSubstr(
          R"(foldd_authentications_total{method="token",result="accepted"})"));
}

TEST_F(GatekeeperTest, JsonWebTokens) {
  Open();
  EXPECT_EQ(NameOfToken(Jwt("read")), "jo");
  EXPECT_EQ(RoleOf(Jwt("administer")), Role::kAdminister);
  EXPECT_EQ(NameOfToken(Jwt("read", kNow - 100)), "TOKEN_EXPIRED");
  EXPECT_EQ(NameOfToken(Jwt("root")), "BAD_TOKEN");
  options_.jwt_keys_file = "";
  Open();
  EXPECT_EQ(NameOfToken(Jwt("read")), "BAD_TOKEN");
}

TEST_F(GatekeeperTest, CertificatesByTheFirstNameWithARow) {
  Open();
  EXPECT_EQ(NameOfCertificate({"spiffe://a", "b.example", "Bob"}), "host");
  EXPECT_EQ(NameOfCertificate({"Bob"}), "bob");
  EXPECT_EQ(NameOfCertificate({"bob"}), "UNKNOWN_CERTIFICATE");
  EXPECT_EQ(NameOfCertificate({"*.example", "Eve"}), "UNKNOWN_CERTIFICATE");
  // The token decides, even a bad one.
  EXPECT_EQ(Name({"Bearer good", {"Bob"}, ""}), "ci");
  EXPECT_EQ(Name({"Bearer bad", {"Bob"}, ""}), "BAD_TOKEN");
  options_.unmapped_certificate_role = Role::kCompile;
  Open();
  Principal eve;
  ASSERT_FALSE(keeper_->Identify({"", {"Eve"}, ""}, &eve));
  EXPECT_EQ(eve.name, "Eve");
  EXPECT_EQ(eve.role, Role::kCompile);
  EXPECT_THAT(eve.instances, ElementsAre(""));
  EXPECT_EQ(NameOfCertificate({"two words"}), "UNKNOWN_CERTIFICATE");
}

TEST_F(GatekeeperTest, RolesAndInstances) {
  Open();
  Principal ci = {"ci", Role::kCompile, {"", "a"}};
  EXPECT_FALSE(keeper_->Admit(ci, Role::kRead, ""));
  EXPECT_FALSE(keeper_->Admit(ci, Role::kCompile, "a"));
  auto low = keeper_->Admit(ci, Role::kAdminister, "a");
  auto elsewhere = keeper_->Admit(ci, Role::kCompile, "b");
  auto nowhere = keeper_->Admit(ci, Role::kCompile, "no/such");
  ASSERT_TRUE(low && elsewhere && nowhere);
  EXPECT_EQ(low->reason, "NOT_ALLOWED");
  EXPECT_EQ(elsewhere->message, nowhere->message);
  EXPECT_EQ(elsewhere->metadata, nowhere->metadata);
  EXPECT_EQ(elsewhere->message.find("'b'"), std::string::npos);
}

TEST_F(GatekeeperTest, FilesAreReadAgainAndBadOnesAreNot) {
  Open();
  WriteTokens("administer");
  EXPECT_TRUE(
      WaitUntil([&] { return RoleOf("Bearer good") == Role::kAdminister; }));
  WriteText(tokens_path_, "{");
  EXPECT_TRUE(WaitUntil([&] {
    return metrics_.Text().find(
               R"(reloads_total{file="tokens",result="refused"} 1)") !=
           std::string::npos;
  }));
  EXPECT_EQ(RoleOf("Bearer good"), Role::kAdminister);
  // A new key in the old one's place.
  TestSigner next("ES256", "k");
  std::string old = Jwt("read");
  WriteText(keys_path_, R"({"keys":[)" + next.Jwk() + "]}");
  EXPECT_TRUE(WaitUntil([&] { return NameOfToken(old) == "BAD_TOKEN"; }));
  std::filesystem::remove(keys_path_);
  EXPECT_TRUE(WaitUntil([&] {
    return metrics_.Text().find(
               R"(reloads_total{file="jwt_keys",result="refused"} 1)") !=
           std::string::npos;
  }));
  EXPECT_EQ(NameOfToken("Bearer good"), "ci");
  // Taken out: refused at once.
  WriteText(tokens_path_,
            R"({"tokens":[)" +
                TokenRowJson({{"x", Role::kRead, {""}}, TokenHash("x")}) +
                "]}");
  EXPECT_TRUE(
      WaitUntil([&] { return NameOfToken("Bearer good") == "BAD_TOKEN"; }));
}

TEST_F(GatekeeperTest, BadFilesAtTheStartNameTheField) {
  WriteText(tokens_path_, R"({"tokens":[{"name":"a"}]})");
  auto keeper = Gatekeeper::Open(options_, &metrics_);
  ASSERT_FALSE(keeper.ok());
  EXPECT_THAT(std::string(keeper.status().message()),
              HasSubstr(tokens_path_ + ": tokens[0].role: is missing"));
  options_.tokens_file = "/no/such";
  keeper = Gatekeeper::Open(options_, &metrics_);
  EXPECT_THAT(std::string(keeper.status().message()),
              HasSubstr("tokens_file: /no/such"));
  options_.tokens_file = "";
  options_.jwt_keys_file = "/no/keys";
  keeper = Gatekeeper::Open(options_, &metrics_);
  EXPECT_THAT(std::string(keeper.status().message()),
              HasSubstr("jwt_keys_file: /no/keys"));
}

}  // namespace
}  // namespace fold
