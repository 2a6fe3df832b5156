#include "server/access/json_web_token.h"

#include <map>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/access/base64url.h"
#include "server/access/testing/certificates.h"

namespace fold {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kNow = 1'800'000'000;

// Good claims but for one; "" leaves it out.
std::string Claims(const std::string& name = "",
                   const std::string& value = "") {
  std::map<std::string, std::string> claims = {
      {"sub", R"("ci")"},
      {"iss", R"("https://issuer")"},
      {"aud", R"("foldd")"},
      {"exp", std::to_string(kNow + 300)},
      {"foldd_role", R"("compile")"},
      {"foldd_instances", R"(["", "team-a"])"}};
  if (!name.empty()) claims[name] = value;
  std::string text;
  for (const auto& [key, json] : claims) {
    if (json.empty()) continue;
    text += text.empty() ? "{\"" : ",\"";
    text.append(key).append("\":").append(json);
  }
  return text + "}";
}

class JsonWebTokenTest : public testing::Test {
 protected:
  void SetUp() override { Use({&rsa_, &ec_, &edwards_}); }
  void Use(const std::vector<const TestSigner*>& signers) {
    std::string text;
    for (const TestSigner* signer : signers) {
      text += (text.empty() ? "" : ",") + signer->Jwk();
    }
    ASSERT_EQ(ParseJsonWebKeys(R"({"keys":[)" + text + "]}", &keys_), "");
  }
  TokenVerdict Verify(const std::string& token) {
    why_.clear();
    principal_ = {};
    return VerifyJsonWebToken(token, keys_, rules_, kNow, &principal_, &why_);
  }
  void Refuses(const std::string& token, const std::string& why) {
    EXPECT_EQ(Verify(token), TokenVerdict::kBad) << why;
    EXPECT_THAT(why_, HasSubstr(why));
    EXPECT_EQ(principal_.name, "");
  }
  TestSigner rsa_{"RS256", "r"}, ec_{"ES256", "e"}, edwards_{"EdDSA", "d"};
  std::vector<JsonWebKey> keys_;
  TokenRules rules_ = {"https://issuer", "foldd"};
  Principal principal_;
  std::string why_;
};

TEST_F(JsonWebTokenTest, GoodTokensOfEachAlgorithm) {
  for (const TestSigner* signer : {&rsa_, &ec_, &edwards_}) {
    std::string token = signer->Sign(Claims());
    EXPECT_TRUE(LooksLikeJsonWebToken(token));
    EXPECT_EQ(Verify(token), TokenVerdict::kGood) << why_;
    EXPECT_EQ(principal_.name, "ci");
    EXPECT_EQ(principal_.role, Role::kCompile);
    EXPECT_THAT(principal_.instances, ElementsAre("", "team-a"));
  }
}

TEST_F(JsonWebTokenTest, ForgedSignatures) {
  const std::string claims = Claims();
  const std::string good = ec_.Sign(claims);
  const std::string body = good.substr(0, good.rfind('.'));
  auto unsigned_with = [&](const std::string& header, const std::string& end) {
    return EncodeBase64Url(header) + "." + EncodeBase64Url(claims) + "." + end;
  };
  // No signature at all, in all its spellings.
  for (const char* alg : {"none", "None", "NONE", "nOnE", ""}) {
    std::string header = std::string(R"({"alg":")") + alg + R"(","kid":"r"})";
    Refuses(unsigned_with(header, ""), "alg");
    Refuses(unsigned_with(header, "AAAA"), "alg");
  }
  Refuses(unsigned_with(R"({"kid":"r"})", ""), "alg");
  Refuses(unsigned_with(R"({"alg":["RS256"],"kid":"r"})", ""), "alg");
  Refuses(body + ".", "signature");
  // The public key, taken for an HMAC's secret.
  Refuses(
      SignWithSecret(R"({"alg":"HS256","kid":"r"})", claims, rsa_.PublicPem()),
      "alg");
  Refuses(
      SignWithSecret(R"({"alg":"RS256","kid":"r"})", claims, rsa_.PublicPem()),
      "signature");
  // One key's algorithm with another's name.
  Refuses(ec_.Sign(R"({"alg":"ES256","kid":"r"})", claims), "alg");
  Refuses(ec_.Sign(R"({"alg":"RS256","kid":"r"})", claims), "signature");
  Refuses(rsa_.Sign(R"({"alg":"PS256","kid":"r"})", claims), "alg");
  // Keys that are not ours, by name or brought along.
  TestSigner stranger("ES256", "e");
  Refuses(stranger.Sign(claims), "signature");
  Refuses(stranger.Sign(R"({"alg":"ES256","kid":"x"})", claims), "kid");
  Refuses(
      stranger.Sign(R"({"alg":"ES256","kid":"","jwk":)" + stranger.Jwk() + "}",
                    claims),
      "kid");
  Refuses(
      stranger.Sign(R"({"alg":"ES256","kid":"e","jku":"https://x"})", claims),
      "signature");
  Refuses(ec_.Sign(R"({"alg":"ES256","kid":["e"]})", claims), "kid");
  // Three keys: which one must be said.
  Refuses(ec_.Sign(R"({"alg":"ES256"})", claims), "kid");
  Refuses(ec_.Sign(R"({"alg":"ES256","kid":"e","crit":["b64"],"b64":false})",
                   claims),
          "crit");
}

TEST_F(JsonWebTokenTest, ChangedTokens) {
  const std::string good = edwards_.Sign(Claims());
  ASSERT_EQ(Verify(good), TokenVerdict::kGood);
  for (size_t at = 0; at < good.size(); ++at) {
    std::string changed = good;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_NE(Verify(changed), TokenVerdict::kGood) << at;
  }
  // Claims of another token under this signature.
  size_t first = good.find('.'), last = good.rfind('.');
  Refuses(good.substr(0, first + 1) +
              EncodeBase64Url(Claims("foldd_role", R"("administer")")) +
              good.substr(last),
          "signature");
  Refuses(good + "=", "signature");
  Refuses(good + ".x", "no JSON Web Token");
  Refuses(" " + good, "header");
  Refuses("", "no JSON Web Token");
  Refuses("..", "header");
  Refuses(edwards_.Sign(R"({"alg":"EdDSA","kid":"d"})", "[]"), "claims");
  Refuses(edwards_.Sign(R"({"alg":"EdDSA","kid":"d"})", "{"), "claims");
  Refuses(edwards_.Sign(Claims("x", '"' + std::string(9000, 'x') + '"')),
          "too long");
  Refuses(EncodeBase64Url(std::string(4000, '[')) + ".e30.AA", "header");
}

TEST_F(JsonWebTokenTest, WhatTheClaimsMustSay) {
  const std::tuple<const char*, std::string, const char*> faults[] = {
      {"iss", "", "iss"},
      {"iss", R"("https://other")", "iss"},
      {"iss", R"(["https://issuer"])", "iss"},
      {"aud", "", "aud"},
      {"aud", R"("foldd2")", "aud"},
      {"aud", R"(["a", "b"])", "aud"},
      {"exp", "", "no exp"},
      {"exp", R"("1900000000")", "no exp"},
      {"exp", "null", "no exp"},
      {"exp", "1e999", "claims"},
      {"nbf", std::to_string(kNow + 61), "nbf"},
      {"nbf", R"("0")", "nbf"},
      {"sub", "", "sub"},
      {"sub", R"("")", "sub"},
      {"sub", R"("a\nb")", "sub"},
      {"foldd_role", "", "foldd_role"},
      {"foldd_role", R"("root")", "foldd_role"},
      {"foldd_role", R"(["administer"])", "foldd_role"},
      {"foldd_instances", "", "foldd_instances"},
      {"foldd_instances", "[]", "foldd_instances"},
      {"foldd_instances", R"("*")", "foldd_instances"},
      {"foldd_instances", "[7]", "foldd_instances"},
      {"foldd_instances", R"(["../a"])", "foldd_instances"},
  };
  for (const auto& [name, value, why] : faults) {
    Refuses(ec_.Sign(Claims(name, value)), why);
  }
  EXPECT_EQ(Verify(ec_.Sign(Claims("aud", R"(["a", "foldd"])"))),
            TokenVerdict::kGood);
  rules_ = {"", ""};
  Refuses(ec_.Sign(Claims("iss", R"("")")), "iss");
}

TEST_F(JsonWebTokenTest, ClocksMayDifferByAMinute) {
  auto expires = [&](int64_t at) {
    return Verify(ec_.Sign(Claims("exp", std::to_string(at))));
  };
  EXPECT_EQ(expires(kNow - 59), TokenVerdict::kGood);
  EXPECT_EQ(expires(kNow - 60), TokenVerdict::kExpired);
  EXPECT_EQ(expires(0), TokenVerdict::kExpired);
  EXPECT_EQ(Verify(ec_.Sign(Claims("nbf", std::to_string(kNow + 60)))),
            TokenVerdict::kGood);
}

TEST_F(JsonWebTokenTest, OneKeyNeedsNoName) {
  Use({&ec_});
  EXPECT_EQ(Verify(ec_.Sign(R"({"alg":"ES256"})", Claims())),
            TokenVerdict::kGood);
  Refuses(ec_.Sign(R"({"alg":"ES256","kid":"x"})", Claims()), "kid");
}

}  // namespace
}  // namespace fold
