#include "server/access/certificate_source.h"

#include <ctime>

#include "openssl/err.h"
#include "openssl/pem.h"
#include "openssl/x509.h"
#include "server/access/openssl_handle.h"
#include "spdlog/spdlog.h"

namespace fold {
namespace {

using Bio = OpensslHandle<BIO, BIO_free_all>;
using Certificate = OpensslHandle<X509, X509_free>;
using PrivateKey = OpensslHandle<EVP_PKEY, EVP_PKEY_free>;

Bio ReadBio(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// OpenSSL would ask a terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

int64_t NotAfter(const X509* certificate) {
  std::tm time = {};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) != 1) return 0;
  return timegm(&time);
}

absl::Status AtFault(const std::string& field, const std::string& path,
                     const std::string& message) {
  ERR_clear_error();
  return absl::InvalidArgumentError(field + ": '" + path + "' " + message);
}

// All certificates of a PEM text must be readable; how many there are.
int CountCertificates(const std::string& pem) {
  Bio bio = ReadBio(pem);
  int count = 0;
  for (;;) {
    Certificate one(
        PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr));
    if (one == nullptr) break;
    ++count;
  }
  bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  return at_end ? count : 0;
}

}  // namespace

absl::StatusOr<CertificateBundle> CheckCertificates(
    const CertificatePaths& paths, const WatchedFiles& files) {
  const std::pair<const char*, const std::string*> fields[] = {
      {"tls_certificate", &paths.certificate},
      {"tls_key", &paths.key},
      {"tls_client_ca", &paths.client_ca}};
  for (size_t i = 0; i < std::size(fields); ++i) {
    if (files[i].error.empty()) continue;
    return absl::InvalidArgumentError(std::string(fields[i].first) + ": " +
                                      files[i].error);
  }
  CertificateBundle bundle = {files[0].bytes, files[1].bytes, files[2].bytes};
  Certificate certificate(PEM_read_bio_X509(ReadBio(bundle.certificate).get(),
                                            nullptr, NoPassphrase, nullptr));
  if (certificate == nullptr || CountCertificates(bundle.certificate) == 0) {
    return AtFault("tls_certificate", paths.certificate,
                   "is no list of PEM certificates");
  }
  PrivateKey key(PEM_read_bio_PrivateKey(ReadBio(bundle.key).get(), nullptr,
                                         NoPassphrase, nullptr));
  if (key == nullptr) {
    return AtFault("tls_key", paths.key, "is no PEM key, or has a passphrase");
  }
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return AtFault("tls_key", paths.key,
                   "is not the key of '" + paths.certificate + "'");
  }
  if (!paths.client_ca.empty() && CountCertificates(bundle.client_ca) == 0) {
    return AtFault("tls_client_ca", paths.client_ca,
                   "is no list of PEM certificates");
  }
  bundle.not_after = NotAfter(certificate.get());
  return bundle;
}

CertificateSource::CertificateSource(CertificatePaths paths,
                                     std::vector<std::string> listeners,
                                     Metrics* metrics)
    : paths_(std::move(paths)),
      listeners_(std::move(listeners)),
      metrics_(metrics) {}

absl::StatusOr<std::unique_ptr<CertificateSource>> CertificateSource::Open(
    CertificatePaths paths, std::vector<std::string> listeners,
    Metrics* metrics, std::chrono::milliseconds interval) {
  std::vector<std::string> names = {paths.certificate, paths.key,
                                    paths.client_ca};
  WatchedFiles files = ReadWatchedFiles(names);
  auto bundle = CheckCertificates(paths, files);
  if (!bundle.ok()) return bundle.status();
  std::unique_ptr<CertificateSource> source(
      new CertificateSource(std::move(paths), std::move(listeners), metrics));
  source->Use(std::move(*bundle));
  source->watch_ = std::make_unique<FileWatch>(
      std::move(names), std::move(files), interval,
      [raw = source.get()](const auto& now) { raw->Reload(now); });
  return source;
}

void CertificateSource::Use(CertificateBundle bundle) {
  int64_t not_after = bundle.not_after;
  {
    std::lock_guard lock(mutex_);
    current_ = std::make_shared<const CertificateBundle>(std::move(bundle));
  }
  metrics_->Count(Metric::kAccessReloads, {"tls", "loaded"});
  for (const std::string& listener : listeners_) {
    metrics_->Set(Metric::kCertificateNotAfter, {listener},
                  static_cast<double>(not_after));
  }
  int64_t left = not_after - static_cast<int64_t>(std::time(nullptr));
  if (left <= 0) {
    spdlog::warn("the certificate {} has expired", paths_.certificate);
  } else {
    spdlog::info("the certificate {} holds for {} hours", paths_.certificate,
                 left / 3600);
  }
}

void CertificateSource::Reload(const WatchedFiles& files) {
  auto bundle = CheckCertificates(paths_, files);
  if (bundle.ok()) return Use(std::move(*bundle));
  metrics_->Count(Metric::kAccessReloads, {"tls", "refused"});
  spdlog::warn("the new certificate is not used: {}",
               std::string(bundle.status().message()));
}

std::shared_ptr<const CertificateBundle> CertificateSource::current() const {
  std::lock_guard lock(mutex_);
  return current_;
}

}  // namespace fold
