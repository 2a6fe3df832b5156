#include "compiler/ir/derivation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/base/rounding.h"

namespace fold {
namespace {

bool SameNumber(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

bool IsPermutation(const std::vector<int64_t>& perm, size_t rank) {
  std::vector<int64_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int64_t>(i)) return false;
  }
  return perm.size() == rank;
}

TensorPtr Reshaped(const Tensor& from, const Shape& shape) {
  if (ElementCount(shape) != from.size()) return nullptr;
  auto out = std::make_shared<Tensor>(from);
  out->shape = shape;
  return out;
}

TensorPtr Collapsed(const Tensor& from, const Shape& shape) {
  if (from.size() == 0 || ElementCount(shape) != 1) return nullptr;
  for (int64_t i = 1; i < from.size(); ++i) {
    if (from.real(i) != from.real(0)) return nullptr;
  }
  auto out = std::make_shared<Tensor>();
  out->type = from.type;
  out->shape = shape;
  out->bytes.assign(from.bytes.begin(),
                    from.bytes.begin() + ElementSize(from.type));
  return out;
}

TensorPtr Negated(const Tensor& from) {
  if (!IsFloat(from.type)) return nullptr;
  std::vector<double> numbers(from.size());
  for (int64_t i = 0; i < from.size(); ++i) numbers[i] = -from.real(i);
  return MakeRealTensor(from.type, from.shape, numbers);
}

TensorPtr Cast(const Tensor& from, ElementType type) {
  const bool whole = IsInteger(type) && IsInteger(from.type);
  if (!whole && !IsFloat(type)) return nullptr;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  for (int64_t i = 0; i < from.size(); ++i) {
    if (whole) {
      integers.push_back(from.integer(i));
    } else {
      reals.push_back(from.real(i));
    }
  }
  TensorPtr cast = whole ? MakeIntegerTensor(type, from.shape, integers)
                         : MakeRealTensor(type, from.shape, reals);
  for (int64_t i = 0; i < from.size(); ++i) {
    const bool kept = whole ? cast->integer(i) == integers[i]
                            : SameNumber(cast->real(i), reals[i]);
    if (!kept) return nullptr;
  }
  return cast;
}

TensorPtr Quantized(const Tensor& from, ElementType element,
                    const TensorType& like) {
  if (!like.encoding || like.encoding->block > 0 || !IsInteger(element)) {
    return nullptr;
  }
  const Encoding& e = *like.encoding;
  int64_t inner = 1;
  if (!e.per_tensor()) {
    if (from.shape != like.shape) return nullptr;
    for (size_t d = e.axis + 1; d < from.shape.size(); ++d) {
      inner *= from.shape[d];
    }
  }
  TensorType type = like;
  type.element = element;
  std::vector<int64_t> codes(from.size());
  for (int64_t i = 0; i < from.size(); ++i) {
    const int64_t c = e.per_tensor() ? 0 : i / inner % from.shape[e.axis];
    codes[i] = CodeOfReal(from.real(i), type, c);
  }
  return MakeIntegerTensor(element, from.shape, codes);
}

// `x` has reached the step from k - 1 to k.
bool Reaches(double x, double scale, Rounding rounding, int64_t k) {
  const RoundingStep step = StepTo(rounding, k);
  const double at = static_cast<double>(step.twice) * scale;
  return 2 * x > at || (2 * x == at && step.takes);
}

// A reshape keeps the indices of an axis together only where the sizes before
// and behind it stay.
int AxisAfterReshape(const Shape& from, int axis, const Shape& to) {
  int64_t outer = 1;
  for (int d = 0; d < axis; ++d) outer *= from[d];
  int64_t before = 1;
  for (size_t d = 0; d < to.size(); ++d) {
    if (before == outer && to[d] == from[axis] && to[d] != 1) {
      return static_cast<int>(d);
    }
    before *= to[d];
  }
  return -1;
}

int AxisAfterPermutation(int axis, const std::vector<int64_t>& perm) {
  const auto at = std::find(perm.begin(), perm.end(), axis);
  return at == perm.end() ? -1 : static_cast<int>(at - perm.begin());
}

}  // namespace

