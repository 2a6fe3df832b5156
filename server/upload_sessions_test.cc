#include "server/upload_sessions.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace fold {
namespace {

using std::chrono::milliseconds;

struct Written {
  std::string bytes;
  bool finished = false;
  bool gone = false;
};

class FakeWriter : public BlobWriter {
 public:
  explicit FakeWriter(Written* written) : written_(written) {}
  ~FakeWriter() override { written_->gone = true; }
  absl::Status Append(std::string_view bytes) override {
    if (bytes == "full") return absl::ResourceExhaustedError("full");
    written_->bytes += bytes;
    return absl::OkStatus();
  }
  int64_t committed() const override {
    return static_cast<int64_t>(written_->bytes.size());
  }
  absl::Status Finish() override {
    written_->finished = true;
    return absl::OkStatus();
  }

 private:
  Written* written_;
};

class UploadSessionsTest : public testing::Test {
 protected:
  UploadSessions::Make Make() {
    return [this]() -> absl::StatusOr<std::unique_ptr<BlobWriter>> {
      ++made_;
      return std::make_unique<FakeWriter>(&written_);
    };
  }
  Written written_;
  int made_ = 0;
  const int first_ = 1, second_ = 2;
};

TEST_F(UploadSessionsTest, GoesOnWhereItWas) {
  UploadSessions sessions(10, std::chrono::hours(1));
  auto session = sessions.Open("a", Make());
  ASSERT_TRUE(session.ok());
  EXPECT_EQ((*session)->Take(&first_), 0);
  EXPECT_TRUE((*session)->Append(&first_, 0, "abc").ok());
  // Neither a gap nor a piece that is there already.
  EXPECT_TRUE(absl::IsOutOfRange((*session)->Append(&first_, 4, "e")));
  EXPECT_TRUE(absl::IsOutOfRange((*session)->Append(&first_, 0, "abc")));
  EXPECT_EQ((*session)->committed(), 3);

  auto again = sessions.Open("a", Make());
  EXPECT_EQ(*again, *session);
  EXPECT_EQ(made_, 1);
  EXPECT_EQ((*again)->Take(&second_), 3);
  // The call that was there before is not listened to any more.
  EXPECT_TRUE(absl::IsAborted((*session)->Append(&first_, 3, "xyz")));
  EXPECT_TRUE((*again)->Append(&second_, 3, "def").ok());
  EXPECT_TRUE(absl::IsAborted((*session)->Finish(&first_)));
  EXPECT_TRUE((*again)->Finish(&second_).ok());
  EXPECT_EQ(written_.bytes, "abcdef");
  EXPECT_TRUE(written_.finished);
  EXPECT_TRUE(written_.gone);
  sessions.Forget("a");
  EXPECT_EQ(sessions.Find("a"), nullptr);
}

TEST_F(UploadSessionsTest, WhatFailedTakesNothingMore) {
  UploadSessions sessions(10, std::chrono::hours(1));
  auto session = sessions.Open("a", Make());
  (*session)->Take(&first_);
  EXPECT_TRUE(
      absl::IsResourceExhausted((*session)->Append(&first_, 0, "full")));
  EXPECT_TRUE(written_.gone);
  EXPECT_TRUE(absl::IsAborted((*session)->Append(&first_, 0, "x")));
  EXPECT_TRUE(absl::IsAborted((*session)->Finish(&first_)));
}

TEST_F(UploadSessionsTest, TooManyAreRefused) {
  UploadSessions sessions(1, std::chrono::hours(1));
  ASSERT_TRUE(sessions.Open("a", Make()).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(sessions.Open("b", Make()).status()));
  EXPECT_TRUE(sessions.Open("a", Make()).ok());
  sessions.Forget("a");
  EXPECT_TRUE(sessions.Open("b", Make()).ok());
  EXPECT_EQ(sessions.live(), 1);
}

TEST_F(UploadSessionsTest, WhoRestsForTooLongIsForgotten) {
  UploadSessions sessions(10, milliseconds(100));
  auto session = sessions.Open("a", Make());
  (*session)->Take(&first_);
  for (int i = 0; i < 500 && sessions.live() > 0; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(sessions.live(), 0);
  EXPECT_TRUE(absl::IsAborted((*session)->Append(&first_, 0, "late")));
  EXPECT_EQ(written_.bytes, "");
}

TEST_F(UploadSessionsTest, AMakerThatFailsLeavesNothing) {
  UploadSessions sessions(10, std::chrono::hours(1));
  auto failed = sessions.Open("a", [] {
    return absl::StatusOr<std::unique_ptr<BlobWriter>>(
        absl::ResourceExhaustedError("no room"));
  });
  EXPECT_TRUE(absl::IsResourceExhausted(failed.status()));
  EXPECT_EQ(sessions.live(), 0);
}

}  // namespace
}  // namespace fold
