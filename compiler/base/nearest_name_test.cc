#include "compiler/base/nearest_name.h"

#include "gtest/gtest.h"

namespace fold {
namespace {

constexpr std::string_view kNames[] = {"workers", "listen", "http"};

TEST(NearestName, FindsAMistypedName) {
  EXPECT_EQ(NearestName("worker", kNames), "workers");
  EXPECT_EQ(NearestName("lsiten", kNames), "listen");
  EXPECT_EQ(NearestName("https", kNames), "http");
}

TEST(NearestName, GivesNothingWhenAllAreFar) {
  EXPECT_EQ(NearestName("cache_bytes", kNames), "");
  EXPECT_EQ(NearestName(std::string(100000, 'x'), kNames), "");
  EXPECT_EQ(NearestName("x", {}), "");
}

TEST(DidYouMean, MakesASentence) {
  EXPECT_EQ(DidYouMean("htp", kNames), "; did you mean 'http'?");
  EXPECT_EQ(DidYouMean("quite another", kNames), "");
}

}  // namespace
}  // namespace fold
