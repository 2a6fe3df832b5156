// TRANSPOSE, COPY, CONCAT, PAD, SLICE: labels are moved as the op moves
// elements, so that a wrong movement shows against the ONNX value's own
// elements here, or at the op that reads them.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "compiler/check/op_check.h"

namespace fold::check {
namespace {

using format::Opcode;

// Elements at start + i * step along each dimension; outside: -1.
std::vector<int64_t> IndexOf(const Shape& from, const Shape& to,
                             const std::vector<int64_t>& start,
                             const std::vector<int64_t>& step) {
  const std::vector<int64_t> strides = Strides(from);
  std::vector<int64_t> index = {0};
  for (size_t d = 0; d < to.size(); ++d) {
    std::vector<int64_t> next;
    next.reserve(index.size() * to[d]);
    for (const int64_t base : index) {
      for (int64_t i = 0; i < to[d]; ++i) {
        const int64_t at = start[d] + i * step[d];
        const bool inside = base >= 0 && at >= 0 && at < from[d];
        next.push_back(inside ? base + at * strides[d] : -1);
      }
    }
    index = std::move(next);
  }
  return index;
}

std::vector<int64_t> Wide(format::Span<int32_t> values) {
  return {values.data, values.data + values.size};
}

std::vector<int64_t> Wide(format::Span<int64_t> values) {
  return {values.data, values.data + values.size};
}

// A pad's value as the code that an element of this type then holds.
Label PadLabel(format::ElementType type, int64_t value) {
  switch (type) {
    case format::ElementType::S8:
      return ConstantLabel(static_cast<int8_t>(value));
    case format::ElementType::U8:
      return ConstantLabel(static_cast<uint8_t>(value));
    case format::ElementType::S16:
      return ConstantLabel(static_cast<int16_t>(value));
    case format::ElementType::U16:
      return ConstantLabel(static_cast<uint16_t>(value));
    case format::ElementType::S32:
      return ConstantLabel(static_cast<int32_t>(value));
    default:
      return kUnknownLabel;
  }
}

Labels Concatenated(CheckState* state, const format::Op& op) {
  const Shape out = PhysicalShape(state->tensor(op.outputs()->Get(0)));
  const int axis = op.parameters_as_ConcatParameters()->axis();
  const int64_t inner = Strides(out)[axis];
  const int64_t outer = ElementCount(out) / (inner * out[axis]);
  auto labels = std::make_shared<std::vector<Label>>();
  for (int64_t o = 0; o < outer; ++o) {
    for (const int32_t number : *op.inputs()) {
      const Labels part = state->contents(number).labels;
      if (!part) return nullptr;
      const int64_t run = inner * PhysicalShape(state->tensor(number))[axis];
      labels->insert(labels->end(), part->begin() + o * run,
                     part->begin() + (o + 1) * run);
    }
  }
  return labels;
}

Labels Moved(CheckState* state, const format::Op& op) {
  if (op.opcode() == Opcode::CONCAT) return Concatenated(state, op);
  Labels in = state->contents(op.inputs()->Get(0)).labels;
  if (!in || op.opcode() == Opcode::COPY) return in;
  const format::Tensor& tensor = state->tensor(op.inputs()->Get(0));
  const Shape from = PhysicalShape(tensor);
  const Shape to = PhysicalShape(state->tensor(op.outputs()->Get(0)));
  std::vector<int64_t> index;
  Label fill = kUnknownLabel;
  if (op.opcode() == Opcode::TRANSPOSE) {
    const auto* p = op.parameters_as_TransposeParameters();
    index = TransposeIndex(from, Wide(format::View(p->permutation())));
  } else if (op.opcode() == Opcode::PAD) {
    const auto* p = op.parameters_as_PadParameters();
    std::vector<int64_t> start = Wide(format::View(p->before()));
    for (int64_t& at : start) at = -at;
    fill = PadLabel(tensor.type(), p->value());
    index = IndexOf(from, to, start, std::vector<int64_t>(from.size(), 1));
  } else {
    const auto* p = op.parameters_as_SliceParameters();
    index = IndexOf(from, to, Wide(format::View(p->starts())),
                    Wide(format::View(p->steps())));
  }
  auto labels = std::make_shared<std::vector<Label>>();
  labels->reserve(index.size());
  for (const int64_t at : index) labels->push_back(at < 0 ? fill : (*in)[at]);
  return labels;
}

Shape WithoutOnes(const Shape& shape) {
  Shape result;
  for (const int64_t size : shape) {
    if (size != 1) result.push_back(size);
  }
  return result;
}

// Whether the labels are the value's elements in some order of its
// dimensions that has this physical shape.
bool InSomeLayout(const Value& value, const std::vector<Label>& labels,
                  const Shape& physical) {
  constexpr size_t kMostDimensions = 6;
  if (value.shape.size() > kMostDimensions) return false;
  std::vector<int64_t> order(value.shape.size());
  std::iota(order.begin(), order.end(), 0);
  const Shape wanted = WithoutOnes(physical);
  do {
    Shape permuted;
    for (const int64_t d : order) permuted.push_back(value.shape[d]);
    if (WithoutOnes(permuted) != wanted) continue;
    const std::vector<int64_t> index = TransposeIndex(value.shape, order);
    bool same = true;
    for (size_t i = 0; i < index.size() && same; ++i) {
      same = (*value.labels)[index[i]] == labels[i];
    }
    if (same) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

}  // namespace

Outcome CheckMovement(CheckState* state, const format::Op& op) {
  const int32_t out = op.outputs()->Get(0);
  const Contents& in = state->contents(op.inputs()->Get(0));
  if (op.opcode() == Opcode::COPY && !in.numbers.empty()) {
    return {Verdict::kVerified, "a constant", nullptr, in.numbers};
  }
  Labels labels = Moved(state, op);
  if (!labels) return Unchecked("its input is not known");
  const format::Tensor& tensor = state->tensor(out);
  const Value* value = state->network().Find(TensorName(tensor));
  Outcome outcome{Verdict::kVerified, "element by element", labels, {}};
  if (value == nullptr || !value->tracked() ||
      value->labels->size() != labels->size()) {
    outcome.detail = "compared where it is read";
    return outcome;
  }
  if (InSomeLayout(*value, *labels, PhysicalShape(tensor))) return outcome;
  std::vector<Label> have = *labels;
  std::vector<Label> want = *value->labels;
  std::sort(have.begin(), have.end());
  std::sort(want.begin(), want.end());
  if (have == want) {
    outcome.detail = "a rearrangement; its order is compared where it is read";
    return outcome;
  }
  outcome = Wrong("holds other elements than " + TensorName(tensor));
  outcome.labels = std::move(labels);
  return outcome;
}

Outcome CheckIsland(CheckState* state, const format::Op& op) {
  const format::Tensor& tensor = state->tensor(op.outputs()->Get(0));
  const Value* value = state->network().Find(TensorName(tensor));
  Outcome outcome{Verdict::kFloat, "float island: not proved", nullptr, {}};
  if (value != nullptr && value->tracked() &&
      value->size() == ElementCount(PhysicalShape(tensor))) {
    outcome.labels = value->labels;  // islands are in logical order
  }
  return outcome;
}

}  // namespace fold::check
