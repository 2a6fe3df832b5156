#include "server/http_port.h"

#include <charconv>

#include "compiler/api/sha256.h"
#include "httplib.h"
#include "server/access/http_tls.h"
#include "server/worker_pool.h"

namespace fold {
namespace {

constexpr char kText[] = "text/plain; charset=utf-8";
constexpr char kMetricsText[] = "text/plain; version=0.0.4; charset=utf-8";
constexpr char kBlob[] = "application/octet-stream";

void Answer(httplib::Response& response, int status, const std::string& text) {
  response.status = status;
  response.set_content(text + "\n", kText);
}

// The ranges of a request for `size` bytes: dropped where If-Range names other
// bytes; false if one of them starts behind the end.
bool CheckRanges(httplib::Request& request, const std::string& etag,
                 size_t size) {
  if (request.has_header("If-Range") &&
      request.get_header_value("If-Range") != etag) {
    request.ranges.clear();
  }
  for (const auto& [first, last] : request.ranges) {
    bool suffix = first < 0;
    if (suffix ? last == 0 : static_cast<size_t>(first) >= size) return false;
  }
  return true;
}

// As HTTP joins them, if there is more than one.
std::string Authorization(const httplib::Request& request) {
  std::string value;
  size_t count = request.get_header_value_count("Authorization");
  for (size_t i = 0; i < count; ++i) {
    value +=
        (i == 0 ? "" : ", ") + request.get_header_value("Authorization", i);
  }
  return value;
}

// Whether the caller is somebody; answers if not.
bool Identify(const HttpHandlers& use, const httplib::Request& request,
              httplib::Response& response, Principal* principal) {
  PeerFacts facts = {Authorization(request), PeerIdentities(request.ssl),
                     request.remote_addr};
  auto failure = use.gatekeeper->Identify(facts, principal);
  if (!failure) return true;
  response.set_header("WWW-Authenticate", "Bearer realm=\"foldd\"");
  Answer(response, 401, failure->reason + ": " + failure->message);
  return false;
}

void ServeMetrics(const HttpHandlers& use, const httplib::Request& request,
                  httplib::Response& response) {
  Principal principal;
  // Every role may read them.
  if (!use.metrics_open && !Identify(use, request, response, &principal)) {
    return;
  }
  response.set_content(use.metrics(), kMetricsText);
}

void ServeBlob(const HttpHandlers& use, const Key& key,
               httplib::Request& request, httplib::Response& response) {
  Store* blobs = use.blobs;
  const std::string& hash = key.hash;
  std::string etag = "\"" + hash + "\"";
  response.set_header("ETag", etag);
  // What one caller may see, a cache on the way must not give to another.
  std::string who = use.gatekeeper->open() ? "" : "private, ";
  response.set_header("Cache-Control", who + "max-age=31536000, immutable");
  response.set_header("Accept-Ranges", "bytes");
  if (request.get_header_value("If-None-Match") == etag && blobs->Touch(key)) {
    response.status = 304;
    return;
  }
  absl::StatusOr<Bytes> bytes = blobs->Get(key);
  if (!bytes.ok()) {
    response.headers.clear();
    bool gone =
        absl::IsNotFound(bytes.status()) || absl::IsDataLoss(bytes.status());
    if (!gone) response.set_header("Retry-After", "1");
    return Answer(response, gone ? 404 : 503, "no such blob");
  }
  if (!CheckRanges(request, etag, (*bytes)->size())) {
    request.ranges.clear();
    response.set_header("Content-Range",
                        "bytes */" + std::to_string((*bytes)->size()));
    return Answer(response, 416, "no such range");
  }
  response.set_content_provider(
      (*bytes)->size(), kBlob,
      [bytes = *bytes](size_t offset, size_t length, httplib::DataSink& sink) {
        return sink.write(bytes->data() + offset, length);
      });
}

// Looks at the store only after the caller was let in.
void ServeInstanceBlob(const HttpHandlers& use, const std::string& instance,
                       const std::string& hash, httplib::Request& request,
                       httplib::Response& response) {
  Principal principal;
  if (!Identify(use, request, response, &principal)) return;
  if (auto failure = use.gatekeeper->Admit(principal, Role::kRead, instance)) {
    return Answer(response, 403, failure->reason + ": " + failure->message);
  }
  if (!IsSha256Hex(hash)) return Answer(response, 404, "not a digest");
  ServeBlob(use, {Space::kBlob, hash, instance}, request, response);
}

void Route(const HttpHandlers& use, httplib::Server* server) {
  server->Get("/livez", [](const auto&, auto& response) {
    Answer(response, 200, "alive");
  });
  server->Get("/readyz", [&use](const auto&, auto& response) {
    absl::Status ready = use.ready();
    std::string text = ready.ok() ? "ready" : std::string(ready.message());
    if (use.about) text += "\n" + use.about();
    Answer(response, ready.ok() ? 200 : 503, text);
  });
  server->Get("/metrics", [&use](const auto& request, auto& response) {
    ServeMetrics(use, request, response);
  });
  // The library keeps its request mutable, and hands it on const.
  server->Get("/v1/blobs/([0-9a-f]+)", [&use](const httplib::Request& request,
                                              auto& response) {
    ServeInstanceBlob(use, "", request.matches[1],
                      const_cast<httplib::Request&>(request), response);
  });
  server->Get("/v1/([a-z0-9_-]+)/blobs/([0-9a-f]+)",
              [&use](const httplib::Request& request, auto& response) {
                ServeInstanceBlob(use, request.matches[1], request.matches[2],
                                  const_cast<httplib::Request&>(request),
                                  response);
              });
}

}  // namespace

struct HttpPort::Parts {
  std::unique_ptr<HttpTls> tls;  // null: none; outlives the server
  std::unique_ptr<httplib::Server> server;
  HttpHandlers handlers;
  int port = 0;
  std::unique_ptr<LoopThread> thread;
};

bool SplitAddress(const std::string& address, std::string* host, int* port) {
  size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  *host = address.substr(0, colon);
  if (host->front() == '[' && host->back() == ']') {
    *host = host->substr(1, host->size() - 2);
  } else if (host->find(':') != std::string::npos) {
    return false;
  }
  const char* end = address.data() + address.size();
  auto parsed = std::from_chars(address.data() + colon + 1, end, *port);
  return parsed.ec == std::errc() && parsed.ptr == end && *port >= 0 &&
         *port <= 65535;
}

HttpPort::HttpPort(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

absl::StatusOr<std::unique_ptr<HttpPort>> HttpPort::Start(
    const std::string& address, HttpHandlers handlers) {
  std::string host;
  int port = 0;
  if (!SplitAddress(address, &host, &port)) {
    return absl::InvalidArgumentError("http: '" + address +
                                      "' is not ADDRESS:PORT");
  }
  auto parts = std::make_unique<Parts>();
  parts->handlers = std::move(handlers);
  if (parts->handlers.certificates != nullptr) {
    parts->tls = std::make_unique<HttpTls>(parts->handlers.certificates);
    parts->server = std::make_unique<httplib::SSLServer>(
        [tls = parts->tls.get()](SSL_CTX& context) {
          return tls->SetUp(&context);
        });
  } else {
    parts->server = std::make_unique<httplib::Server>();
  }
  httplib::Server& server = *parts->server;
  if (!server.is_valid())
    return absl::InternalError("http: TLS does not start");
  Route(parts->handlers, &server);
  // A second server on the same port is an error, not a share of the calls.
  server.set_socket_options([](socket_t socket) {
    int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  });
  bool bound = true;
  if (port == 0) {
    parts->port = server.bind_to_any_port(host);
    bound = parts->port > 0;
  } else {
    bound = server.bind_to_port(host, port);
    parts->port = port;
  }
  if (!bound) return absl::UnavailableError("cannot listen on " + address);
  parts->thread = std::make_unique<LoopThread>(
      [raw = parts.get()] { raw->server->listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();
  return std::unique_ptr<HttpPort>(new HttpPort(std::move(parts)));
}

HttpPort::~HttpPort() {
  parts_->server->stop();
  parts_->thread.reset();
}

int HttpPort::port() const { return parts_->port; }

}  // namespace fold
