#include "compiler/compiler.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "compiler/annotate/table_reader.h"
#include "compiler/emit/emitter.h"
#include "compiler/import/onnx_importer.h"
#include "compiler/ir/text.h"
#include "compiler/lineage.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/plan_arena.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/pass_manager.h"
#include "compiler/passes/pipeline.h"
#include "compiler/passes/stage_check.h"

namespace fold {
namespace {

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

PassSummary Summarize(const PassRecord& record) {
  PassSummary summary;
  summary.name = record.name;
  summary.nodes_before = record.nodes_before;
  summary.nodes_after = record.nodes_after;
  summary.fake_quant_before = record.fake_quant_before;
  summary.fake_quant_after = record.fake_quant_after;
  summary.constant_bytes_before = record.constant_bytes_before;
  summary.constant_bytes_after = record.constant_bytes_after;
  summary.rewrites = record.rewrites;
  summary.seconds = record.seconds;
  for (const Refusal& refusal : record.kept) {
    summary.kept.push_back({refusal.node, refusal.reason});
  }
  for (const Refusal& decision : record.decided) {
    summary.decided.push_back({decision.node, decision.reason});
  }
  return summary;
}

Exactness FromFormat(format_::Exactness exactness) {
  return static_cast<Exactness>(static_cast<int>(exactness));
}

// One compile, step by step; each step returns false after an error.
class Compilation {
 public:
  Compilation(const TargetDescriptor& target, const CompileOptions& options)
      : target_(target), options_(options) {
    passes_ = options.passes.empty() ? StandardPipeline() : options.passes;
    total_ = static_cast<int>(passes_.size()) + 4;
  }

  CompileResult Run(std::span<const uint8_t> model) {
    const auto start = std::chrono::steady_clock::now();
    const bool good = Import(model) && Optimize() && LowerGraph() && Finish();
    result_.report.diagnostics = sink_.all();
    result_.report.seconds = SecondsSince(start);
    result_.report.prover_seconds = program_.prover_seconds;
    result_.exit_code = sink_.exit_code();
    if (!good && result_.exit_code == 0) result_.exit_code = 5;
    if (result_.exit_code != 0) result_.artifact.clear();
    return std::move(result_);
  }

 private:
  void Step(std::string_view name) {
    if (options_.progress) options_.progress(name, step_, total_);
    ++step_;
  }

  void Time(const char* name, std::chrono::steady_clock::time_point start) {
    PassSummary summary;
    summary.name = name;
    summary.nodes_before = summary.nodes_after =
        static_cast<int64_t>(graph_.node_count());
    summary.seconds = SecondsSince(start);
    result_.report.passes.push_back(summary);
  }

  void Dump(std::string_view after) {
    const auto& wanted = options_.dump_after;
    if (options_.dump &&
        std::find(wanted.begin(), wanted.end(), after) != wanted.end()) {
      options_.dump(after, Print(graph_, Ops()));
    }
  }

  bool Import(std::span<const uint8_t> model) {
    Step("import");
    const auto start = std::chrono::steady_clock::now();
    ImportOptions import;
    import.shapes = options_.shapes;
    import.external_files = options_.external_files;
    if (!ImportOnnx(model, import, &graph_, &sink_)) return false;
    for (uint32_t i = 0; i < graph_.value_count(); ++i) {
      value_names_.insert(graph_.value(ValueId(i)).name);
    }
    std::string fault = CheckNodes(graph_);
    if (fault.empty()) fault = CheckStage(graph_, Stage::imported);
    if (!fault.empty()) {
      return sink_.Add(DiagnosticCode::shape_mismatch, "", fault);
    }
    if (options_.sheets) result_.report.imported = SummarizeGraph(graph_);
    result_.report.artifact.arena_bytes_before_folding =
        ArenaBytesOf(graph_, kAlignment);
    Time("import", start);
    Dump("import");
    return true;
  }

