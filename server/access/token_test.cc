#include "server/access/token.h"

#include <set>

#include "compiler/api/sha256.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

TEST(Token, AreLongAndNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    std::string token = NewToken();
    EXPECT_EQ(token.size(), 6u + 43u);
    EXPECT_TRUE(token.starts_with("foldd_"));
    EXPECT_EQ(token.find('.'), std::string::npos);  // no JWT
    EXPECT_TRUE(seen.insert(token).second);
  }
}

TEST(Token, IsKeptAsItsHash) {
  EXPECT_TRUE(IsSha256Hex(TokenHash("x")));
  EXPECT_TRUE(SameHash(TokenHash("x"), Sha256Hex("x")));
  EXPECT_FALSE(SameHash(TokenHash("x"), TokenHash("y")));
  EXPECT_FALSE(SameHash("", TokenHash("x")));
}

}  // namespace
}  // namespace fold
