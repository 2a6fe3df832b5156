#include <algorithm>
#include <map>
#include <utility>

#include "compiler/check/meaning.h"

namespace fold::check {
namespace {

// A root whose elements are sums or maxima of sets; `sets` says which
// elements of x. Real results have x's grid; `divisors`: what sums are
// divided by (empty for maxima).
Value Grouped(const Scope& scope, const Value& x,
              const std::vector<std::vector<int64_t>>& sets,
              const std::vector<int64_t>& divisors, Shape shape) {
  const bool sums = !divisors.empty();
  Number scale(1);
  int64_t zero = 0;
  if (!x.known()) return x;
  if (!x.tracked() || x.constant() || !scope.roots->Integers(x) ||
      !UniformGrid(x, &scale, &zero) || scale.Sign() < 0) {
    return Opaque(scope, std::move(shape), x.type);
  }
  GroupsDefinition groups;
  groups.zero = sums ? zero : 0;
  groups.starts = {0};
  std::vector<int64_t> counts;
  for (const std::vector<int64_t>& set : sets) {
    const size_t start = groups.members.size();
    for (const int64_t element : set) {
      const Label label = (*x.labels)[element];
      // Padding written out as constants adds nothing.
      if (sums && label == ConstantLabel(static_cast<int32_t>(zero))) continue;
      groups.members.push_back(label);
    }
    std::sort(groups.members.begin() + static_cast<std::ptrdiff_t>(start),
              groups.members.end());
    counts.push_back(static_cast<int64_t>(groups.members.size() - start));
    if (counts.back() == 0 && !sums) return Opaque(scope, shape, x.type);
    groups.starts.push_back(static_cast<uint32_t>(groups.members.size()));
  }
  Interval codes = x.ranges[0];
  for (const Interval& range : x.ranges) codes = Union(codes, range);
  // Classes: pairs of (elements summed, divisor).
  std::map<std::pair<int64_t, int64_t>, int32_t> numbers;
  auto classes = std::make_shared<std::vector<int32_t>>();
  std::vector<Interval> ranges;
  std::vector<Number> scales;
  for (size_t i = 0; i < sets.size(); ++i) {
    const std::pair<int64_t, int64_t> part = {sums ? counts[i] : 0,
                                              sums ? divisors[i] : 0};
    const auto [at, fresh] =
        numbers.emplace(part, static_cast<int32_t>(ranges.size()));
    classes->push_back(at->second);
    if (!fresh) continue;
    if (!sums) {
      ranges.push_back(codes);
      continue;
    }
    Interval range;
    if (codes.low) range.low = (*codes.low - Number(zero)) * Number(part.first);
    if (codes.high) {
      range.high = (*codes.high - Number(zero)) * Number(part.first);
    }
    ranges.push_back(range);
    scales.push_back(scale / Number(part.second));
  }
  Root root;
  root.kind = sums ? Root::Kind::kSum : Root::Kind::kMax;
  root.name = scope.output;
  root.shape = shape;
  root.groups = std::make_shared<GroupsDefinition>(std::move(groups));
  Value y =
      RootValue(scope.roots->Add(std::move(root)), std::move(shape), x.type,
                sums ? Classes(classes) : nullptr, std::move(ranges));
  if (sums) {
    std::vector<Number> offsets(scales.size(), Number(0));
    y.chain.push_back(Affine(std::move(scales), std::move(offsets)));
  } else if (!x.chain.empty()) {
    y.chain.push_back(Affine(scale, -(scale * Number(zero))));
  }
  return y;
}

// Input elements of every output window of a pooling, row-major.
std::vector<std::vector<int64_t>> WindowSets(const Shape& x,
                                             const Windows& windows,
                                             Shape* shape) {
  const size_t spatial = x.size() - 2;
  *shape = {x[0], x[1]};
  std::vector<std::vector<int32_t>> maps;
  for (size_t d = 0; d < spatial; ++d) {
    shape->push_back(windows.out[d]);
    maps.push_back(WindowMap(x[2 + d], windows.out[d], windows.kernel[d],
                             windows.strides[d], windows.dilations[d],
                             windows.begin[d]));
  }
  const int64_t planes = x[0] * x[1];
  const std::vector<int64_t> strides = Strides(x);
  const int64_t plane = ElementCount(x) / planes;
  std::vector<std::vector<int64_t>> sets;
  std::vector<std::vector<int64_t>> first_plane;
  const Shape out(windows.out);
  const int64_t outputs = ElementCount(out);
  const std::vector<int64_t> out_strides = Strides(out);
  for (int64_t o = 0; o < outputs; ++o) {
    std::vector<int64_t> set = {0};
    for (size_t d = 0; d < spatial; ++d) {
      const int64_t i = o / out_strides[d] % out[d];
      std::vector<int64_t> next;
      for (const int64_t base : set) {
        for (int64_t r = 0; r < windows.kernel[d]; ++r) {
          const int32_t at = maps[d][i * windows.kernel[d] + r];
          if (at >= 0) next.push_back(base + at * strides[2 + d]);
        }
      }
      set = std::move(next);
    }
    first_plane.push_back(std::move(set));
  }
  for (int64_t p = 0; p < planes; ++p) {
    for (std::vector<int64_t> set : first_plane) {
      for (int64_t& element : set) element += p * plane;
      sets.push_back(std::move(set));
    }
  }
  return sets;
}

// Elements of each window with the padding counted (that the attribute names,
// not what ceil_mode hangs over).
std::vector<int64_t> CountsWithPads(const Attributes& attributes,
                                    const Shape& x, const Windows& windows,
                                    int64_t planes) {
  const size_t spatial = x.size() - 2;
  const std::vector<int64_t> pads =
      attributes.Ints("pads", std::vector<int64_t>(2 * spatial, 0));
  std::vector<int64_t> counts;
  const Shape out(windows.out);
  const std::vector<int64_t> strides = Strides(out);
  for (int64_t o = 0; o < ElementCount(out); ++o) {
    int64_t count = 1;
    for (size_t d = 0; d < spatial; ++d) {
      const int64_t i = o / strides[d] % out[d];
      const bool notset = attributes.Find("pads") != nullptr;
      const int64_t total = (windows.out[d] - 1) * windows.strides[d] +
                            (windows.kernel[d] - 1) * windows.dilations[d] + 1;
      const int64_t end =
          notset ? x[2 + d] + pads[spatial + d] : total - windows.begin[d];
      int64_t inside = 0;
      for (int64_t r = 0; r < windows.kernel[d]; ++r) {
        const int64_t at = i * windows.strides[d] - windows.begin[d] +
                           r * windows.dilations[d];
        inside += at < end;
      }
      count *= inside;
    }
    counts.push_back(count);
  }
  std::vector<int64_t> all;
  for (int64_t p = 0; p < planes; ++p) {
    all.insert(all.end(), counts.begin(), counts.end());
  }
  return all;
}

}  // namespace

bool ReadWindows(const Attributes& attributes, const Shape& x,
                 std::vector<int64_t> kernel, Windows* windows) {
  const size_t spatial = x.size() - 2;
  if (kernel.empty()) kernel = attributes.Ints("kernel_shape");
  const std::vector<int64_t> ones(spatial, 1);
  windows->kernel = kernel;
  windows->strides = attributes.Ints("strides", ones);
  windows->dilations = attributes.Ints("dilations", ones);
  const std::vector<int64_t> pads =
      attributes.Ints("pads", std::vector<int64_t>(2 * spatial, 0));
  if (kernel.size() != spatial || windows->strides.size() != spatial ||
      windows->dilations.size() != spatial || pads.size() != 2 * spatial) {
    return false;
  }
  const std::string automatic = attributes.Text("auto_pad");
  const bool upward = attributes.Int("ceil_mode", 0) != 0;
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t stride = windows->strides[d];
    const int64_t reach = (kernel[d] - 1) * windows->dilations[d] + 1;
    if (stride < 1 || kernel[d] < 1 || windows->dilations[d] < 1) return false;
    int64_t begin = automatic == "VALID" ? 0 : pads[d];
    int64_t end = automatic == "VALID" ? 0 : pads[spatial + d];
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      const int64_t out = (x[2 + d] + stride - 1) / stride;
      const int64_t total =
          std::max<int64_t>(0, (out - 1) * stride + reach - x[2 + d]);
      begin = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      end = total - begin;
    }
    const int64_t room = x[2 + d] + begin + end - reach;
    if (room < 0) return false;
    int64_t out = (upward ? (room + stride - 1) / stride : room / stride) + 1;
    if (upward && (out - 1) * stride >= x[2 + d] + begin) --out;
    windows->begin.push_back(begin);
    windows->out.push_back(out);
  }
  return true;
}