int64_t CodeOfReal(double real, const TensorType& type, int64_t channel) {
  const Encoding& e = *type.encoding;
  const double scale = e.scale(channel);
  constexpr double kFar = 1099511627776.0;  // beyond every code, exact still
  int64_t q = 0;
  if (e.rounding == Rounding::kSign) {
    q = real >= 0 ? 1 : -1;
  } else if (!std::isnan(real) && scale > 0) {
    q = static_cast<int64_t>(
        std::nearbyint(std::clamp(real / scale, -kFar, kFar)));
    if (std::fabs(real / scale) < kFar) {
      const Rounding rounding = RoundingFor(e.rounding, e.zero_point(channel));
      while (Reaches(real, scale, rounding, q + 1)) ++q;
      while (!Reaches(real, scale, rounding, q)) --q;
    }
  }
  const int64_t low =
      std::max(LowestCode(type.element), e.code_low.value_or(INT64_MIN));
  const int64_t high =
      std::min(HighestCode(type.element), e.code_high.value_or(INT64_MAX));
  return std::max(low, std::min(high, q + e.zero_point(channel)));
}

TensorPtr PermuteTensor(const Tensor& from, const std::vector<int64_t>& perm) {
  const size_t rank = from.shape.size();
  if (!IsPermutation(perm, rank)) return nullptr;
  auto out = std::make_shared<Tensor>();
  out->type = from.type;
  out->bytes.reserve(from.bytes.size());
  std::vector<int64_t> strides(rank, 1);
  for (size_t d = rank; d-- > 1;) strides[d - 1] = strides[d] * from.shape[d];
  for (int64_t axis : perm) out->shape.push_back(from.shape[axis]);
  const int64_t size = ElementSize(from.type);
  std::vector<int64_t> index(rank, 0);
  for (int64_t i = 0; i < from.size(); ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < rank; ++d) at += index[d] * strides[perm[d]];
    const auto begin = from.bytes.begin() + at * size;
    out->bytes.insert(out->bytes.end(), begin, begin + size);
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < out->shape[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

TensorPtr Derive(const Tensor& from, const Derivation& step,
                 const TensorType& goal, const Graph& graph) {
  switch (step.kind) {
    case Derivation::Kind::kReshaped:
      return Reshaped(from, goal.shape);
    case Derivation::Kind::kPermuted:
      return PermuteTensor(from, step.perm);
    case Derivation::Kind::kCollapsed:
      return Collapsed(from, goal.shape);
    case Derivation::Kind::kNegated:
      return Negated(from);
    case Derivation::Kind::kCast:
      return Cast(from, goal.element);
    case Derivation::Kind::kQuantized:
      if (!step.like.valid() || step.like.index >= graph.value_count()) {
        return nullptr;
      }
      return Quantized(from, goal.element, graph.value(step.like).type);
    case Derivation::Kind::kEvaluated:
    case Derivation::Kind::kNamed:
      return nullptr;
  }
  return nullptr;
}

int AxisBehind(const Shape& from, int axis,
               const std::vector<Derivation>& steps, const Shape& goal,
               const Graph& graph, const OpTable* ops) {
  Shape shape = from;
  for (const Derivation& step : steps) {
    if (axis < 0 || axis >= static_cast<int>(shape.size())) return -1;
    std::optional<std::vector<int64_t>> perm;
    if (step.kind == Derivation::Kind::kPermuted) perm = step.perm;
    if (step.kind == Derivation::Kind::kEvaluated) {
      if (ops) perm = ops->Permutation(graph, step.node);
      if (!perm) return -1;
    }
    if (perm) {
      if (!IsPermutation(*perm, shape.size())) return -1;
      Shape next;
      for (int64_t d : *perm) next.push_back(shape[d]);
      shape = next;
      axis = AxisAfterPermutation(axis, *perm);
    } else if (step.kind == Derivation::Kind::kReshaped) {
      axis = AxisAfterReshape(shape, axis, goal);
      shape = goal;
    } else if (step.kind == Derivation::Kind::kCollapsed ||
               step.kind == Derivation::Kind::kNamed) {
      return -1;
    }
  }
  return axis;
}

bool SameNumbers(const Tensor& a, const Tensor& b) {
  if (a.type != b.type || a.shape != b.shape) return false;
  if (a.bytes == b.bytes) return true;
  if (!IsFloat(a.type)) return false;
  for (int64_t i = 0; i < a.size(); ++i) {
    if (!SameNumber(a.real(i), b.real(i))) return false;
  }
  return true;
}

}  // namespace fold
