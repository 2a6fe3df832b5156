// Chooses the order in which operations run, so that few bytes live at one
// time. What the planner gets afterwards has this peak as its lower bound.
#ifndef FOLD_COMPILER_PLAN_ORDER_H_
#define FOLD_COMPILER_PLAN_ORDER_H_

#include <cstdint>
#include <vector>

namespace fold {

// Operations and the tensors between them, by index.
struct Dataflow {
  struct Tensor {
    int64_t size = 0;     // bytes
    bool output = false;  // lives to the end
  };
  struct Operation {
    // A tensor that no operation writes is an input: it lives from the start.
    // Each tensor is written at most once. Tensors may be read twice.
    std::vector<int> reads, writes;
    int64_t scratch = 0;  // bytes that live during this operation alone
  };
  std::vector<Tensor> tensors;
  std::vector<Operation> operations;
};

struct OrderOptions {
  // Partial orders that the beam may look at in all.
  int64_t state_budget = 50'000;
};

struct OrderResult {
  std::vector<int> order;  // all operations, each after what it reads
  int64_t peak = 0;        // the most bytes that live at one time
  bool proven_optimal = false;
};

// The most bytes that live at one time if operations run in this order. A
// tensor lives from the operation that writes it to the last that reads it.
// Requires a topological order of all operations.
int64_t PeakOf(const Dataflow& dataflow, const std::vector<int>& order);

// The best of the given order (0, 1, 2, … where it is topological), a greedy
// one and a beam search over sets of operations that have run, which is exact
// where no set had to be dropped. Equal peaks keep the earlier of the three.
// Deterministic. Empty order if the operations form a cycle, a tensor is
// written twice, or an index is out of range.
OrderResult ChooseOrder(const Dataflow& dataflow,
                        const OrderOptions& options = {});

}  // namespace fold

#endif  // FOLD_COMPILER_PLAN_ORDER_H_
