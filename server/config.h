// What an operator can set. One row a field in config.cc: from it come the
// flags, --help and the keys of the configuration file (JSON).
#ifndef FOLD_SERVER_CONFIG_H_
#define FOLD_SERVER_CONFIG_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fold {

struct Config {
  // Address and port of gRPC; port 0 takes a free one.
  std::string listen = "127.0.0.1:50051";
  // Address and port of HTTP: metrics, probes, downloads; empty: no HTTP.
  std::string http = "127.0.0.1:8080";
  // Folder of the cache and of running jobs.
  std::string data = "foldd-data";
  // Compiles that run at the same time.
  int64_t workers = DefaultWorkers();
  // Compiles that wait for a worker; more are refused.
  int64_t queue_length = 256;
  // Seconds that a compile may wait for a worker.
  int64_t queue_seconds = 600;
  // The compiler, foldc; empty: beside foldd itself.
  std::string compiler_path;
  // Folder with more targets (*.textproto); empty: the built-in ones alone.
  std::string targets_folder;
  // Bytes that the cache may take on disk.
  int64_t cache_bytes = int64_t{10} << 30;
  // Bytes that the cache may take in memory.
  int64_t memory_cache_bytes = int64_t{256} << 20;
  // Bytes of one blob.
  int64_t max_blob_bytes = int64_t{8} << 30;
  // Seconds that a blob is kept for whoever sent it or asked for it.
  int64_t blob_lease_seconds = 3600;
  // Uploads under way, and seconds that one may rest before it is forgotten.
  int64_t max_uploads = 4096;
  int64_t upload_idle_seconds = 600;
  // Seconds and number of operations that are kept once they have ended.
  int64_t operation_retention_seconds = 7 * 86400;
  int64_t max_operations = 100'000;
  // A cache that is shared with other servers: grpc://HOST:PORT[/INSTANCE], or
  // grpcs:// with TLS, of anything that speaks the Remote Execution API's
  // cache; empty: none.
  std::string cache;
  // PEM of the authorities that sign its certificate; empty: the system's.
  std::string cache_ca_file;
  // File with the bearer token for it; empty: none.
  std::string cache_token_file;
  // That a lookup may be kept waiting by it.
  int64_t remote_timeout_milliseconds = 5000;
  // Bytes of results that wait to be sent to it; more are not sent.
  int64_t remote_queue_bytes = int64_t{256} << 20;
  // Bytes a second that the background check of the disk reads; 0: no check.
  int64_t scrub_bytes_per_second = int64_t{1} << 20;
  // Free bytes on the disk below which the server is not ready.
  int64_t min_free_bytes = int64_t{64} << 20;
  // Bytes of one message. More travels in pieces (google.bytestream).
  int64_t max_message_bytes = int64_t{4} << 20;
  // Bytes of all messages of callers that are in the server at one time.
  int64_t inflight_bytes = int64_t{256} << 20;
  // Calls that are in the server at one time.
  int64_t max_calls = 2048;
  // Seconds for a caller to send what it began, or to read what is sent.
  int64_t stall_seconds = 60;
  // Seconds that a call waits for bytes of inflight_bytes.
  int64_t inflight_wait_seconds = 10;
  // Limits of one job.
  int64_t job_memory_bytes = int64_t{8} << 30;
  int64_t job_cpu_seconds = 600;
  int64_t job_wall_seconds = 600;
  int64_t job_file_bytes = int64_t{1} << 30;
  int64_t job_open_files = 64;
  // Walls around compiles that must stand, or foldd does not start: none,
  // limits, seccomp or full (compiler/sandbox/walls.def).
  std::string sandbox_minimum = "seccomp";
  // Crashes of the compiler after which a model is refused; 0: never.
  int64_t crash_limit = 2;
  // Seconds for which it is refused, from its last crash.
  int64_t crash_refusal_seconds = 600;
  // Reproducer bundles of crashes that are kept, and their bytes.
  int64_t reproducer_count = 16;
  int64_t reproducer_bytes = int64_t{1} << 30;
  // Seconds after which dispatch that does not move makes the server not
  // ready; after twice that a compiler's parent that is silent is replaced.
  int64_t dispatch_stall_seconds = 30;
  // Seconds that running compiles are given when the server is stopped.
  int64_t drain_seconds = 60;
  // Text that parts this generation of cached results from others.
  std::string salt;
  // TLS of both ports: PEM files, read again when they change; empty: none.
  std::string tls_certificate;
  std::string tls_key;
  std::string tls_client_ca;
  // Whether clients are asked for certificates: none, request or require.
  std::string tls_client_auth = "none";
  // What a verified certificate without a row in tokens_file may do, in the
  // default instance: none (nothing), read, compile or administer.
  std::string unmapped_certificate_role = "none";
  // Static tokens and certificates (access/tokens_file.h), and keys of JSON
  // Web Tokens with the issuer and the audience that they must have.
  std::string tokens_file;
  std::string jwt_keys_file;
  std::string jwt_issuer;
  std::string jwt_audience;
  // Two walls that go down only for the right words (access/access_rules.h).
  std::string insecure_without_authentication;
  std::string insecure_tokens_in_plaintext;
  // /metrics needs no role even where there is authentication.
  bool http_metrics_open = false;
  // Of each principal; -1: unlimited.
  int64_t quota_requests_per_second = -1;
  int64_t quota_inflight_bytes = -1;
  int64_t quota_compiles = -1;
  // Folder of the audit log; empty: audit in the data folder.
  std::string audit_log;
  // debug, info, warn or error.
  std::string log_level = "info";
  // text, json, or auto: text on a terminal, JSON otherwise.
  std::string log_format = "auto";
  // Collector that takes traces as OTLP over HTTP, http(s)://HOST:PORT; or
  std::string otlp_endpoint;
  // a file that takes them, one request in JSON a line. Both empty: no traces.
  std::string otlp_file;
  // Part (0 to 1) of the traces that begin here which is recorded; a trace
  // that a caller began is recorded if the caller says so.
  double trace_ratio = 1;

  static int64_t DefaultWorkers();  // one a processor
};

// The command line: `--config FILE` first, wherever it stands, then the other
// flags. Returns what is wrong, or "". Sets `help` if --help is there.
std::string ParseServerLine(std::span<const std::string> arguments,
                            Config* config, bool* help);

// A configuration file's text: one JSON object with the fields of Config. An
// unknown key is an error with a suggestion.
std::string ParseConfigJson(std::string_view text, Config* config);

// All fields with their values, in the form of the configuration file.
std::string ConfigJson(const Config& config);

std::string ServerHelp();

}  // namespace fold

#endif  // FOLD_SERVER_CONFIG_H_
