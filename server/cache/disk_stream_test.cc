#include "server/cache/disk_stream.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace fold {
namespace {

class DiskStreamTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "disk_stream_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  std::unique_ptr<DiskReader> Open(const std::string& text,
                                   const std::string& hash) {
    std::ofstream(folder_ + "/file") << text;
    auto reader =
        DiskReader::Open(folder_ + "/file", hash, [this](ino_t) { ++wrong_; });
    return reader.ok() ? std::move(*reader) : nullptr;
  }
  DiskWriter::Hooks Hooks() {
    return {[this](const std::string& aside) {
              std::filesystem::rename(aside, folder_ + "/done");
              return absl::OkStatus();
            },
            [this](const absl::Status& status) { ends_.push_back(status); }};
  }
  std::unique_ptr<DiskWriter> Create(int64_t size, const std::string& hash) {
    auto writer = DiskWriter::Create(folder_ + "/aside", size, hash, Hooks());
    return writer.ok() ? std::move(*writer) : nullptr;
  }
  std::string folder_;
  int wrong_ = 0;
  std::vector<absl::Status> ends_;
};

TEST_F(DiskStreamTest, ReadsInPieces) {
  std::string text(3 * kMaxPieceBytes / 2, 'x');
  auto reader = Open(text, Sha256Hex(text));
  EXPECT_EQ(reader->size(), static_cast<int64_t>(text.size()));
  auto first = reader->Read(INT64_MAX);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->size(), static_cast<size_t>(kMaxPieceBytes));
  EXPECT_EQ(first->size() + reader->Read(INT64_MAX)->size(), text.size());
  EXPECT_EQ(*reader->Read(1), "");
  EXPECT_EQ(wrong_, 0);
}

TEST_F(DiskStreamTest, SkipsWithinTheBlob) {
  auto reader = Open("abcdef", Sha256Hex("abcdef"));
  ASSERT_TRUE(reader->Skip(2).ok());
  EXPECT_EQ(*reader->Read(2), "cd");
  EXPECT_TRUE(absl::IsOutOfRange(reader->Skip(3)));
  EXPECT_TRUE(absl::IsOutOfRange(reader->Skip(-1)));
  ASSERT_TRUE(reader->Skip(2).ok());
  EXPECT_EQ(*reader->Read(1), "");
  EXPECT_TRUE(absl::IsInvalidArgument(reader->Read(0).status()));
}

TEST_F(DiskStreamTest, WrongBytesAreFoundBeforeTheLastPiece) {
  auto reader = Open("abcdef", Sha256Hex("abcdeg"));
  EXPECT_EQ(*reader->Read(5), "abcde");
  EXPECT_TRUE(absl::IsDataLoss(reader->Read(5).status()));
  EXPECT_EQ(wrong_, 1);
  // Also where the last piece is only skipped.
  reader = Open("abcdef", Sha256Hex("abcdeg"));
  EXPECT_TRUE(absl::IsDataLoss(reader->Skip(6)));
  reader = Open("", Sha256Hex("a"));
  EXPECT_TRUE(absl::IsDataLoss(reader->Read(1).status()));
  EXPECT_EQ(wrong_, 3);
  reader = Open("", Sha256Hex(""));
  EXPECT_EQ(*reader->Read(1), "");
}

TEST_F(DiskStreamTest, AFileThatShrinksIsWrong) {
  auto reader = Open("abcdef", Sha256Hex("abcdef"));
  ASSERT_EQ(truncate((folder_ + "/file").c_str(), 3), 0);
  EXPECT_TRUE(absl::IsDataLoss(reader->Read(6).status()));
  EXPECT_EQ(wrong_, 1);
}

TEST_F(DiskStreamTest, WritesWholeOrNothing) {
  auto writer = Create(6, Sha256Hex("abcdef"));
  ASSERT_TRUE(writer->Append("abc").ok());
  EXPECT_EQ(writer->committed(), 3);
  ASSERT_TRUE(writer->Append("def").ok());
  ASSERT_TRUE(writer->Finish().ok());
  writer.reset();
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_TRUE(ends_[0].ok());
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/done"));
}

TEST_F(DiskStreamTest, WhatIsNotTheKeysIsRefused) {
  auto writer = Create(6, Sha256Hex("abcdef"));
  ASSERT_TRUE(writer->Append("abcdeg").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(writer->Finish()));
  writer = Create(6, Sha256Hex("abcdef"));
  ASSERT_TRUE(writer->Append("abc").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(writer->Finish()));  // too few
  EXPECT_TRUE(absl::IsFailedPrecondition(writer->Append("def")));
  writer = Create(6, Sha256Hex("abcdef"));
  EXPECT_TRUE(absl::IsInvalidArgument(writer->Append("abcdefg")));
  EXPECT_TRUE(absl::IsFailedPrecondition(writer->Finish()));
  writer.reset();
  EXPECT_EQ(ends_.size(), 3u);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/aside"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/done"));
}

TEST_F(DiskStreamTest, WhatIsNotFinishedIsAbandoned) {
  Create(6, "").reset();
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_TRUE(absl::IsCancelled(ends_[0]));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/aside"));
  std::filesystem::create_directory(folder_ + "/aside");
  EXPECT_EQ(Create(6, ""), nullptr);  // cannot be made: ends as well
  EXPECT_EQ(ends_.size(), 2u);
}

}  // namespace
}  // namespace fold
