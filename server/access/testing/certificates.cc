#include "server/access/testing/certificates.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "openssl/bn.h"
#include "openssl/core_names.h"
#include "openssl/ec.h"
#include "openssl/ecdsa.h"
#include "openssl/err.h"
#include "openssl/evp.h"
#include "openssl/hmac.h"
#include "openssl/pem.h"
#include "openssl/rsa.h"
#include "openssl/ssl.h"
#include "openssl/x509v3.h"
#include "server/access/base64url.h"
#include "server/access/openssl_handle.h"

namespace fold {
namespace {

using Bio = OpensslHandle<BIO, BIO_free_all>;
using DigestContext = OpensslHandle<EVP_MD_CTX, EVP_MD_CTX_free>;
using Extension = OpensslHandle<X509_EXTENSION, X509_EXTENSION_free>;
using Signature = OpensslHandle<ECDSA_SIG, ECDSA_SIG_free>;

void Must(bool good) {
  if (!good) std::abort();
}

std::shared_ptr<EVP_PKEY> Owned(EVP_PKEY* key) {
  Must(key != nullptr);
  return {key, EVP_PKEY_free};
}

std::shared_ptr<EVP_PKEY> NewEcKey() { return Owned(EVP_EC_gen("P-256")); }

std::string Text(BIO* bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

std::string CertificatePem(X509* certificate) {
  Bio bio(BIO_new(BIO_s_mem()));
  Must(PEM_write_bio_X509(bio.get(), certificate) == 1);
  return Text(bio.get());
}

std::string KeyPem(EVP_PKEY* key) {
  Bio bio(BIO_new(BIO_s_mem()));
  Must(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr,
                                nullptr) == 1);
  return Text(bio.get());
}

void AddExtension(X509* certificate, int kind, const std::string& value) {
  Extension extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str()));
  Must(extension != nullptr);
  Must(X509_add_ext(certificate, extension.get(), -1) == 1);
}

std::shared_ptr<X509> NewCertificate(const TestSubject& subject, EVP_PKEY* key,
                                     X509* issuer, EVP_PKEY* issuer_key) {
  static int64_t serial = 1;
  std::shared_ptr<X509> out(X509_new(), X509_free);
  X509_set_version(out.get(), 2);
  ASN1_INTEGER_set_int64(X509_get_serialNumber(out.get()), ++serial);
  // One that has expired must have begun before it ended.
  int64_t begins = std::min<int64_t>(0, subject.valid_seconds) - 60;
  X509_gmtime_adj(X509_getm_notBefore(out.get()), begins);
  X509_gmtime_adj(X509_getm_notAfter(out.get()), subject.valid_seconds);
  X509_NAME* name = X509_get_subject_name(out.get());
  if (!subject.common_name.empty()) {
    X509_NAME_add_entry_by_txt(
        name, "CN", MBSTRING_ASC,
        reinterpret_cast<const unsigned char*>(subject.common_name.c_str()), -1,
        -1, 0);
  }
  X509* by = issuer == nullptr ? out.get() : issuer;
  X509_set_issuer_name(out.get(), X509_get_subject_name(by));
  X509_set_pubkey(out.get(), key);
  if (issuer == nullptr) {
    AddExtension(out.get(), NID_basic_constraints, "critical,CA:TRUE");
  }
  if (!subject.alternative_names.empty()) {
    AddExtension(out.get(), NID_subject_alt_name, subject.alternative_names);
  }
  Must(X509_sign(out.get(), issuer_key, EVP_sha256()) > 0);
  return out;
}

std::string NumberText(EVP_PKEY* key, const char* parameter, int size) {
  BIGNUM* number = nullptr;
  Must(EVP_PKEY_get_bn_param(key, parameter, &number) == 1);
  std::vector<unsigned char> bytes(
      static_cast<size_t>(size > 0 ? size : BN_num_bytes(number)));
  Must(BN_bn2binpad(number, bytes.data(), static_cast<int>(bytes.size())) >= 0);
  BN_free(number);
  return EncodeBase64Url({reinterpret_cast<char*>(bytes.data()), bytes.size()});
}

// r and s side by side, of the DER form.
std::string Joined(const std::string& der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  Signature pair(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  Must(pair != nullptr);
  std::string out(64, '\0');
  auto* bytes = reinterpret_cast<unsigned char*>(out.data());
  Must(BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), bytes, 32) == 32);
  Must(BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), bytes + 32, 32) == 32);
  return out;
}

}  // namespace

TestAuthority::TestAuthority(const std::string& name)
    : key_(NewEcKey()),
      root_(NewCertificate({name, ""}, key_.get(), nullptr, key_.get())),
      pair_{CertificatePem(root_.get()), KeyPem(key_.get())} {}

TestKeyPair TestAuthority::Issue(const TestSubject& subject) const {
  auto key = NewEcKey();
  auto certificate =
      NewCertificate(subject, key.get(), root_.get(), key_.get());
  return {CertificatePem(certificate.get()), KeyPem(key.get())};
}

