#include "client/connection.h"

#include "gmock/gmock.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/codegen/client_unary_call.h"
#include "gtest/gtest.h"
#include "server/access/testing/certificates.h"

namespace fold {
namespace {

using grpc::ByteBuffer;
using ::testing::HasSubstr;

// Refuses every call with its authorization as the message.
class Refuser : public grpc::CallbackGenericService {
 public:
  class Reactor : public grpc::ServerGenericBidiReactor {
   public:
    explicit Reactor(grpc::GenericCallbackServerContext* context) {
      std::string text;
      auto [at, end] = context->client_metadata().equal_range("authorization");
      for (; at != end; ++at) {
        text += "[" + std::string(at->second.data(), at->second.size()) + "]";
      }
      Finish({grpc::StatusCode::UNAUTHENTICATED, "seen:" + text});
    }
    void OnDone() override { delete this; }
  };
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new Reactor(context);
  }
};

class ConnectionTest : public testing::Test {
 protected:
  void TearDown() override {
    if (server_ != nullptr) server_->Shutdown();
  }
  int Start(std::shared_ptr<grpc::ServerCredentials> credentials) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", std::move(credentials), &port);
    builder.RegisterCallbackGenericService(&service_);
    server_ = builder.BuildAndStart();
    return port;
  }
  // What the server saw, or the status.
  static std::string Call(const ConnectOptions& options) {
    std::shared_ptr<grpc::Channel> channel;
    std::string error = MakeChannel(options, &channel);
    if (!error.empty()) return error;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(20));
    grpc::internal::RpcMethod method(
        "/test.Test/Test", grpc::internal::RpcMethod::NORMAL_RPC, channel);
    grpc::Slice slice("?");
    ByteBuffer request(&slice, 1), response;
    grpc::Status status =
        grpc::internal::BlockingUnaryCall<ByteBuffer, ByteBuffer>(
            channel.get(), method, &context, request, &response);
    return status.error_code() == grpc::StatusCode::UNAVAILABLE
               ? "unavailable"
               : status.error_message();
  }
  static std::string File(const std::string& name, const std::string& text) {
    std::string path = testing::TempDir() + "connection_" + name;
    WriteText(path, text);
    return path;
  }
  Refuser service_;
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(ConnectionTest, PlaintextOnLoopbackCarriesTheToken) {
  int port = Start(grpc::InsecureServerCredentials());
  ConnectOptions options;
  for (const char* scheme : {"", "grpc://"}) {
    options.address = scheme + ("127.0.0.1:" + std::to_string(port));
    options.token = "";
    options.token_file = "";
    EXPECT_EQ(Call(options), "seen:");
    options.token = "from-environment";
    EXPECT_EQ(Call(options), "seen:[Bearer from-environment]");
    options.token_file = File("token", "from-file\n");
    EXPECT_EQ(Call(options), "seen:[Bearer from-file]");
  }
  options.address = "grpcs://127.0.0.1:" + std::to_string(port);
  EXPECT_EQ(Call(options), "unavailable");
}

TEST_F(ConnectionTest, MutualTls) {
  TestAuthority authority("authority"), clients("clients");
  TestKeyPair pair = authority.IssueForServer();
  grpc::SslServerCredentialsOptions ssl(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  ssl.pem_root_certs = clients.certificate();
  ssl.pem_key_cert_pairs = {{pair.key, pair.certificate}};
  int port = Start(grpc::SslServerCredentials(ssl));
  ConnectOptions options;
  options.address = "grpcs://127.0.0.1:" + std::to_string(port);
  options.token = "t";
  options.ca_file = File("ca", authority.certificate());
  EXPECT_EQ(Call(options), "unavailable");
  TestKeyPair bob = clients.Issue({"Bob", ""});
  options.certificate_file = File("c", bob.certificate);
  options.key_file = File("k", bob.key);
  EXPECT_EQ(Call(options), "seen:[Bearer t]");
  options.ca_file = File("ca", clients.certificate());
  EXPECT_EQ(Call(options), "unavailable");
}

TEST_F(ConnectionTest, WhatIsWrongIsSaidBeforeAnythingIsSent) {
  auto fault = [](const std::function<void(ConnectOptions*)>& change) {
    ConnectOptions options;
    change(&options);
    std::shared_ptr<grpc::Channel> channel;
    return MakeChannel(options, &channel);
  };
  for (const char* bad : {"", "host", ":1", "http://host:1", "grpcs://host",
                          "grpc://grpcs://host:1"}) {
    EXPECT_THAT(fault([&](auto* o) { o->address = bad; }),
                HasSubstr("--server: "))
        << bad;
  }
  EXPECT_THAT(fault([](auto* o) {
                o->address = "grpc://10.0.0.1:1";
                o->token = "t";
              }),
              HasSubstr("would cross the network unencrypted"));
  // A name that only begins like loopback.
  EXPECT_THAT(fault([](auto* o) {
                o->address = "grpc://127.0.0.1.example.org:1";
                o->token = "t";
              }),
              HasSubstr("would cross the network unencrypted"));
  EXPECT_EQ(fault([](auto* o) {
              o->address = "grpc://10.0.0.1:1";
              o->token = "t";
              o->token_in_plaintext = true;
            }),
            "");
  // TLS without a word off loopback.
  EXPECT_EQ(fault([](auto* o) {
              o->address = "10.0.0.1:1";
              o->token = "t";
            }),
            "");
  EXPECT_THAT(fault([](auto* o) { o->ca_file = "/no/such"; }),
              HasSubstr("--tls-ca: "));
  EXPECT_THAT(fault([](auto* o) { o->key_file = "k"; }),
              HasSubstr("go together"));
  std::string pem = File("pem", "x");
  EXPECT_THAT(fault([&](auto* o) { o->ca_file = pem; }),
              HasSubstr("the --tls flags do nothing"));
  EXPECT_THAT(fault([](auto* o) { o->token_file = "/no/such"; }),
              HasSubstr("--token-file: "));
  EXPECT_THAT(fault([](auto* o) { o->token = "a\nb"; }),
              HasSubstr("no token has"));
  EXPECT_THAT(fault([](auto* o) { o->token_file = File("empty", ""); }),
              HasSubstr("is empty"));
}

}  // namespace
}  // namespace fold