Value MaxPool(const Scope& scope, const Value& x) {
  if (!x.known()) return x;
  Windows windows;
  if (x.shape.size() < 3 ||
      !ReadWindows(scope.attributes, x.shape, {}, &windows)) {
    return UnknownValue("windows that do not fit");
  }
  Shape shape;
  const auto sets = WindowSets(x.shape, windows, &shape);
  return Grouped(scope, x, sets, {}, std::move(shape));
}

Value AveragePool(const Scope& scope, const Value& x) {
  if (!x.known()) return x;
  Windows windows;
  if (x.shape.size() < 3 ||
      !ReadWindows(scope.attributes, x.shape, {}, &windows)) {
    return UnknownValue("windows that do not fit");
  }
  Shape shape;
  const auto sets = WindowSets(x.shape, windows, &shape);
  std::vector<int64_t> divisors;
  if (scope.attributes.Int("count_include_pad", 0) != 0) {
    divisors = CountsWithPads(scope.attributes, x.shape, windows,
                              x.shape[0] * x.shape[1]);
  } else {
    for (const auto& set : sets) {
      divisors.push_back(static_cast<int64_t>(set.size()));
    }
  }
  for (const int64_t divisor : divisors) {
    if (divisor == 0) return Opaque(scope, std::move(shape), x.type);
  }
  return Grouped(scope, x, sets, divisors, std::move(shape));
}

Value ReduceOver(const Scope& scope, const Value& x, const std::string& kind,
                 const std::vector<int64_t>& axes, bool keep) {
  if (!x.known()) return x;
  const auto rank = static_cast<int64_t>(x.shape.size());
  std::vector<bool> reduced(x.shape.size(), axes.empty());
  for (int64_t axis : axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return UnknownValue("an axis out of range");
    reduced[axis] = true;
  }
  Shape kept;
  Shape shape;
  int64_t count = 1;
  for (int64_t d = 0; d < rank; ++d) {
    kept.push_back(reduced[d] ? 1 : x.shape[d]);
    if (reduced[d]) count *= x.shape[d];
    if (!reduced[d] || keep) shape.push_back(kept.back());
  }
  std::vector<std::vector<int64_t>> sets(ElementCount(kept));
  const std::vector<int64_t> target = BroadcastIndex(kept, x.shape);
  for (size_t i = 0; i < target.size(); ++i) {
    sets[target[i]].push_back(static_cast<int64_t>(i));
  }
  std::vector<int64_t> divisors;
  if (kind != "Max") divisors.assign(sets.size(), kind == "Mean" ? count : 1);
  return Grouped(scope, x, sets, divisors, std::move(shape));
}

}  // namespace fold::check
