#include "client/client.h"

#include "client/connection.h"
#include "compiler/api/error_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/google/rpc/error_details.pb.h"
#include "proto/google/rpc/status.pb.h"

namespace fold {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

grpc::Status WithDetails(grpc::StatusCode code, const std::string& reason) {
  google::rpc::Status details;
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  info.set_domain("foldd");
  details.add_details()->PackFrom(info);
  google::rpc::BadRequest bad;
  auto* violation = bad.add_field_violations();
  violation->set_field("target.name");
  violation->set_description("is missing");
  details.add_details()->PackFrom(bad);
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(2);
  details.add_details()->PackFrom(retry);
  return {code, "what happened", details.SerializeAsString()};
}

TEST(ReadStatus, TheReasonDecidesTheExitCode) {
  for (const ErrorRow& row : ErrorTable()) {
    ClientError error =
        ReadStatus(WithDetails(grpc::StatusCode::INTERNAL, row.reason));
    EXPECT_EQ(error.exit_code, row.exit_code) << row.reason;
    EXPECT_EQ(error.reason, row.reason);
  }
  ClientError error =
      ReadStatus(WithDetails(grpc::StatusCode::INTERNAL, "QUEUE_FULL"));
  EXPECT_THAT(error.violations, ElementsAre("target.name: is missing"));
  EXPECT_EQ(error.retry_milliseconds, 2000);
  EXPECT_EQ(FormatError(error),
            "error[QUEUE_FULL]: what happened\n  target.name: is missing");
}

TEST(ReadStatus, AStatusWithoutDetailsHasOneToo) {
  using grpc::StatusCode;
  const std::tuple<grpc::Status, int, const char*> cases[] = {
      {{StatusCode::UNAVAILABLE, "x"}, kExitTryAgain, "SERVER_UNREACHABLE"},
      {{StatusCode::DEADLINE_EXCEEDED, "x"}, kExitTryAgain, "DEADLINE"},
      {{StatusCode::UNAUTHENTICATED, "x"}, kExitAccess, "UNAUTHENTICATED"},
      {{StatusCode::RESOURCE_EXHAUSTED, "x"},
       kExitTryAgain,
       "RESOURCE_EXHAUSTED"},
      {{StatusCode::RESOURCE_EXHAUSTED,
        "Received message larger than max (9 vs. 8)"},
       kExitInput,
       "MODEL_TOO_LARGE"},
      {{StatusCode::INTERNAL, "x", "\xff not details"},
       kExitInternal,
       "INTERNAL"},
  };
  for (const auto& [status, exit_code, reason] : cases) {
    ClientError error = ReadStatus(status);
    EXPECT_EQ(error.exit_code, exit_code);
    EXPECT_EQ(error.reason, reason);
  }
}

TEST(Client, AServerThatIsAwayIsTryAgain) {
  ConnectOptions options;
  options.address = "127.0.0.1:1";
  std::shared_ptr<grpc::Channel> channel;
  ASSERT_EQ(MakeChannel(options, &channel), "");
  Client client(channel, 5000);
  std::string serving;
  auto error = client.Health(&serving);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->exit_code, kExitTryAgain);
  CompileAnswer answer;
  error = client.Compile(
      {}, [](const auto&) {}, &answer);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->exit_code, kExitTryAgain);
  EXPECT_EQ(error->reason, "SERVER_UNREACHABLE");
}

}  // namespace
}  // namespace fold
