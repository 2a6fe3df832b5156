#include "compiler/lower/plan_arena.h"

#include <algorithm>
#include <map>

#include "compiler/plan/order.h"
#include "compiler/plan/planner.h"

namespace fold {
namespace {

// The tensor whose bytes `tensor` uses.
int RootOf(const Program& program, int tensor) {
  while (program.alias_of[tensor] >= 0) tensor = program.alias_of[tensor];
  return tensor;
}

struct Lifespan {
  int64_t lower = -1, upper = -1;
};

// From the op that writes a tensor to the last that reads it, aliases included.
std::map<int, Lifespan> LifespansOf(const Program& program) {
  std::map<int, Lifespan> spans;
  const auto& ops = program.artifact.ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    const auto touch = [&](int tensor) {
      Lifespan& span = spans[RootOf(program, tensor)];
      if (span.lower < 0) span.lower = static_cast<int64_t>(i);
      span.upper = static_cast<int64_t>(i) + 1;
    };
    for (int tensor : ops[i]->inputs) touch(tensor);
    for (int tensor : ops[i]->outputs) touch(tensor);
  }
  return spans;
}

}  // namespace

void OrderOps(Program* program) {
  auto& artifact = program->artifact;
  Dataflow flow;
  for (size_t t = 0; t < artifact.tensors.size(); ++t) {
    const auto& tensor = *artifact.tensors[t];
    const bool own =
        program->alias_of[t] < 0 && tensor.storage == format_::Storage::ARENA;
    flow.tensors.push_back({own ? static_cast<int64_t>(tensor.bytes) : 0});
  }
  for (const auto& op : artifact.ops) {
    Dataflow::Operation operation;
    for (int t : op->inputs) operation.reads.push_back(RootOf(*program, t));
    for (int t : op->outputs) operation.writes.push_back(RootOf(*program, t));
    operation.scratch = static_cast<int64_t>(op->scratch_bytes);
    flow.operations.push_back(std::move(operation));
  }
  const OrderResult best = ChooseOrder(flow);
  if (best.order.size() != artifact.ops.size()) return;
  std::vector<std::unique_ptr<format_::OpT>> ordered;
  for (int i : best.order) ordered.push_back(std::move(artifact.ops[i]));
  artifact.ops = std::move(ordered);
}

void PlanArena(Program* program, int64_t alignment) {
  auto& artifact = program->artifact;
  Problem problem;
  std::vector<int> tensors;
  for (const auto& [tensor, span] : LifespansOf(*program)) {
    const auto& t = *artifact.tensors[tensor];
    if (t.storage != format_::Storage::ARENA) continue;
    problem.buffers.push_back({t.name, span.lower, span.upper,
                               static_cast<int64_t>(t.bytes), alignment});
    tensors.push_back(tensor);
  }
  for (size_t i = 0; i < artifact.ops.size(); ++i) {
    const auto bytes = static_cast<int64_t>(artifact.ops[i]->scratch_bytes);
    if (bytes == 0) continue;
    const auto step = static_cast<int64_t>(i);
    problem.buffers.push_back(
        {artifact.ops[i]->name, step, step + 1, bytes, alignment});
  }
  const PlanResult plan = PlanMemory(problem, PlanOptions());
  size_t next = 0;
  for (; next < tensors.size(); ++next) {
    artifact.tensors[tensors[next]]->offset =
        static_cast<uint64_t>(plan.solution.offsets[next]);
  }
  for (auto& op : artifact.ops) {
    if (op->scratch_bytes == 0) continue;
    op->scratch_offset = static_cast<uint64_t>(plan.solution.offsets[next++]);
  }
  for (size_t t = 0; t < artifact.tensors.size(); ++t) {
    const int root = RootOf(*program, static_cast<int>(t));
    artifact.tensors[t]->storage = artifact.tensors[root]->storage;
    artifact.tensors[t]->offset = artifact.tensors[root]->offset;
  }
  artifact.plan = std::make_unique<format_::PlanT>();
  artifact.plan->arena_bytes = static_cast<uint64_t>(plan.solution.height);
  artifact.plan->arena_alignment = static_cast<uint32_t>(alignment);
  artifact.plan->peak_lower_bound = static_cast<uint64_t>(plan.lower_bound);
}

int64_t ArenaBytesOf(const Graph& graph, int64_t alignment) {
  std::vector<Lifespan> spans(graph.value_count());
  int64_t step = 0;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    for (ValueId v : node.results) {
      if (v.valid()) spans[v.index] = {step, step + 1};
    }
    for (ValueId v : node.operands) {
      if (v.valid()) spans[v.index].upper = step + 1;
    }
    ++step;
  }
  Problem problem;
  for (uint32_t i = 0; i < spans.size(); ++i) {
    const Value& value = graph.value(ValueId(i));
    if (value.constant || spans[i].lower < 0) continue;
    problem.buffers.push_back(
        {value.name, spans[i].lower, spans[i].upper,
         ElementCount(value.type.shape) * ElementSize(value.type.element),
         alignment});
  }
  return PlanMemory(problem, PlanOptions()).solution.height;
}

}  // namespace fold
