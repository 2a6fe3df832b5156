#include "server/access/http_tls.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "openssl/pem.h"
#include "server/access/openssl_handle.h"
#include "server/access/testing/certificates.h"

namespace fold {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The connections are in server/http_access_test.cc.
std::vector<std::string> Identities(const TestSubject& subject) {
  std::string pem = TestAuthority("authority").Issue(subject).certificate;
  OpensslHandle<BIO, BIO_free_all> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  OpensslHandle<X509, X509_free> certificate(
      PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  return IdentitiesOf(certificate.get());
}

TEST(IdentitiesOf, UrisThenDnsNamesThenTheCommonName) {
  EXPECT_THAT(Identities({"Bob",
                          "DNS:b.example,URI:spiffe://a,DNS:c.example,"
                          "email:bob@example.org,IP:10.0.0.1"}),
              ElementsAre("spiffe://a", "b.example", "c.example", "Bob"));
  EXPECT_THAT(Identities({"Bob", ""}), ElementsAre("Bob"));
  EXPECT_THAT(Identities({"", "DNS:b.example"}), ElementsAre("b.example"));
  EXPECT_THAT(Identities({"", ""}), IsEmpty());
}

TEST(PeerIdentities, NobodyWithoutTls) {
  EXPECT_THAT(PeerIdentities(nullptr), IsEmpty());
}

}  // namespace
}  // namespace fold
