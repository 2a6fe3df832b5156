#include "server/access/principal.h"

#include "gtest/gtest.h"

namespace fold {
namespace {

TEST(Principal, RolesHaveNames) {
  for (Role role : {Role::kRead, Role::kCompile, Role::kAdminister}) {
    EXPECT_EQ(ParseRole(RoleName(role)), role);
  }
  EXPECT_LT(Role::kRead, Role::kCompile);
  EXPECT_LT(Role::kCompile, Role::kAdminister);
  for (const char* bad : {"", "Read", "admin", "read "}) {
    EXPECT_FALSE(ParseRole(bad)) << bad;
  }
}

TEST(Principal, InstanceNames) {
  for (const char* good : {"", "a", "team-a", "0_x"}) {
    EXPECT_TRUE(IsInstanceName(good)) << good;
  }
  for (const char* bad : {"/", "a/b", "-a", "_a", "..", "A", "a b", "*", "a.b",
                          "a\n", "\xc3\xa9"}) {
    EXPECT_FALSE(IsInstanceName(bad)) << bad;
  }
  EXPECT_TRUE(IsInstanceName(std::string(63, 'a')));
  EXPECT_FALSE(IsInstanceName(std::string(64, 'a')));
}

TEST(Principal, PrincipalNames) {
  EXPECT_TRUE(IsPrincipalName("spiffe://example.org/ci"));
  for (const char* bad : {"", "a b", "a\n", "\x7f"}) {
    EXPECT_FALSE(IsPrincipalName(bad)) << bad;
  }
}

TEST(Principal, OnlyTheInstancesOfItsList) {
  Principal principal = {"ci", Role::kCompile, {"", "a"}};
  EXPECT_TRUE(MayUseInstance(principal, ""));
  EXPECT_TRUE(MayUseInstance(principal, "a"));
  EXPECT_FALSE(MayUseInstance(principal, "ab"));
  EXPECT_FALSE(MayUseInstance(principal, "b"));
  principal.instances = {"*"};
  EXPECT_TRUE(MayUseInstance(principal, "b"));
  principal.instances = {};
  EXPECT_FALSE(MayUseInstance(principal, ""));
}

}  // namespace
}  // namespace fold
