#include "server/rpc/blob_names.h"

#include "gtest/gtest.h"

namespace fold {
namespace {

const std::string kHash(64, 'a');

TEST(BlobNames, NamesToRead) {
  BlobName name;
  ASSERT_FALSE(ParseReadName("blobs/" + kHash + "/12", &name));
  EXPECT_EQ(name.instance, "");
  EXPECT_EQ(name.hash, kHash);
  EXPECT_EQ(name.size, 12);
  ASSERT_FALSE(ParseReadName("team/blobs/" + kHash + "/0", &name));
  EXPECT_EQ(name.instance, "team");
  EXPECT_EQ(name.key(), (Key{Space::kBlob, kHash, "team"}));
}

TEST(BlobNames, NamesToWrite) {
  BlobName name;
  ASSERT_FALSE(ParseWriteName("uploads/u-1/blobs/" + kHash + "/12", &name));
  EXPECT_EQ(name.upload, "u-1");
  EXPECT_EQ(name.size, 12);
  // What a caller adds behind the size means nothing.
  ASSERT_FALSE(ParseWriteName("t/uploads/u/blobs/" + kHash + "/3/x/y", &name));
  EXPECT_EQ(name.instance, "t");
  EXPECT_EQ(name.size, 3);
}

TEST(BlobNames, WhatIsWrongIsSaid) {
  const std::string wrong[] = {
      "",
      "blobs",
      "blobs/" + kHash,
      "blobs/" + kHash + "/",
      "blobs/" + kHash + "/-1",
      "blobs/" + kHash + "/1x",
      "blobs/" + kHash + "/99999999999999999999",
      "blobs/" + kHash + "/1/more",
      "blobs/" + std::string(63, 'a') + "/1",
      "blobs/" + std::string(64, 'A') + "/1",
      "a/b/blobs/" + kHash + "/1",
      "../blobs",
      "../blobs/" + kHash + "/1",
      "/blobs/" + kHash + "/1",
      "Team A/blobs/" + kHash + "/1",
      std::string("a\0", 2) + "/blobs/" + kHash + "/1",
      "blobs/" + kHash + "/01",
      "blobs/" + kHash + "/-0",
      "compressed-blobs/zstd/" + kHash + "/1",
      "uploads/u/blobs/" + kHash + "/1",
      std::string(2000, 'x'),
  };
  for (const std::string& text : wrong) {
    BlobName name;
    auto failure = ParseReadName(text, &name);
    ASSERT_TRUE(failure.has_value()) << text;
    EXPECT_EQ(failure->reason, "BAD_REQUEST");
    EXPECT_EQ(failure->violations.at(0).field, "resource_name");
  }
  const std::string wrong_writes[] = {
      "",
      "uploads",
      "uploads/u",
      "uploads//blobs/" + kHash + "/1",
      "uploads/" + std::string(65, 'u') + "/blobs/" + kHash + "/1",
      "blobs/" + kHash + "/1",
      "../uploads/u/blobs/" + kHash + "/1",
      "/uploads/u/blobs/" + kHash + "/1",
      "uploads/u/blobs/" + kHash + "/01",
      "uploads/u/compressed-blobs/zstd/" + kHash + "/1",
  };
  for (const std::string& text : wrong_writes) {
    BlobName name;
    EXPECT_TRUE(ParseWriteName(text, &name).has_value()) << text;
  }
}

TEST(BlobNames, DigestsAreChecked) {
  Digest digest;
  digest.set_hash(kHash);
  digest.set_size_bytes(5);
  EXPECT_FALSE(CheckDigest("d", digest));
  EXPECT_EQ(BlobText(digest), "blobs/" + kHash + "/5");
  digest.set_size_bytes(-1);
  EXPECT_EQ(CheckDigest("d", digest)->violations[0].field, "d.size_bytes");
  digest.set_hash("x");
  EXPECT_EQ(CheckDigest("d", digest)->violations[0].field, "d.hash");
}

}  // namespace
}  // namespace fold
