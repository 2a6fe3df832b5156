#include "server/access/base64url.h"

#include "gtest/gtest.h"

namespace fold {
namespace {

TEST(Base64Url, RoundTrips) {
  for (const char* text : {"", "f", "fo", "foo", "foob", "\xff\xfe\xfd"}) {
    EXPECT_EQ(DecodeBase64Url(EncodeBase64Url(text)), text);
  }
  EXPECT_EQ(EncodeBase64Url("\xff\xfe"), "__4");
}

TEST(Base64Url, TakesOneFormOnly) {
  for (const char* bad :
       {"Zg==", "Zh", "Z", "Zg ", " Zg", "Zm\n8", "+/8", "Z*"}) {
    EXPECT_FALSE(DecodeBase64Url(bad)) << bad;
  }
}

}  // namespace
}  // namespace fold
