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
  // The compiler, foldc; empty: beside foldd itself.
  std::string compiler_path;
  // Folder with more targets (*.textproto); empty: the built-in ones alone.
  std::string targets_folder;
  // Bytes that the cache may take on disk.
  int64_t cache_bytes = int64_t{10} << 30;
  // Bytes that the cache may take in memory.
  int64_t memory_cache_bytes = int64_t{256} << 20;
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
  // Seconds that running compiles are given when the server is stopped.
  int64_t drain_seconds = 60;
  // Text that parts this generation of cached results from others.
  std::string salt;
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
