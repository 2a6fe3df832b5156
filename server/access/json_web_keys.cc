#include "server/access/json_web_keys.h"

#include <array>
#include <optional>
#include <set>

#include "nlohmann/json.hpp"
#include "openssl/bn.h"
#include "openssl/core_names.h"
#include "openssl/ec.h"
#include "openssl/ecdsa.h"
#include "openssl/err.h"
#include "openssl/evp.h"
#include "openssl/param_build.h"
#include "server/access/base64url.h"
#include "server/access/openssl_handle.h"

namespace fold {
namespace {

using Json = nlohmann::json;
using PkeyContext = OpensslHandle<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using DigestContext = OpensslHandle<EVP_MD_CTX, EVP_MD_CTX_free>;
using Parameters = OpensslHandle<OSSL_PARAM, OSSL_PARAM_free>;
using ParameterBuilder = OpensslHandle<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
using BigNumber = OpensslHandle<BIGNUM, BN_free>;
using EcdsaSignature = OpensslHandle<ECDSA_SIG, ECDSA_SIG_free>;

constexpr size_t kCoordinateBytes = 32;  // of P-256
constexpr int kMinRsaBits = 2048;
constexpr int kMaxRsaBits = 8192;  // more only burns time

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

BigNumber ToNumber(std::string_view bytes) {
  return BigNumber(
      BN_bin2bn(Bytes(bytes), static_cast<int>(bytes.size()), nullptr));
}

std::shared_ptr<EVP_PKEY> Owned(EVP_PKEY* key) {
  ERR_clear_error();
  return {key, EVP_PKEY_free};
}

// A public key of its parameters; null if they are none.
std::shared_ptr<EVP_PKEY> FromParameters(const char* type,
                                         OSSL_PARAM_BLD* builder) {
  Parameters parameters(OSSL_PARAM_BLD_to_param(builder));
  PkeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (parameters == nullptr || context == nullptr ||
      EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY,
                        parameters.get()) != 1) {
    key = nullptr;
  }
  return Owned(key);
}

std::shared_ptr<EVP_PKEY> RsaKey(std::string_view modulus,
                                 std::string_view exponent) {
  ParameterBuilder builder(OSSL_PARAM_BLD_new());
  BigNumber n = ToNumber(modulus), e = ToNumber(exponent);
  if (builder == nullptr || n == nullptr || e == nullptr ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) !=
          1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) !=
          1) {
    return nullptr;
  }
  return FromParameters("RSA", builder.get());
}

std::shared_ptr<EVP_PKEY> EcKey(std::string_view x, std::string_view y) {
  ParameterBuilder builder(OSSL_PARAM_BLD_new());
  std::string point = "\x04" + std::string(x) + std::string(y);
  if (builder == nullptr || x.size() != kCoordinateBytes ||
      y.size() != kCoordinateBytes ||
      OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME,
                                      "prime256v1", 0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY,
                                       point.data(), point.size()) != 1) {
    return nullptr;
  }
  return FromParameters("EC", builder.get());
}

// Reads one key of the set. Remembers the first fault.
class KeyReader {
 public:
  KeyReader(size_t index, const Json& json, std::string* fault)
      : path_("keys[" + std::to_string(index) + "]"),
        json_(json),
        fault_(fault) {}

  // Nothing: a fault, or a key that is not for us.
  std::optional<JsonWebKey> Read() {
    if (!json_.is_object()) return Fault("", "must be an object");
    std::string type = Text("kty");
    if (type == "oct" || json_.contains("k")) {
      return Fault(".kty", "is a secret key, not a public one");
    }
    if (json_.contains("d")) return Fault(".d", "is a private key");
    std::optional<SignatureAlgorithm> algorithm = Algorithm(type);
    if (!algorithm) return std::nullopt;
    if (std::string use = Text("use"); !use.empty() && use != "sig") {
      return std::nullopt;
    }
    if (std::string name = Text("alg");
        !name.empty() && name != AlgorithmName(*algorithm)) {
      return std::nullopt;
    }
    JsonWebKey key = {Text("kid"), *algorithm, nullptr};
    if (fault_->empty()) ReadMaterial(&key);
    if (!fault_->empty()) return std::nullopt;
    return key;
  }

