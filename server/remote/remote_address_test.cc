#include "server/remote/remote_address.h"

#include "gtest/gtest.h"

namespace fold {
namespace {

TEST(RemoteAddress, Reads) {
  auto plain = ParseRemoteAddress("grpc://cache.example:9092");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->host_and_port, "cache.example:9092");
  EXPECT_FALSE(plain->tls);
  EXPECT_EQ(plain->instance, "");
  auto tls = ParseRemoteAddress("grpcs://[::1]:443/team/main");
  ASSERT_TRUE(tls.ok());
  EXPECT_EQ(tls->host_and_port, "[::1]:443");
  EXPECT_TRUE(tls->tls);
  EXPECT_EQ(tls->instance, "team/main");
}

TEST(RemoteAddress, RefusesTheRest) {
  for (const char* bad :
       {"", "cache:9092", "http://cache:9092", "grpc://", "grpc://cache",
        "grpc://:9092", "grpc://cache:", "grpc://cache:0", "grpc://cache:70000",
        "grpc://cache:9x", "grpc://cache:9092/a b", "grpc://cache:9092/\n"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseRemoteAddress(bad).status()))
        << bad;
  }
}

TEST(RemoteAddress, InstancesStayApart) {
  RemoteAddress none, ci;
  ci.instance = "ci";
  EXPECT_EQ(RemoteInstance(none, ""), "");
  EXPECT_EQ(RemoteInstance(none, "a"), "a");
  EXPECT_EQ(RemoteInstance(ci, ""), "ci");
  EXPECT_EQ(RemoteInstance(ci, "a"), "ci-a");
}

}  // namespace
}  // namespace fold
