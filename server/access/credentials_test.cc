// Real connections: a server and its clients in this process.
#include "server/access/credentials.h"

#include "gmock/gmock.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/codegen/sync_stream.h"
#include "gtest/gtest.h"
#include "openssl/ssl.h"
#include "server/access/testing/certificates.h"

namespace fold {
namespace {

using grpc::ByteBuffer;
using grpc::StatusCode;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr char kMethod[] = "/test.Test/Test";

ByteBuffer ToBuffer(const std::string& text) {
  grpc::Slice slice(text);
  return {&slice, 1};
}

std::string ToText(const ByteBuffer& buffer) {
  grpc::Slice slice;
  if (!buffer.DumpToSingleSlice(&slice).ok()) return "(unreadable)";
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

// Answers each message with what is known of its sender: the authorization,
// then the identities, with '|' between.
class WhoAmI : public grpc::CallbackGenericService {
 public:
  class Reactor : public grpc::ServerGenericBidiReactor {
   public:
    explicit Reactor(grpc::GenericCallbackServerContext* context) {
      PeerFacts facts = FactsOf(*context);
      text_ = facts.authorization;
      for (const std::string& name : facts.identities) text_ += "|" + name;
      StartRead(&request_);
    }
    void OnReadDone(bool ok) override {
      if (!ok) return Finish(grpc::Status::OK);
      response_ = ToBuffer(text_);
      StartWrite(&response_);
    }
    void OnWriteDone(bool ok) override {
      if (!ok) return Finish(grpc::Status::CANCELLED);
      StartRead(&request_);
    }
    void OnDone() override { delete this; }

   private:
    std::string text_;
    ByteBuffer request_, response_;
  };
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new Reactor(context);
  }
};

// A stream with the server.
class Caller {
 public:
  Caller(int port, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
         const std::vector<std::string>& authorizations = {}) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    channel_ = grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port),
                                         credentials, arguments);
    for (const auto& value : authorizations) {
      context_.AddMetadata("authorization", value);
    }
    context_.set_deadline(std::chrono::system_clock::now() +
                          std::chrono::seconds(60));
    grpc::internal::RpcMethod method(
        kMethod, grpc::internal::RpcMethod::BIDI_STREAMING, channel_);
    stream_.reset(
        grpc::internal::ClientReaderWriterFactory<
            ByteBuffer, ByteBuffer>::Create(channel_.get(), method, &context_));
  }
  ~Caller() {
    if (!over_) (void)End();
  }
  // What the server says we are; "(no)" if there is no connection.
  std::string Ask() {
    ByteBuffer answer;
    if (!stream_->Write(ToBuffer("?")) || !stream_->Read(&answer)) {
      return "(no)";
    }
    return ToText(answer);
  }
  StatusCode End() {
    over_ = true;
    stream_->WritesDone();
    return stream_->Finish().error_code();
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<ByteBuffer, ByteBuffer>> stream_;
  bool over_ = false;
};