 private:
  std::optional<SignatureAlgorithm> Algorithm(const std::string& type) {
    if (type == "RSA") return SignatureAlgorithm::kRs256;
    if (type == "EC" && Text("crv") == "P-256") {
      return SignatureAlgorithm::kEs256;
    }
    if (type == "OKP" && Text("crv") == "Ed25519") {
      return SignatureAlgorithm::kEdDsa;
    }
    if (type.empty()) Fault(".kty", "is missing");
    return std::nullopt;
  }
  void ReadMaterial(JsonWebKey* key) {
    switch (key->algorithm) {
      case SignatureAlgorithm::kRs256: {
        key->key = RsaKey(Decoded("n"), Decoded("e"));
        int bits = key->key == nullptr ? 0 : EVP_PKEY_get_bits(key->key.get());
        if (bits < kMinRsaBits || bits > kMaxRsaBits) {
          Fault(".n", "must have 2048 to 8192 bits");
        }
        return;
      }
      case SignatureAlgorithm::kEs256:
        key->key = EcKey(Decoded("x"), Decoded("y"));
        if (key->key == nullptr) Fault(".x", "is with y no point of P-256");
        return;
      case SignatureAlgorithm::kEdDsa: {
        std::string x = Decoded("x");
        key->key = Owned(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr,
                                                     Bytes(x), x.size()));
        if (key->key == nullptr) Fault(".x", "is no key of Ed25519");
        return;
      }
    }
  }
  // "" if it is not there.
  std::string Text(const std::string& name) {
    auto found = json_.find(name);
    if (found == json_.end()) return "";
    if (!found->is_string()) {
      Fault("." + name, "must be a string");
      return "";
    }
    return found->get<std::string>();
  }
  std::string Decoded(const std::string& name) {
    std::optional<std::string> bytes = DecodeBase64Url(Text(name));
    if (!bytes || bytes->empty()) {
      Fault("." + name, "must be base64url without padding");
    }
    return bytes.value_or("");
  }
  std::nullopt_t Fault(const std::string& name, const std::string& message) {
    if (fault_->empty()) *fault_ = path_ + name + ": " + message;
    return std::nullopt;
  }

  const std::string path_;
  const Json& json_;
  std::string* const fault_;
};

// A JWS has r and s side by side, OpenSSL wants them in DER; empty if the
// signature has another length.
std::string ToDer(std::string_view signature) {
  if (signature.size() != 2 * kCoordinateBytes) return "";
  BigNumber r = ToNumber(signature.substr(0, kCoordinateBytes));
  BigNumber s = ToNumber(signature.substr(kCoordinateBytes));
  EcdsaSignature pair(ECDSA_SIG_new());
  if (r == nullptr || s == nullptr || pair == nullptr ||
      ECDSA_SIG_set0(pair.get(), r.get(), s.get()) != 1) {
    return "";
  }
  (void)r.release();  // the pair owns them
  (void)s.release();
  unsigned char* der = nullptr;
  int size = i2d_ECDSA_SIG(pair.get(), &der);
  if (size <= 0) return "";
  std::string out(reinterpret_cast<char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);
  return out;
}

}  // namespace

std::string_view AlgorithmName(SignatureAlgorithm algorithm) {
  static constexpr std::string_view kNames[] = {"RS256", "ES256", "EdDSA"};
  return kNames[static_cast<size_t>(algorithm)];
}

std::string ParseJsonWebKeys(std::string_view text,
                             std::vector<JsonWebKey>* out) {
  out->clear();
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return "is not valid JSON";
  if (!json.is_object()) return "must be one JSON object";
  auto keys = json.find("keys");
  if (keys == json.end() || !keys->is_array()) return "keys: must be a list";
  std::string fault;
  std::set<std::string> ids;
  for (size_t i = 0; i < keys->size() && fault.empty(); ++i) {
    auto key = KeyReader(i, (*keys)[i], &fault).Read();
    if (!key) continue;
    if (!ids.insert(key->id).second) {
      return "keys[" + std::to_string(i) + "].kid: is that of an earlier key";
    }
    out->push_back(std::move(*key));
  }
  if (fault.empty() && out->empty()) {
    return "keys: has none for RS256, ES256 (P-256) or EdDSA (Ed25519)";
  }
  return fault;
}

bool VerifySignature(const JsonWebKey& key, std::string_view bytes,
                     std::string_view signature) {
  DigestContext context(EVP_MD_CTX_new());
  const EVP_MD* digest = key.algorithm == SignatureAlgorithm::kEdDsa
                             ? nullptr  // part of the algorithm itself
                             : EVP_sha256();
  std::string der;
  if (key.algorithm == SignatureAlgorithm::kEs256) {
    der = ToDer(signature);
    signature = der;
  }
  bool good =
      context != nullptr && !signature.empty() &&
      EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr,
                           key.key.get()) == 1 &&
      EVP_DigestVerify(context.get(), Bytes(signature), signature.size(),
                       Bytes(bytes), bytes.size()) == 1;
  ERR_clear_error();
  return good;
}

}  // namespace fold
