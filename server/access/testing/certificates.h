// For tests: certificates, keys and signed tokens, made when they are needed.
#ifndef FOLD_SERVER_ACCESS_TESTING_CERTIFICATES_H_
#define FOLD_SERVER_ACCESS_TESTING_CERTIFICATES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "openssl/types.h"

namespace fold {

struct TestKeyPair {
  std::string certificate, key;  // PEM
};

struct TestSubject {
  std::string common_name;
  // As OpenSSL writes them: "DNS:localhost,IP:127.0.0.1,URI:spiffe://a/b".
  std::string alternative_names;
  int64_t valid_seconds = 3600;  // from now; below 0: it has expired
};

class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name);
  const std::string& certificate() const { return pair_.certificate; }
  TestKeyPair Issue(const TestSubject& subject) const;
  // For localhost and 127.0.0.1.
  TestKeyPair IssueForServer(int64_t valid_seconds = 3600) const;

 private:
  std::shared_ptr<EVP_PKEY> key_;
  std::shared_ptr<X509> root_;
  TestKeyPair pair_;
};

// Signs JSON Web Tokens. `kind`: "RS256", "ES256", "EdDSA".
class TestSigner {
 public:
  TestSigner(const std::string& kind, const std::string& key_id,
             int rsa_bits = 2048);
  // The public key as a JWK.
  std::string Jwk() const;
  // The public key as PEM, which an attacker may take for an HMAC's secret.
  std::string PublicPem() const;
  // Header and claims are JSON.
  std::string Sign(const std::string& header, const std::string& claims) const;
  // With the right header.
  std::string Sign(const std::string& claims) const;

 private:
  const std::string kind_, key_id_;
  std::shared_ptr<EVP_PKEY> key_;
};

// A token whose signature is HMAC-SHA-256 with that secret.
std::string SignWithSecret(const std::string& header, const std::string& claims,
                           const std::string& secret);

// Whether a server on a port of this machine shakes hands with a client that
// speaks one version alone (TLS1_1_VERSION …) and takes any certificate.
bool CanShakeHands(int port, int version);

// Waits until `done` says so, 20 seconds at most; whether it did.
bool WaitUntil(const std::function<bool()>& done);

void WriteText(const std::string& path, const std::string& text);

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_TESTING_CERTIFICATES_H_
