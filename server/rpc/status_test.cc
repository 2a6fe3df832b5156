#include "server/rpc/status.h"

#include "compiler/api/error_table.h"
#include "gtest/gtest.h"
#include "proto/google/rpc/error_details.pb.h"
#include "proto/google/rpc/status.pb.h"

namespace fold {
namespace {

google::rpc::Status Details(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  return details;
}

TEST(ToStatus, EveryReasonHasItsStatusAndAnErrorInfo) {
  for (const ErrorRow& row : ErrorTable()) {
    grpc::Status status = ToStatus({row.reason, "what happened"});
    EXPECT_EQ(static_cast<int>(status.error_code()),
              static_cast<int>(row.status));
    EXPECT_EQ(status.error_message(), "what happened");
    google::rpc::Status details = Details(status);
    EXPECT_EQ(details.code(), status.error_code());
    google::rpc::ErrorInfo info;
    ASSERT_TRUE(details.details(0).UnpackTo(&info));
    EXPECT_EQ(info.reason(), row.reason);
    EXPECT_EQ(info.domain(), "foldd");
    bool retry = false;
    for (const auto& detail : details.details()) {
      retry |= detail.Is<google::rpc::RetryInfo>();
    }
    EXPECT_EQ(retry, row.retryable) << row.reason;
  }
}

TEST(ToStatus, CarriesViolationsMetadataAndMissingBlobs) {
  Failure failure = {"BAD_REQUEST", "m", {{"signal", "9"}}};
  failure.violations = {{"target.name", "is missing"}};
  failure.missing_blobs = {"blobs/abc/3"};
  google::rpc::Status details = Details(ToStatus(failure));
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(details.details(0).UnpackTo(&info));
  EXPECT_EQ(info.metadata().at("signal"), "9");
  google::rpc::BadRequest bad;
  ASSERT_TRUE(details.details(1).UnpackTo(&bad));
  EXPECT_EQ(bad.field_violations(0).field(), "target.name");
  google::rpc::PreconditionFailure missing;
  ASSERT_TRUE(details.details(2).UnpackTo(&missing));
  EXPECT_EQ(missing.violations(0).type(), "MISSING");
  EXPECT_EQ(missing.violations(0).subject(), "blobs/abc/3");
}

TEST(ToStatus, AQuotaSaysWhoseAndWhenToComeAgain) {
  Failure failure = {"QUOTA_EXCEEDED", "m"};
  failure.quota_violations = {{"ci", "requests_per_second: 4"}};
  failure.retry_milliseconds = 2250;
  google::rpc::Status details = Details(ToStatus(failure));
  google::rpc::QuotaFailure quota;
  ASSERT_TRUE(details.details(1).UnpackTo(&quota));
  EXPECT_EQ(quota.violations(0).subject(), "ci");
  EXPECT_EQ(quota.violations(0).description(), "requests_per_second: 4");
  google::rpc::RetryInfo retry;
  ASSERT_TRUE(details.details(2).UnpackTo(&retry));
  EXPECT_EQ(retry.retry_delay().seconds(), 2);
  EXPECT_EQ(retry.retry_delay().nanos(), 250'000'000);
}

TEST(ToStatus, FitsIntoHeadersWhateverItHolds) {
  Failure failure = {"BAD_REQUEST",
                     std::string(100'000, '\n'),
                     {{"node", std::string(100'000, '\xff')}}};
  for (int i = 0; i < 1000; ++i) {
    failure.violations.push_back({std::string(500, 'f'), "m"});
  }
  grpc::Status status = ToStatus(failure);
  EXPECT_LT(status.error_details().size() + status.error_message().size(),
            8000u);
  EXPECT_EQ(status.error_message().find('\n'), std::string::npos);
}

TEST(ToStatus, AnUnknownReasonIsInternal) {
  EXPECT_EQ(ToStatus({"NO_SUCH_REASON", "m"}).error_code(),
            grpc::StatusCode::INTERNAL);
}

}  // namespace
}  // namespace fold
