#include "server/access/tokens_file.h"

#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/access/token.h"

namespace fold {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TokensFile, ReadsTokensAndCertificates) {
  TokenRow row = {
      {"ci", Role::kCompile, {"", "team-a"}}, TokenHash("secret"), 1798761600};
  std::string text =
      R"({"tokens": [)" + TokenRowJson(row) +
      R"(], "certificates": [{"identity": "spiffe://x/y", "name": "ops",
          "role": "administer", "instances": ["*"]}]})";
  EXPECT_THAT(text, HasSubstr("2027-01-01T00:00:00Z"));
  TokensFile file;
  ASSERT_EQ(ParseTokensFile(text, &file), "");
  const TokenRow* found = FindToken(file, "secret");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->principal.name, "ci");
  EXPECT_EQ(found->principal.role, Role::kCompile);
  EXPECT_THAT(found->principal.instances, ElementsAre("", "team-a"));
  EXPECT_EQ(found->expires, 1798761600);
  EXPECT_EQ(FindToken(file, "Secret"), nullptr);
  EXPECT_EQ(FindToken(file, ""), nullptr);
  EXPECT_EQ(FindToken(file, row.sha256), nullptr);
  ASSERT_EQ(file.certificates.size(), 1u);
  EXPECT_EQ(file.certificates[0].identity, "spiffe://x/y");
  EXPECT_EQ(file.certificates[0].principal.role, Role::kAdminister);
}

// A row of "tokens" that is right but for one field.
std::string WithToken(const std::string& field, const std::string& value) {
  std::map<std::string, std::string> fields = {
      {"name", R"("ci")"},
      {"role", R"("read")"},
      {"instances", R"([""])"},
      {"sha256", '"' + TokenHash("t") + '"'},
      {"expires", R"("never")"}};
  fields[field] = value;
  if (value.empty()) fields.erase(field);
  std::string row;
  for (const auto& [key, text] : fields) {
    row += row.empty() ? "{\"" : ",\"";
    row.append(key).append("\":").append(text);
  }
  return R"({"tokens": [)" + row + "}]}";
}

TEST(TokensFile, EachFaultNamesItsField) {
  TokensFile file;
  ASSERT_EQ(ParseTokensFile(WithToken("name", R"("ci")"), &file), "");
  const std::string hash = '"' + TokenHash("t") + '"';
  const std::string row =
      R"({"name":"a","role":"read","instances":[""],"expires":"never","sha256":)" +
      hash + "}";
  const std::string certificate =
      R"({"identity":"x","name":"a","role":"read","instances":[""]})";
  const std::pair<std::string, std::string> faults[] = {
      {"", "is not valid JSON"},
      {"[]", "must be one JSON object"},
      {"{}", "tokens: lets nobody in"},
      {R"({"token": []})", "token: is an unknown key; did you mean 'tokens'"},
      {R"({"tokens": {}})", "tokens: must be a list"},
      {R"({"tokens": [1]})", "tokens[0]: must be an object"},
      {R"({"certificates": 1})", "certificates: must be a list"},
      {WithToken("name", ""), "tokens[0].name: is missing"},
      {WithToken("name", "7"), "tokens[0].name: must be a string"},
      {WithToken("name", R"("a b")"), "tokens[0].name: must be 1 to 128"},
      {WithToken("nam", "1"), "tokens[0].nam: is an unknown key"},
      {WithToken("token", R"("x")"), "tokens[0].token: is an unknown key"},
      {WithToken("role", R"("root")"), "tokens[0].role: is none of"},
      {WithToken("instances", ""), "tokens[0].instances: is missing"},
      {WithToken("instances", "[]"), "tokens[0].instances: must be a list"},
      {WithToken("instances", R"(["a", "/"])"),
       "tokens[0].instances[1]: is no"},
      {WithToken("instances", "[1]"), "tokens[0].instances[0]: must be"},
      {WithToken("sha256", R"("abc")"), "tokens[0].sha256: must be 64"},
      {WithToken("sha256", '"' + TokenHash("") + '"'),
       "tokens[0].sha256: is that of an empty token"},
      {WithToken("expires", ""), "tokens[0].expires: is missing"},
      {WithToken("expires", R"("2027")"), "tokens[0].expires: must be a time"},
      {WithToken("expires", "0"), "tokens[0].expires: must be a string"},
      {R"({"tokens": [)" + row + "," + row + "]}",
       "tokens[1].sha256: is that of an earlier row"},
      {R"({"certificates": [)" + certificate + "," + certificate + "]}",
       "certificates[1].identity: is that of an earlier row"},
      {R"({"certificates": [{"identity": ""}]})",
       "certificates[0].identity: is empty"},
      {R"({"certificates": [{"identity": "x", "sha256": ""}]})",
       "certificates[0].sha256: is an unknown key"},
  };
  for (const auto& [text, message] : faults) {
    EXPECT_THAT(ParseTokensFile(text, &file), HasSubstr(message)) << text;
  }
}

TEST(TokensFile, Expiry) {
  int64_t seconds = 0;
  EXPECT_TRUE(ParseExpiry("1970-01-01T00:01:00Z", &seconds));
  EXPECT_EQ(seconds, 60);
  EXPECT_TRUE(ParseExpiry("never", &seconds));
  EXPECT_EQ(seconds, kNeverExpires);
  for (const char* bad : {"", "Never", "2027-13-01T00:00:00Z", "2027-01-01",
                          "2027-01-01T00:00:00", "2027-01-01T00:00:00+01:00"}) {
    EXPECT_FALSE(ParseExpiry(bad, &seconds)) << bad;
  }
}

}  // namespace
}  // namespace fold
