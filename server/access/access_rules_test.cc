#include "server/access/access_rules.h"

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::HasSubstr;
using Change = std::function<void(Config*)>;

void WithTls(Config* config) {
  config->tls_certificate = "c.pem";
  config->tls_key = "k.pem";
}

void OffLoopback(Config* config) { config->listen = "0.0.0.0:50051"; }

TEST(AccessRules, Loopback) {
  for (const char* yes :
       {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1"}) {
    EXPECT_TRUE(IsLoopback(yes)) << yes;
  }
  for (const char* no : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "host:1", "",
                         "localhost.example.org:1", "128.0.0.1:1"}) {
    EXPECT_FALSE(IsLoopback(no)) << no;
  }
}

TEST(AccessRules, WhatIsRefusedAtTheStart) {
  const std::pair<Change, const char*> faults[] = {
      {OffLoopback, "listen: '0.0.0.0:50051' is not on loopback, and nobody"},
      {[](Config* c) { c->http = "[::]:8080"; },
       "http: '[::]:8080' is not on loopback, and nobody"},
      // Encrypted is not authenticated.
      {[](Config* c) { OffLoopback(c), WithTls(c); }, "and nobody"},
      {[](Config* c) {
         OffLoopback(c);
         c->insecure_without_authentication = "yes";
       },
       "insecure_without_authentication: must be exactly"},
      {[](Config* c) { c->insecure_without_authentication = "true"; },
       "insecure_without_authentication: must be exactly"},
      {[](Config* c) { c->insecure_tokens_in_plaintext = "Tokens may"; },
       "insecure_tokens_in_plaintext: must be exactly"},
      {[](Config* c) { OffLoopback(c), c->tokens_file = "t.json"; },
       "listen: '0.0.0.0:50051' is not on loopback, and tokens"},
      {[](Config* c) {
         c->http = "0.0.0.0:80";
         c->tokens_file = "t.json";
       },
       "http: '0.0.0.0:80' is not on loopback, and tokens"},
      {[](Config* c) { c->tls_certificate = "c.pem"; }, "tls_key: "},
      {[](Config* c) { c->tls_key = "k.pem"; }, "tls_key: "},
      {[](Config* c) { c->tls_client_auth = "require"; }, "tls_client_auth: "},
      {[](Config* c) { WithTls(c), c->tls_client_auth = "request"; },
       "needs tls_client_ca"},
      {[](Config* c) { WithTls(c), c->tls_client_ca = "ca.pem"; },
       "tls_client_ca: does nothing"},
      {[](Config* c) {
         WithTls(c);
         c->tls_client_auth = "require";
         c->tls_client_ca = "ca.pem";
       },
       "unmapped_certificate_role: nobody could do anything"},
      {[](Config* c) { c->jwt_keys_file = "j"; }, "jwt_issuer: "},
      {[](Config* c) { c->jwt_keys_file = "j", c->jwt_issuer = "i"; },
       "jwt_audience: "},
  };
  for (const auto& [change, message] : faults) {
    Config config;
    change(&config);
    EXPECT_THAT(CheckAccess(config), HasSubstr(message));
  }
}

TEST(AccessRules, WhatIsServed) {
  const Change good[] = {
      [](Config*) {},
      [](Config* c) {
        OffLoopback(c);
        c->insecure_without_authentication = "anyone may do anything";
      },
      [](Config* c) { OffLoopback(c), WithTls(c), c->tokens_file = "t"; },
      [](Config* c) {
        OffLoopback(c);
        c->tokens_file = "t";
        c->insecure_tokens_in_plaintext = "tokens may be read on the wire";
      },
      [](Config* c) {
        OffLoopback(c), WithTls(c);
        c->tls_client_auth = "require";
        c->tls_client_ca = "ca";
        c->unmapped_certificate_role = "compile";
      },
      [](Config* c) {
        OffLoopback(c), WithTls(c);
        c->jwt_keys_file = "j", c->jwt_issuer = "i", c->jwt_audience = "a";
      },
      // On loopback tokens need no TLS.
      [](Config* c) { c->tokens_file = "t"; },
  };
  for (const Change& change : good) {
    Config config;
    change(&config);
    EXPECT_EQ(CheckAccess(config), "");
  }
}

}  // namespace
}  // namespace fold
