#include "server/http_port.h"

#include <charconv>

#include "compiler/api/sha256.h"
#include "httplib.h"
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

void ServeBlob(Store* blobs, httplib::Request& request,
               httplib::Response& response) {
  std::string hash = request.matches[1];
  if (!IsSha256Hex(hash)) return Answer(response, 404, "not a digest");
  std::string etag = "\"" + hash + "\"";
  response.set_header("ETag", etag);
  response.set_header("Cache-Control", "max-age=31536000, immutable");
  response.set_header("Accept-Ranges", "bytes");
  Key key = {Space::kBlob, hash};
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

}  // namespace

struct HttpPort::Parts {
  httplib::Server server;
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
  httplib::Server& server = parts->server;
  const HttpHandlers& use = parts->handlers;
  server.Get("/livez", [](const auto&, auto& response) {
    Answer(response, 200, "alive");
  });
  server.Get("/readyz", [&use](const auto&, auto& response) {
    absl::Status ready = use.ready();
    std::string text = ready.ok() ? "ready" : std::string(ready.message());
    if (use.about) text += "\n" + use.about();
    Answer(response, ready.ok() ? 200 : 503, text);
  });
  server.Get("/metrics", [&use](const auto&, auto& response) {
    response.set_content(use.metrics(), kMetricsText);
  });
  server.Get("/v1/blobs/([0-9a-f]+)", [&use](const httplib::Request& request,
                                             auto& response) {
    // The library keeps its request mutable, and hands it on const.
    ServeBlob(use.blobs, const_cast<httplib::Request&>(request), response);
  });
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
      [raw = parts.get()] { raw->server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();
  return std::unique_ptr<HttpPort>(new HttpPort(std::move(parts)));
}

HttpPort::~HttpPort() { parts_->server.stop(); }

int HttpPort::port() const { return parts_->port; }

}  // namespace fold
