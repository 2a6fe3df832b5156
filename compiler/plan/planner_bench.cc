// Time and height of plans. FOLD_PLAN_CASES names a folder of problems as CSV
// (problem_csv.h); without it, problems are drawn from seeds.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/plan/plan_cases.h"
#include "compiler/plan/planner.h"
#include "compiler/plan/problem_csv.h"

namespace fold {
namespace {

void Measure(benchmark::State& state, const Problem& problem,
             const PlanOptions& options) {
  PlanResult result;
  for (auto _ : state) {
    result = PlanMemory(problem, options);
    benchmark::DoNotOptimize(result);
  }
  state.counters["height"] = static_cast<double>(result.solution.height);
  state.counters["over_bound"] =
      static_cast<double>(result.solution.height) /
      static_cast<double>(std::max<int64_t>(result.lower_bound, 1));
  state.counters["nodes"] = static_cast<double>(result.nodes);
}

void RegisterProblem(const std::string& name, const Problem& problem) {
  for (int64_t budget : {0, 100'000}) {
    PlanOptions options;
    options.exact = budget > 0;
    options.node_budget = budget;
    const std::string label = name + (budget ? "/exact_search" : "/first_fit");
    benchmark::RegisterBenchmark(label.c_str(), [=](benchmark::State& state) {
      Measure(state, problem, options);
    })->Unit(benchmark::kMillisecond);
  }
}

void RegisterFolder(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::ifstream stream(file);
    std::stringstream text;
    text << stream.rdbuf();
    Problem problem;
    const std::string fault = ReadProblemCsv(text.str(), &problem);
    if (!fault.empty()) {
      std::fprintf(stderr, "%s: %s\n", file.c_str(), fault.c_str());
      continue;
    }
    RegisterProblem(file.stem(), problem);
  }
}

const bool kRegistered = [] {
  const char* folder = std::getenv("FOLD_PLAN_CASES");
  if (folder) {
    RegisterFolder(folder);
    return true;
  }
  for (int count : {20, 100, 400}) {
    RegisterProblem("drawn_" + std::to_string(count),
                    DrawProblem(1, count, count / 2, 1000, true));
  }
  return true;
}();

}  // namespace
}  // namespace fold
