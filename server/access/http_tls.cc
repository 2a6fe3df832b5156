#include "server/access/http_tls.h"

#include "openssl/err.h"
#include "openssl/pem.h"
#include "openssl/ssl.h"
#include "openssl/x509v3.h"
#include "server/access/openssl_handle.h"

namespace fold {
namespace {

using Bio = OpensslHandle<BIO, BIO_free_all>;
using Certificate = OpensslHandle<X509, X509_free>;
using PrivateKey = OpensslHandle<EVP_PKEY, EVP_PKEY_free>;
using CertificateStore = OpensslHandle<X509_STORE, X509_STORE_free>;
using Names = OpensslHandle<GENERAL_NAMES, GENERAL_NAMES_free>;

void FreeStack(STACK_OF(X509) * stack) { sk_X509_pop_free(stack, X509_free); }
using CertificateStack = OpensslHandle<STACK_OF(X509), FreeStack>;

// All certificates of a PEM text that was checked before.
std::vector<Certificate> ReadCertificates(const std::string& pem) {
  Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::vector<Certificate> all;
  for (;;) {
    Certificate one(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (one == nullptr) break;
    all.push_back(std::move(one));
  }
  ERR_clear_error();
  return all;
}

std::string TextOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

void AddName(std::string name, std::vector<std::string>* out) {
  if (!name.empty() && name.find('\0') == std::string::npos) {
    out->push_back(std::move(name));
  }
}

}  // namespace

struct HttpTls::Loaded {
  std::shared_ptr<const CertificateBundle> bundle;
  Certificate certificate;
  PrivateKey key;
  CertificateStack chain;
  CertificateStore authorities;  // null: no client certificates
  std::vector<Certificate> authority_list;
};

HttpTls::HttpTls(std::shared_ptr<const CertificateSource> source)
    : source_(std::move(source)) {}

HttpTls::~HttpTls() = default;

bool HttpTls::SetUp(SSL_CTX* context) {
  // No session is taken up again: each handshake sees the certificates and the
  // authorities of its time.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_cert_cb(context, OnHandshake, this);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
         Current() != nullptr;
}

int HttpTls::OnHandshake(SSL* connection, void* self) {
  std::shared_ptr<const Loaded> loaded = static_cast<HttpTls*>(self)->Current();
  if (loaded == nullptr ||
      SSL_use_cert_and_key(connection, loaded->certificate.get(),
                           loaded->key.get(), loaded->chain.get(), 1) != 1) {
    return 0;
  }
  if (loaded->authorities != nullptr) {
    if (SSL_set1_verify_cert_store(connection, loaded->authorities.get()) !=
        1) {
      return 0;
    }
    for (const Certificate& authority : loaded->authority_list) {
      SSL_add_client_CA(connection, authority.get());
    }
    SSL_set_verify(connection, SSL_VERIFY_PEER, nullptr);
  }
  return 1;
}

std::shared_ptr<const HttpTls::Loaded> HttpTls::Current() {
  std::shared_ptr<const CertificateBundle> bundle = source_->current();
  std::lock_guard lock(mutex_);
  if (loaded_ != nullptr && loaded_->bundle == bundle) return loaded_;
  auto next = std::make_shared<Loaded>();
  next->bundle = bundle;
  std::vector<Certificate> all = ReadCertificates(bundle->certificate);
  Bio bio(BIO_new_mem_buf(bundle->key.data(),
                          static_cast<int>(bundle->key.size())));
  next->key.reset(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  next->chain.reset(sk_X509_new_null());
  // The source has checked all of it: what fails now is memory.
  if (all.empty() || next->key == nullptr || next->chain == nullptr) {
    return loaded_;
  }
  next->certificate = std::move(all.front());
  for (size_t i = 1; i < all.size(); ++i) {
    sk_X509_push(next->chain.get(), all[i].release());
  }
  if (!bundle->client_ca.empty()) {
    next->authority_list = ReadCertificates(bundle->client_ca);
    next->authorities.reset(X509_STORE_new());
    for (const Certificate& authority : next->authority_list) {
      X509_STORE_add_cert(next->authorities.get(), authority.get());
    }
  }
  loaded_ = std::move(next);
  return loaded_;
}

std::vector<std::string> PeerIdentities(const SSL* connection) {
  if (connection == nullptr || SSL_get_verify_result(connection) != X509_V_OK) {
    return {};
  }
  const X509* certificate = SSL_get0_peer_certificate(connection);
  return certificate == nullptr ? std::vector<std::string>()
                                : IdentitiesOf(certificate);
}

std::vector<std::string> IdentitiesOf(const X509* certificate) {
  std::vector<std::string> identities;
  Names names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int type : {GEN_URI, GEN_DNS}) {
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
      const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
      if (name->type == type) AddName(TextOf(name->d.ia5), &identities);
    }
  }
  X509_NAME* subject = X509_get_subject_name(certificate);
  int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at >= 0) {
    AddName(TextOf(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))),
            &identities);
  }
  return identities;
}

}  // namespace fold