TestKeyPair TestAuthority::IssueForServer(int64_t valid_seconds) const {
  return Issue({"server", "DNS:localhost,IP:127.0.0.1", valid_seconds});
}

TestSigner::TestSigner(const std::string& kind, const std::string& key_id,
                       int rsa_bits)
    : kind_(kind), key_id_(key_id) {
  if (kind == "RS256") {
    key_ = Owned(EVP_RSA_gen(static_cast<unsigned>(rsa_bits)));
  } else if (kind == "ES256") {
    key_ = NewEcKey();
  } else {
    key_ = Owned(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  }
}

std::string TestSigner::Jwk() const {
  std::string start = R"({"kid":")" + key_id_ + R"(","alg":")" + kind_ + "\",";
  if (kind_ == "RS256") {
    return start + R"("kty":"RSA","n":")" +
           NumberText(key_.get(), OSSL_PKEY_PARAM_RSA_N, 0) + R"(","e":")" +
           NumberText(key_.get(), OSSL_PKEY_PARAM_RSA_E, 0) + "\"}";
  }
  if (kind_ == "ES256") {
    return start + R"("kty":"EC","crv":"P-256","x":")" +
           NumberText(key_.get(), OSSL_PKEY_PARAM_EC_PUB_X, 32) + R"(","y":")" +
           NumberText(key_.get(), OSSL_PKEY_PARAM_EC_PUB_Y, 32) + "\"}";
  }
  std::string bytes(32, '\0');
  size_t size = bytes.size();
  Must(EVP_PKEY_get_raw_public_key(
           key_.get(), reinterpret_cast<unsigned char*>(bytes.data()), &size) ==
       1);
  return start + R"("kty":"OKP","crv":"Ed25519","x":")" +
         EncodeBase64Url(bytes) + "\"}";
}

std::string TestSigner::PublicPem() const {
  Bio bio(BIO_new(BIO_s_mem()));
  Must(PEM_write_bio_PUBKEY(bio.get(), key_.get()) == 1);
  return Text(bio.get());
}

std::string TestSigner::Sign(const std::string& header,
                             const std::string& claims) const {
  std::string bytes = EncodeBase64Url(header) + "." + EncodeBase64Url(claims);
  DigestContext context(EVP_MD_CTX_new());
  const EVP_MD* digest = kind_ == "EdDSA" ? nullptr : EVP_sha256();
  Must(EVP_DigestSignInit(context.get(), nullptr, digest, nullptr,
                          key_.get()) == 1);
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t size = 0;
  Must(EVP_DigestSign(context.get(), nullptr, &size, data, bytes.size()) == 1);
  std::string signature(size, '\0');
  Must(EVP_DigestSign(context.get(),
                      reinterpret_cast<unsigned char*>(signature.data()), &size,
                      data, bytes.size()) == 1);
  signature.resize(size);
  if (kind_ == "ES256") signature = Joined(signature);
  return bytes + "." + EncodeBase64Url(signature);
}

std::string TestSigner::Sign(const std::string& claims) const {
  return Sign(R"({"alg":")" + kind_ + R"(","kid":")" + key_id_ + "\"}", claims);
}

std::string SignWithSecret(const std::string& header, const std::string& claims,
                           const std::string& secret) {
  std::string bytes = EncodeBase64Url(header) + "." + EncodeBase64Url(claims);
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  Must(HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
            reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
            hash, &size) != nullptr);
  return bytes + "." + EncodeBase64Url({reinterpret_cast<char*>(hash), size});
}

bool CanShakeHands(int port, int version) {
  OpensslHandle<SSL_CTX, SSL_CTX_free> context(
      SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_min_proto_version(context.get(), version);
  SSL_CTX_set_max_proto_version(context.get(), version);
  // Old versions are off by default on this side too.
  SSL_CTX_set_cipher_list(context.get(), "DEFAULT:@SECLEVEL=0");
  Bio bio(BIO_new_ssl_connect(context.get()));
  SSL* connection = nullptr;
  BIO_get_ssl(bio.get(), &connection);
  // gRPC wants it said.
  static constexpr unsigned char kHttp2[] = "\x02h2";
  SSL_set_alpn_protos(connection, kHttp2, 3);
  std::string address = "127.0.0.1:" + std::to_string(port);
  BIO_set_conn_hostname(bio.get(), address.c_str());
  bool good = BIO_do_handshake(bio.get()) == 1;
  ERR_clear_error();
  return good;
}

bool WaitUntil(const std::function<bool()>& done) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

void WriteText(const std::string& path, const std::string& text) {
  // As certificates should be renewed: aside, then in one step.
  std::ofstream(path + ".new", std::ios::trunc | std::ios::binary) << text;
  std::filesystem::rename(path + ".new", path);
}

}  // namespace fold