  bool Optimize() {
    PassContext context;
    context.target = &target_;
    if (options_.encodings) {
      if (!ReadEncodingTable(*options_.encodings, &table_, &sink_))
        return false;
      context.encodings = &table_;
    }
    context.verify =
        options_.verify == CompileOptions::Verify::kOff    ? VerifyMode::kOff
        : options_.verify == CompileOptions::Verify::kEach ? VerifyMode::kEach
                                                           : VerifyMode::kEnd;
    std::vector<MigrationSheet> sheets;
    context.after = [&](const PassRecord& record, const Graph& graph) {
      PassSummary summary = Summarize(record);
      for (const MigrationSheet& sheet : sheets) {
        summary.sheets.push_back(SummarizeSheet(graph, sheet));
      }
      sheets.clear();
      result_.report.passes.push_back(std::move(summary));
      Dump(record.name);
      const size_t done = static_cast<size_t>(step_);
      Step(done < passes_.size() + 1 ? passes_[done - 1] : "lower");
    };
    Step(passes_.empty() ? "lower" : passes_[0]);
    if (!RunPasses(&graph_, passes_, context, &sink_,
                   options_.sheets ? &sheets : nullptr, nullptr)) {
      return false;
    }
    if (graph_.stage < Stage::fused) {
      const auto next = static_cast<Stage>(static_cast<int>(graph_.stage) + 1);
      const std::string fault = CheckStage(graph_, next);
      return sink_.Add(
          DiagnosticCode::pass_order, "lower",
          "requires stage fused, graph is " +
              std::string(StageName(graph_.stage)) + "; " +
              (fault.empty() ? "no pass that brings it there has run" : fault));
    }
    return true;
  }

  bool LowerGraph() {
    const auto start = std::chrono::steady_clock::now();
    LowerOptions lower;
    const BoundaryIo io = options_.io == BoundaryIo::kUnspecified
                              ? target_.default_io
                              : options_.io;
    lower.quantized_io = io == BoundaryIo::kQuantized;
    lower.taps = options_.taps;
    lower.tap_names = value_names_;
    if (options_.sheets) result_.report.lowered = SummarizeGraph(graph_);
    if (!Lower(graph_, target_, lower, &program_, &sink_)) return false;
    Time("lower", start);
    return true;
  }

  bool Finish() {
    Step("plan");
    auto start = std::chrono::steady_clock::now();
    OrderOps(&program_);
    PlanArena(&program_, kAlignment);
    Time("plan", start);
    if (!CheckRequirements()) return false;
    Step("emit");
    start = std::chrono::steady_clock::now();
    program_.artifact.compiler = options_.compiler_id;
    std::string fault;
    result_.artifact = Emit(program_, &fault);
    if (!fault.empty()) {
      return sink_.Add(DiagnosticCode::internal, "",
                       "the emitted artifact cannot be opened: " + fault);
    }
    Time("emit", start);
    return Describe();
  }

  bool CheckRequirements() {
    for (const auto& op : program_.artifact.ops) {
      const bool island =
          op->exactness == format_::Exactness::FLOAT ||
          (op->opcode >= format_::Opcode::F64_CONV && !op->boundary);
      const bool proved = op->exactness == format_::Exactness::PROVED;
      if (options_.require_integer_only && island) {
        sink_.Add(DiagnosticCode::not_integer_only, op->name,
                  "is evaluated in float; quantize its operands and its "
                  "result, or drop --require integer-only");
      }
      if (options_.require_exact && !proved) {
        sink_.Add(DiagnosticCode::not_exact, op->name, "is not proved exact");
      }
    }
    if (options_.require_exact) {
      const std::vector<Diagnostic> found = sink_.all();
      for (const Diagnostic& diagnostic : found) {
        if (diagnostic.code != DiagnosticCode::nan_reachable) continue;
        sink_.Add(DiagnosticCode::not_exact, diagnostic.node,
                  diagnostic.message);
      }
    }
    return !sink_.has_error();
  }