class CredentialsTest : public testing::Test {
 protected:
  void SetUp() override {
    Write(authority_.IssueForServer());
    WriteText(paths_.client_ca, client_authority_.certificate());
  }
  void TearDown() override {
    if (server_ != nullptr) server_->Shutdown();
  }
  void Write(const TestKeyPair& pair) {
    WriteText(paths_.certificate, pair.certificate);
    WriteText(paths_.key, pair.key);
  }
  void Start(ClientAuth auth) {
    CertificatePaths paths = paths_;
    if (auth == ClientAuth::kNone) paths.client_ca = "";
    auto source =
        CertificateSource::Open(paths, {"grpc"}, &metrics_, milliseconds(5));
    ASSERT_TRUE(source.ok()) << source.status();
    credentials_ = TlsCredentials(std::move(*source), auth);
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", credentials_, &port_);
    builder.RegisterCallbackGenericService(&service_);
    server_ = builder.BuildAndStart();
    ASSERT_GT(port_, 0);
  }
  // What a client with this pair, that trusts this root, hears.
  std::string Ask(const std::string& root, const TestKeyPair& pair = {}) {
    return Caller(port_, Ssl(root, pair)).Ask();
  }
  static std::shared_ptr<grpc::ChannelCredentials> Ssl(
      const std::string& root, const TestKeyPair& pair = {}) {
    return grpc::SslCredentials({root, pair.key, pair.certificate});
  }
  bool Reloads(const std::string& result, int count) {
    return WaitUntil([&] {
      return metrics_.Text().find("result=\"" + result + "\"} " +
                                  std::to_string(count) + "\n") !=
             std::string::npos;
    });
  }
  std::string folder_ = testing::TempDir();
  CertificatePaths paths_ = {folder_ + "cred_c.pem", folder_ + "cred_k.pem",
                             folder_ + "cred_ca.pem"};
  TestAuthority authority_{"authority"}, client_authority_{"clients"};
  TestAuthority stranger_{"stranger"};
  const std::string root_ = authority_.certificate();
  Metrics metrics_;
  WhoAmI service_;
  std::shared_ptr<grpc::ServerCredentials> credentials_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

TEST_F(CredentialsTest, TlsAlone) {
  Start(ClientAuth::kNone);
  EXPECT_EQ(Ask(root_), "");
  EXPECT_EQ(Ask(stranger_.certificate()), "(no)");
  Caller plain(port_, grpc::InsecureChannelCredentials());
  EXPECT_EQ(plain.Ask(), "(no)");
  EXPECT_EQ(plain.End(), StatusCode::UNAVAILABLE);
  // A certificate that nobody asked for says nothing.
  EXPECT_EQ(Ask(root_, client_authority_.Issue({"Bob", ""})), "");
}

TEST_F(CredentialsTest, OldVersionsAreRefused) {
  Start(ClientAuth::kNone);
  EXPECT_FALSE(CanShakeHands(port_, TLS1_1_VERSION));
  EXPECT_TRUE(CanShakeHands(port_, TLS1_2_VERSION));
  EXPECT_TRUE(CanShakeHands(port_, TLS1_3_VERSION));
}

TEST_F(CredentialsTest, TheAuthorizationComesWhole) {
  Start(ClientAuth::kNone);
  EXPECT_EQ(Caller(port_, Ssl(root_), {"Bearer x"}).Ask(), "Bearer x");
  EXPECT_EQ(Caller(port_, Ssl(root_), {"Bearer x", "Bearer y"}).Ask(),
            "Bearer x, Bearer y");
}

TEST_F(CredentialsTest, MutualTls) {
  Start(ClientAuth::kRequire);
  const TestSubject bob = {"Bob", "DNS:b.example,URI:spiffe://a/b"};
  EXPECT_EQ(Ask(root_, client_authority_.Issue(bob)),
            "|spiffe://a/b|b.example|Bob");
  EXPECT_EQ(Ask(root_), "(no)");
  EXPECT_EQ(Ask(root_, stranger_.Issue(bob)), "(no)");
  // Of the server's own authority, which is not that of clients.
  EXPECT_EQ(Ask(root_, authority_.Issue(bob)), "(no)");
  TestSubject expired = bob;
  expired.valid_seconds = -10;
  EXPECT_EQ(Ask(root_, client_authority_.Issue(expired)), "(no)");
  EXPECT_EQ(Ask(root_, client_authority_.Issue({"Bob", ""})), "|Bob");
}

TEST_F(CredentialsTest, ARequestedCertificateMayBeLeftOut) {
  Start(ClientAuth::kRequest);
  EXPECT_EQ(Ask(root_), "");
  EXPECT_EQ(Ask(root_, client_authority_.Issue({"Bob", ""})), "|Bob");
  EXPECT_EQ(Ask(root_, stranger_.Issue({"Bob", ""})), "(no)");
}

TEST_F(CredentialsTest, AnExpiredServerIsNotTrusted) {
  Write(authority_.IssueForServer(-10));
  Start(ClientAuth::kNone);
  EXPECT_EQ(Ask(root_), "(no)");
}

TEST_F(CredentialsTest, ReloadsWhileAStreamIsOpen) {
  Start(ClientAuth::kNone);
  Caller stream(port_, Ssl(root_), {"open"});
  ASSERT_EQ(stream.Ask(), "open");
  TestAuthority next_authority("next");
  TestKeyPair next = next_authority.IssueForServer();
  // The key alone fits nothing: the old pair stays, for new connections too.
  WriteText(paths_.key, next.key);
  ASSERT_TRUE(Reloads("refused", 1));
  EXPECT_EQ(Ask(root_), "");
  EXPECT_EQ(Ask(next_authority.certificate()), "(no)");
  WriteText(paths_.certificate, next.certificate);
  ASSERT_TRUE(Reloads("loaded", 2));
  EXPECT_EQ(Ask(next_authority.certificate()), "");
  EXPECT_EQ(Ask(root_), "(no)");
  EXPECT_EQ(stream.Ask(), "open");
  EXPECT_EQ(stream.End(), StatusCode::OK);
}

TEST_F(CredentialsTest, ANewAuthorityOfClientsCounts) {
  Start(ClientAuth::kRequire);
  TestKeyPair bob = stranger_.Issue({"Bob", ""});
  TestKeyPair old = client_authority_.Issue({"Old", ""});
  EXPECT_EQ(Ask(root_, bob), "(no)");
  WriteText(paths_.client_ca, stranger_.certificate());
  ASSERT_TRUE(Reloads("loaded", 2));
  EXPECT_EQ(Ask(root_, bob), "|Bob");
  EXPECT_EQ(Ask(root_, old), "(no)");
}

}  // namespace
}  // namespace fold
