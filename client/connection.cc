#include "client/connection.h"

#include <algorithm>
#include <vector>

#include "compiler/api/report_file.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/support/client_interceptor.h"

namespace fold {
namespace {

constexpr std::string_view kPlainScheme = "grpc://";
constexpr std::string_view kTlsScheme = "grpcs://";
constexpr size_t kMaxPemBytes = size_t{1} << 20;
constexpr size_t kMaxTokenBytes = 8192;

struct Address {
  std::string host_port;
  bool tls = false;
  bool loopback = false;
};

std::string ParseAddress(const std::string& text, Address* out) {
  std::string_view rest = text;
  bool plain = rest.starts_with(kPlainScheme);
  bool tls = rest.starts_with(kTlsScheme);
  if (plain) rest.remove_prefix(kPlainScheme.size());
  if (tls) rest.remove_prefix(kTlsScheme.size());
  size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || colon == 0 ||
      rest.find("//") != std::string_view::npos) {
    return "--server: '" + text +
           "' is not HOST:PORT, grpc://HOST:PORT or grpcs://HOST:PORT";
  }
  std::string_view host = rest.substr(0, colon);
  out->host_port = std::string(rest);
  out->loopback =
      host == "localhost" || host == "[::1]" ||
      (host.starts_with("127.") &&
       host.find_first_not_of("0123456789.") == std::string_view::npos);
  out->tls = tls || (!plain && !out->loopback);
  return "";
}

// The text of an optional file; `field` is the flag that names it.
std::string ReadOptional(const std::string& field, const std::string& path,
                         size_t limit, std::string* out) {
  if (path.empty()) return "";
  std::string error = ReadWholeFile(path, limit, out);
  if (!error.empty()) return field + ": " + error;
  return out->empty() ? field + ": '" + path + "' is empty" : "";
}

std::string ReadToken(const ConnectOptions& options, std::string* token) {
  *token = options.token;
  if (!options.token_file.empty()) {
    std::string error =
        ReadOptional("--token-file", options.token_file, kMaxTokenBytes, token);
    if (!error.empty()) return error;
  }
  while (!token->empty() && (token->back() == '\n' || token->back() == '\r')) {
    token->pop_back();
  }
  // Anything else could not be a header's value.
  bool good = std::all_of(token->begin(), token->end(),
                          [](char c) { return c > 0x20 && c < 0x7f; });
  return good ? "" : "the token has characters that no token has";
}

std::string ReadPems(const ConnectOptions& options,
                     grpc::SslCredentialsOptions* pems) {
  if (options.certificate_file.empty() != options.key_file.empty()) {
    return "--tls-certificate and --tls-key go together";
  }
  std::string error = ReadOptional("--tls-ca", options.ca_file, kMaxPemBytes,
                                   &pems->pem_root_certs);
  if (error.empty()) {
    error = ReadOptional("--tls-certificate", options.certificate_file,
                         kMaxPemBytes, &pems->pem_cert_chain);
  }
  if (error.empty()) {
    error = ReadOptional("--tls-key", options.key_file, kMaxPemBytes,
                         &pems->pem_private_key);
  }
  return error;
}

// Adds the token to every call of a channel: gRPC's own call credentials are
// for encrypted channels only, and loopback needs none.
class TokenInterceptor : public grpc::experimental::Interceptor {
 public:
  explicit TokenInterceptor(const std::string* value) : value_(value) {}
  void Intercept(
      grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            grpc::experimental::InterceptionHookPoints::
                PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->emplace("authorization", *value_);
    }
    methods->Proceed();
  }

 private:
  const std::string* const value_;
};

class TokenInterceptorFactory
    : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  explicit TokenInterceptorFactory(std::string value)
      : value_(std::move(value)) {}
  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo*) override {
    return new TokenInterceptor(&value_);
  }

 private:
  const std::string value_;
};

}  // namespace

std::string MakeChannel(const ConnectOptions& options,
                        std::shared_ptr<grpc::Channel>* channel) {
  Address address;
  std::string token;
  grpc::SslCredentialsOptions pems;
  std::string error = ParseAddress(options.address, &address);
  if (error.empty()) error = ReadToken(options, &token);
  if (error.empty()) error = ReadPems(options, &pems);
  if (!error.empty()) return error;
  bool has_pems = !options.ca_file.empty() || !options.key_file.empty();
  if (!address.tls && has_pems) {
    return "--server: '" + options.address +
           "' is plaintext, and the --tls flags do nothing: grpcs:// is TLS";
  }
  if (!token.empty() && !address.tls && !address.loopback &&
      !options.token_in_plaintext) {
    return "--server: a token would cross the network unencrypted to '" +
           options.address + "'; use grpcs://, or --token-in-plaintext";
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  // A compile server is in one's own network: no proxy of the environment.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  std::vector<
      std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>>
      interceptors;
  if (!token.empty()) {
    interceptors.push_back(
        std::make_unique<TokenInterceptorFactory>("Bearer " + token));
  }
  *channel = grpc::experimental::CreateCustomChannelWithInterceptors(
      address.host_port,
      address.tls ? grpc::SslCredentials(pems)
                  : grpc::InsecureChannelCredentials(),
      arguments, std::move(interceptors));
  return "";
}

}  // namespace fold
