// foldrun: runs a .fold artifact on this machine, on arrays from a file, or for
// a time measurement.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/tools/session.h"

namespace {

using fold::tools::Arrays;
using fold::tools::Session;

constexpr int kDone = 0;
constexpr int kUsage = 2;
constexpr int kBadInput = 3;
constexpr int kInternal = 5;

constexpr char kHelp[] =
    R"(foldrun FILE [options]: runs a .fold artifact on this machine

  --inputs IN.npz     one array an input, under its ONNX name
  --outputs OUT.npz   where to write one array an output
  --taps              also write every tapped value (compile with --taps)
  --bench SECONDS     run again and again, print min_ms and median_ms
  --json              print the measurement as JSON
  --threads N         threads to use (default 1)
  --info              print the signature and the memory needed

FOLD_CPU_LEVEL=portable|avx2|avx512vnni caps the instruction set.
Exit codes: 0 done, 2 usage, 3 the artifact or the inputs are at fault,
5 internal error.
)";

struct Options {
  std::string file;
  std::string inputs;
  std::string outputs;
  bool taps = false;
  bool json = false;
  bool info = false;
  bool help = false;
  double bench = 0;
  int threads = 1;
};

int Complain(int code, const std::string& text) {
  std::fprintf(stderr, "foldrun: %s\n", text.c_str());
  return code;
}

bool ParseNumber(const std::string& text, double least, double most,
                 double* number) {
  char* end = nullptr;
  *number = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0' && *number >= least &&
         *number <= most;
}

// Flags as --name VALUE or --name=VALUE.
bool ParseOptions(const std::vector<std::string>& words, Options* options,
                  std::string* error) {
  for (size_t i = 0; i < words.size(); ++i) {
    std::string name = words[i];
    std::string value;
    const size_t equals = name.find('=');
    const bool attached =
        name.rfind("--", 0) == 0 && equals != std::string::npos;
    if (attached) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    bool* flag = name == "--taps"   ? &options->taps
                 : name == "--json" ? &options->json
                 : name == "--info" ? &options->info
                 : name == "--help" ? &options->help
                                    : nullptr;
    if (flag != nullptr && !attached) {
      *flag = true;
      continue;
    }
    if (name.rfind("--", 0) != 0) {
      if (!options->file.empty()) {
        *error = "more than one artifact: " + name;
        return false;
      }
      options->file = name;
      continue;
    }
    if (!attached && i + 1 < words.size()) value = words[++i];
    double number = 0;
    if (name == "--inputs" && !value.empty()) {
      options->inputs = value;
    } else if (name == "--outputs" && !value.empty()) {
      options->outputs = value;
    } else if (name == "--bench" && ParseNumber(value, 1e-6, 1e6, &number)) {
      options->bench = number;
    } else if (name == "--threads" && ParseNumber(value, 1, 256, &number)) {
      options->threads = static_cast<int>(number);
    } else {
      *error = "bad option " + name + (value.empty() ? "" : " " + value);
      return false;
    }
  }
  return true;
}

int Bench(const Options& options, Session* session) {
  using Clock = std::chrono::steady_clock;
  std::string error;
  if (!session->Run(nullptr, &error)) return Complain(kInternal, error);
  std::vector<double> times;
  const Clock::time_point start = Clock::now();
  double elapsed = 0;
  while (elapsed < options.bench || times.size() < 3) {
    const Clock::time_point before = Clock::now();
    if (!session->Run(nullptr, &error)) return Complain(kInternal, error);
    const Clock::time_point after = Clock::now();
    times.push_back(
        std::chrono::duration<double, std::milli>(after - before).count());
    elapsed = std::chrono::duration<double>(after - start).count();
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  const char* level = fold_cpu_level(&session->model());
  if (options.json) {
    std::printf(
        "{\"min_ms\": %.6f, \"median_ms\": %.6f, \"runs\": %zu, "
        "\"threads\": %d, \"cpu_level\": \"%s\"}\n",
        times.front(), median, times.size(), options.threads, level);
  } else {
    std::printf(
        "min_ms %.6f\nmedian_ms %.6f\nruns %zu\nthreads %d\n"
        "cpu_level %s\n",
        times.front(), median, times.size(), options.threads, level);
  }
  return kDone;
}

int RunOnce(const Options& options, Session* session) {
  std::string error;
  Arrays arrays;
  if (!session->Run(options.taps ? &arrays : nullptr, &error)) {
    return Complain(kInternal, error);
  }
  if (options.taps && fold_tap_count(&session->model()) == 0) {
    Complain(kDone, "note: the artifact was compiled without --taps");
  }
  for (auto& [name, array] : session->Outputs()) {
    arrays[name] = std::move(array);
  }
  if (!fold::tools::WriteNpz(options.outputs, arrays, &error)) {
    return Complain(kInternal, error);
  }
  return kDone;
}

int Main(const Options& options) {
  Session session;
  std::string error;
  if (!session.Open(options.file, options.threads, &error)) {
    return Complain(kBadInput, error);
  }
  if (options.info) std::fputs(session.Summary().c_str(), stdout);
  if (!options.inputs.empty()) {
    Arrays arrays;
    if (!fold::tools::ReadNpz(options.inputs, &arrays, &error) ||
        !session.SetInputs(arrays, &error)) {
      return Complain(kBadInput, error);
    }
  } else if (!options.outputs.empty() &&
             fold_input_count(&session.model()) > 0) {
    return Complain(kUsage, "--outputs needs --inputs");
  }
  if (!options.outputs.empty()) {
    const int code = RunOnce(options, &session);
    if (code != kDone) return code;
  }
  return options.bench > 0 ? Bench(options, &session) : kDone;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::string error;
  if (!ParseOptions(std::vector<std::string>(argv + 1, argv + argc), &options,
                    &error)) {
    return Complain(kUsage, error + "; see foldrun --help");
  }
  if (options.help) {
    std::fputs(kHelp, stdout);
    return kDone;
  }
  if (options.file.empty() ||
      (options.outputs.empty() && options.bench <= 0 && !options.info)) {
    return Complain(kUsage, "nothing to do; see foldrun --help");
  }
  return Main(options);
}