  bool Describe() {
    CompileReport& report = result_.report;
    ArtifactSummary& artifact = report.artifact;
    artifact.size_bytes = static_cast<int64_t>(result_.artifact.size());
    artifact.integer_only = true;
    for (const auto& op : program_.artifact.ops) {
      const Exactness exactness = FromFormat(op->exactness);
      artifact.exactness = std::max(artifact.exactness, exactness);
      const bool float_op = op->exactness == format_::Exactness::FLOAT;
      if (float_op) artifact.integer_only = false;
      if (op->boundary) continue;
      OpSummary summary;
      summary.name = op->name;
      summary.kind = KernelName(op->opcode);
      summary.sources = op->sources;
      summary.exactness = exactness;
      summary.error_steps = static_cast<int64_t>(op->error_steps);
      report.ops.push_back(std::move(summary));
    }
    const auto& plan = *program_.artifact.plan;
    artifact.arena_bytes = static_cast<int64_t>(plan.arena_bytes);
    artifact.peak_lower_bound = static_cast<int64_t>(plan.peak_lower_bound);
    artifact.constant_bytes =
        static_cast<int64_t>(program_.artifact.constants.size());
    DescribeMemory(report);
    return CheckBudgets(artifact);
  }

  // Constants and arena each go to the first memory that may hold them.
  void DescribeMemory(CompileReport& report) {
    bool constants = false, arena = false;
    for (const TargetMemory& memory : target_.memories) {
      MemorySummary summary;
      summary.name = memory.name;
      summary.size_bytes = memory.size_bytes;
      const auto may = [&](MemoryUse use) {
        return std::find(memory.uses.begin(), memory.uses.end(), use) !=
               memory.uses.end();
      };
      if (!constants && may(MemoryUse::kConstants)) {
        summary.constant_bytes = report.artifact.constant_bytes;
        constants = true;
      }
      if (!arena && may(MemoryUse::kArena)) {
        summary.arena_bytes = report.artifact.arena_bytes;
        arena = true;
      }
      report.memory.push_back(std::move(summary));
    }
  }

  bool CheckBudgets(const ArtifactSummary& artifact) {
    const auto& budgets = target_.budgets;
    if (budgets.ram_bytes && artifact.arena_bytes > *budgets.ram_bytes) {
      sink_.Add(DiagnosticCode::over_budget, "",
                "the arena takes " + std::to_string(artifact.arena_bytes) +
                    " bytes of RAM, the budget is " +
                    std::to_string(*budgets.ram_bytes));
    }
    if (budgets.flash_bytes && artifact.size_bytes > *budgets.flash_bytes) {
      sink_.Add(DiagnosticCode::over_budget, "",
                "the artifact takes " + std::to_string(artifact.size_bytes) +
                    " bytes of flash, the budget is " +
                    std::to_string(*budgets.flash_bytes));
    }
    for (const MemorySummary& memory : result_.report.memory) {
      if (memory.constant_bytes + memory.arena_bytes > memory.size_bytes) {
        sink_.Add(
            DiagnosticCode::over_budget, memory.name,
            "holds " + std::to_string(memory.size_bytes) + " bytes, and " +
                std::to_string(memory.constant_bytes + memory.arena_bytes) +
                " are needed");
      }
    }
    return !sink_.has_error();
  }

  static constexpr int64_t kAlignment = 64;  // of the arena's tensors, bytes
  const TargetDescriptor& target_;
  const CompileOptions& options_;
  std::vector<std::string> passes_;
  int step_ = 0, total_ = 0;
  Graph graph_;
  EncodingTable table_;
  std::set<std::string> value_names_;  // as imported
  Program program_;
  Diagnostics sink_;
  CompileResult result_;
};

}  // namespace

CompileResult Compile(std::span<const uint8_t> model,
                      const TargetDescriptor& target,
                      const CompileOptions& options) {
  return Compilation(target, options).Run(model);
}

void WarmCompiler() { WarmOnnx(); }

}  // namespace fold
