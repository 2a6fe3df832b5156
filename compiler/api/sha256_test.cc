#include "compiler/api/sha256.h"

#include "gtest/gtest.h"

namespace fold {
namespace {

// Test vectors of FIPS 180-4.
TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(Sha256Hex(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheSameAsTheWhole) {
  Sha256 hash;
  std::string all;
  for (int i = 0; i < 100; ++i) {
    std::string piece(i, static_cast<char>(i));
    hash.Update(piece);
    all += piece;
  }
  EXPECT_EQ(hash.Finish(), Sha256Hex(all));
}

TEST(IsSha256Hex, RefusesEverythingElse) {
  EXPECT_TRUE(IsSha256Hex(Sha256Hex("x")));
  EXPECT_FALSE(IsSha256Hex(""));
  EXPECT_FALSE(IsSha256Hex(std::string(63, 'a')));
  EXPECT_FALSE(IsSha256Hex(std::string(64, 'A')));
  EXPECT_FALSE(IsSha256Hex("../" + std::string(61, 'a')));
}

}  // namespace
}  // namespace fold
