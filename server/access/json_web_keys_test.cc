#include "server/access/json_web_keys.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/access/base64url.h"
#include "server/access/testing/certificates.h"

namespace fold {
namespace {

using ::testing::HasSubstr;

std::string Set(const std::string& keys) {
  return R"({"keys": [)" + keys + "]}";
}

TEST(JsonWebKeys, VerifiesEachAlgorithm) {
  for (const char* kind : {"RS256", "ES256", "EdDSA"}) {
    TestSigner signer(kind, "k"), other(kind, "k");
    std::vector<JsonWebKey> keys;
    ASSERT_EQ(ParseJsonWebKeys(Set(signer.Jwk()), &keys), "") << kind;
    ASSERT_EQ(keys.size(), 1u);
    EXPECT_EQ(keys[0].id, "k");
    EXPECT_EQ(AlgorithmName(keys[0].algorithm), kind);
    for (const TestSigner* who : {&signer, &other}) {
      std::string token = who->Sign("{}", "{}");
      size_t dot = token.rfind('.');
      std::string bytes = token.substr(0, dot);
      std::string signature = *DecodeBase64Url(token.substr(dot + 1));
      EXPECT_EQ(VerifySignature(keys[0], bytes, signature), who == &signer);
      EXPECT_FALSE(VerifySignature(keys[0], bytes + "x", signature));
      EXPECT_FALSE(VerifySignature(keys[0], bytes, signature + "x"));
      EXPECT_FALSE(VerifySignature(keys[0], bytes, ""));
      EXPECT_FALSE(
          VerifySignature(keys[0], bytes, std::string(signature.size(), '\0')));
    }
  }
}

TEST(JsonWebKeys, PassesOverWhatIsForOthers) {
  TestSigner signer("EdDSA", "k");
  std::vector<JsonWebKey> keys;
  ASSERT_EQ(ParseJsonWebKeys(Set(R"({"kty":"EC","crv":"P-384","kid":"a"},
                       {"kty":"RSA","use":"enc","kid":"b"},
                       {"kty":"RSA","alg":"RS512","kid":"c"},
                       {"kty":"new","kid":"d"},)" +
                                 signer.Jwk()),
                             &keys),
            "");
  EXPECT_EQ(keys.size(), 1u);
}

TEST(JsonWebKeys, EachFaultNamesItsField) {
  std::string good = TestSigner("EdDSA", "k").Jwk();
  std::string weak = TestSigner("RS256", "k", 1024).Jwk();
  std::string zeros = EncodeBase64Url(std::string(32, '\0'));
  const std::pair<std::string, std::string> faults[] = {
      {"", "is not valid JSON"},
      {"[]", "must be one JSON object"},
      {"{}", "keys: must be a list"},
      {Set(""), "keys: has none"},
      {Set("1"), "keys[0]: must be an object"},
      {Set(R"({"kid":"a"})"), "keys[0].kty: is missing"},
      {Set(R"({"kty":7})"), "keys[0].kty: must be a string"},
      {Set(good + R"(,{"kty":"oct","k":"c2VjcmV0"})"),
       "keys[1].kty: is a secret key"},
      {Set(R"({"kty":"OKP","crv":"Ed25519","x":"AA","d":"AA"})"),
       "keys[0].d: is a private key"},
      {Set(R"({"kty":"OKP","crv":"Ed25519","x":"AA"})"),
       "keys[0].x: is no key"},
      {Set(R"({"kty":"OKP","crv":"Ed25519","x":"A+=="})"),
       "keys[0].x: must be base64url"},
      {Set(R"({"kty":"EC","crv":"P-256","x":")" + zeros + R"(","y":")" + zeros +
           "\"}"),
       "keys[0].x: is with y no point"},
      {Set(R"({"kty":"RSA","n":"AQAB"})"), "keys[0].e: must be base64url"},
      {Set(weak), "keys[0].n: must have 2048"},
      {Set(good + "," + good), "keys[1].kid: is that of an earlier key"},
  };
  for (const auto& [text, message] : faults) {
    std::vector<JsonWebKey> keys;
    EXPECT_THAT(ParseJsonWebKeys(text, &keys), HasSubstr(message)) << text;
  }
}

}  // namespace
}  // namespace fold
