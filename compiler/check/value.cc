#include "compiler/check/value.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fold::check {
namespace {

std::vector<uint32_t> RootsIn(const std::vector<Label>& labels) {
  std::vector<uint32_t> roots;
  uint32_t last = ~0u;
  for (const Label label : labels) {
    const uint32_t root = RootOf(label);
    if (root == last) continue;
    last = root;
    const auto at = std::lower_bound(roots.begin(), roots.end(), root);
    if (at == roots.end() || *at != root) roots.insert(at, root);
  }
  return roots;
}

template <typename T>
std::shared_ptr<const std::vector<T>> Pick(const std::vector<T>& from,
                                           const std::vector<int64_t>& index,
                                           T fill) {
  auto to = std::make_shared<std::vector<T>>();
  to->reserve(index.size());
  for (const int64_t i : index) to->push_back(i < 0 ? fill : from[i]);
  return to;
}

}  // namespace

int64_t ElementCount(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

Value UnknownValue(std::string why) {
  Value value;
  value.why = std::move(why);
  return value;
}

Value IntsValue(Shape shape, int type, std::vector<int64_t> ints) {
  Value value;
  value.kind = Value::Kind::kInts;
  value.shape = std::move(shape);
  value.type = type;
  value.ints = std::make_shared<std::vector<int64_t>>(std::move(ints));
  return value;
}

Value RealsValue(Shape shape, int type, std::vector<double> reals) {
  Value value;
  value.kind = Value::Kind::kReals;
  value.shape = std::move(shape);
  value.type = type;
  value.reals = std::make_shared<std::vector<double>>(std::move(reals));
  return value;
}

Value ExactValue(Shape shape, int type, std::vector<Number> exact) {
  Value value;
  value.kind = Value::Kind::kExact;
  value.shape = std::move(shape);
  value.type = type;
  value.exact = std::make_shared<std::vector<Number>>(std::move(exact));
  return value;
}

Value CodesValue(Shape shape, int type, const std::vector<int64_t>& codes) {
  Value value;
  value.kind = Value::Kind::kTracked;
  value.shape = std::move(shape);
  value.type = type;
  auto labels = std::make_shared<std::vector<Label>>();
  labels->reserve(codes.size());
  int64_t low = codes.empty() ? 0 : codes[0];
  int64_t high = low;
  for (const int64_t code : codes) {
    labels->push_back(ConstantLabel(static_cast<int32_t>(code)));
    low = std::min(low, code);
    high = std::max(high, code);
  }
  value.labels = std::move(labels);
  value.ranges = {Whole(low, high)};
  value.roots = {0};
  return value;
}

Value RootValue(uint32_t root, Shape shape, int type, Classes classes,
                std::vector<Interval> ranges) {
  Value value;
  value.kind = Value::Kind::kTracked;
  value.type = type;
  auto labels = std::make_shared<std::vector<Label>>(ElementCount(shape));
  for (size_t i = 0; i < labels->size(); ++i) {
    (*labels)[i] = MakeLabel(root, static_cast<uint32_t>(i));
  }
  value.shape = std::move(shape);
  value.labels = std::move(labels);
  value.classes = std::move(classes);
  value.ranges = std::move(ranges);
  value.roots = {root};
  return value;
}

Number ConstantAt(const Value& value, int64_t index) {
  switch (value.kind) {
    case Value::Kind::kInts:
      return Number((*value.ints)[index]);
    case Value::Kind::kReals:
      return Number::FromDouble((*value.reals)[index]);
    case Value::Kind::kExact:
      return (*value.exact)[index];
    case Value::Kind::kTracked: {
      const Label label = (*value.labels)[index];
      if (RootOf(label) != 0) break;
      const int32_t cls = value.ClassOf(index);
      return Evaluate(Reduce(value.chain, cls, value.ranges[cls], true),
                      Number(CodeOf(label)));
    }
    case Value::Kind::kUnknown:
      break;
  }
  return Number::Undecidable();
}

bool ConstantInts(const Value& value, std::vector<int64_t>* ints) {
  ints->clear();
  if (!value.constant()) return false;
  for (int64_t i = 0; i < value.size(); ++i) {
    const Number number = ConstantAt(value, i);
    if (!number.FitsInt64()) return false;
    ints->push_back(number.ToInt64());
  }
  return true;
}

Value Gather(const Value& value, Shape shape, const std::vector<int64_t>& index,
             Label fill) {
  Value result = value;
  result.shape = std::move(shape);
  switch (value.kind) {
    case Value::Kind::kTracked:
      result.labels = Pick(*value.labels, index, fill);
      if (value.classes) {
        result.classes = Pick<int32_t>(*value.classes, index, 0);
      }
      if (value.roots.size() > 1 || RootOf(fill) == 0) {
        result.roots = RootsIn(*result.labels);
      }
      break;
    case Value::Kind::kInts:
      result.ints = Pick<int64_t>(*value.ints, index, 0);
      break;
    case Value::Kind::kReals:
      result.reals = Pick<double>(*value.reals, index, 0);
      break;
    case Value::Kind::kExact:
      result.exact = Pick<Number>(*value.exact, index, Number());
      break;
    case Value::Kind::kUnknown:
      break;
  }
  return result;
}

Value Reshaped(Value value, Shape shape) {
  value.shape = std::move(shape);
  return value;
}

std::vector<int64_t> Strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * shape[i];
  }
  return strides;
}

bool BroadcastShape(const Shape& x, const Shape& y, Shape* out) {
  const size_t rank = std::max(x.size(), y.size());
  out->assign(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t a = i < x.size() ? x[x.size() - 1 - i] : 1;
    const int64_t b = i < y.size() ? y[y.size() - 1 - i] : 1;
    if (a != b && a != 1 && b != 1) return false;
    (*out)[rank - 1 - i] = a == 1 ? b : a;
  }
  return true;
}

std::vector<int64_t> BroadcastIndex(const Shape& from, const Shape& to) {
  const std::vector<int64_t> from_strides = Strides(from);
  std::vector<int64_t> steps(to.size(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t at = to.size() - from.size() + i;
    steps[at] = from[i] == 1 ? 0 : from_strides[i];
  }
  std::vector<int64_t> index(ElementCount(to));
  std::vector<int64_t> position(to.size(), 0);
  int64_t offset = 0;
  for (int64_t& element : index) {
    element = offset;
    for (size_t d = to.size(); d-- > 0;) {
      offset += steps[d];
      if (++position[d] < to[d]) break;
      offset -= steps[d] * to[d];
      position[d] = 0;
    }
  }
  return index;
}

std::vector<int64_t> TransposeIndex(const Shape& shape,
                                    const std::vector<int64_t>& permutation) {
  const std::vector<int64_t> strides = Strides(shape);
  Shape to;
  std::vector<int64_t> steps;
  for (const int64_t from : permutation) {
    to.push_back(shape[from]);
    steps.push_back(strides[from]);
  }
  std::vector<int64_t> index(ElementCount(to));
  std::vector<int64_t> position(to.size(), 0);
  int64_t offset = 0;
  for (int64_t& element : index) {
    element = offset;
    for (size_t d = to.size(); d-- > 0;) {
      offset += steps[d];
      if (++position[d] < to[d]) break;
      offset -= steps[d] * to[d];
      position[d] = 0;
    }
  }
  return index;
}

namespace {

// Appends `all`, whose constants are given by key, with those by class.
void AppendByKey(Value* value, const std::vector<int32_t>& key_of_element,
                 const Step& all) {
  if (all.scale.size() == 1) {
    value->chain.push_back(all);
    return;
  }
  std::map<std::pair<int32_t, int32_t>, int32_t> known;
  std::vector<std::pair<int32_t, int32_t>> parts;
  auto classes = std::make_shared<std::vector<int32_t>>();
  classes->reserve(key_of_element.size());
  for (size_t i = 0; i < key_of_element.size(); ++i) {
    const std::pair<int32_t, int32_t> part = {
        value->ClassOf(static_cast<int64_t>(i)), key_of_element[i]};
    if (!parts.empty() && parts.back() == part) {
      classes->push_back(static_cast<int32_t>(known[part]));
      continue;
    }
    const auto [at, fresh] =
        known.emplace(part, static_cast<int32_t>(parts.size()));
    if (fresh) parts.push_back(part);
    classes->push_back(at->second);
  }
  std::vector<Interval> ranges;
  Step step;
  step.kind = all.kind;
  for (const auto& [old, key] : parts) {
    ranges.push_back(value->ranges[old]);
    step.scale.push_back(all.scale[key]);
    step.offset.push_back(all.offset[key]);
  }
  for (Step& before : value->chain) {
    if (before.scale.size() <= 1) continue;
    std::vector<Number> scales;
    std::vector<Number> offsets;
    for (const auto& [old, key] : parts) {
      scales.push_back(before.scale[old]);
      offsets.push_back(before.offset[old]);
    }
    before.scale = std::move(scales);
    before.offset = std::move(offsets);
  }
  value->classes = std::move(classes);
  value->ranges = std::move(ranges);
  value->chain.push_back(std::move(step));
}

}  // namespace

void AppendAffine(Value* value, const std::vector<int32_t>& key_of_element,
                  const std::vector<Number>& scale,
                  const std::vector<Number>& offset) {
  AppendByKey(value, key_of_element, Affine(scale, offset));
}

void AppendOver(Value* value, const std::vector<int32_t>& key_of_element,
                const std::vector<Number>& numerator) {
  AppendByKey(value, key_of_element, Over(numerator));
}

bool UniformGrid(const Value& value, Number* scale, int64_t* zero) {
  if (!value.tracked()) return false;
  Number first_offset;
  for (size_t cls = 0; cls < value.ClassCount(); ++cls) {
    const Chain chain = Reduce(value.chain, cls, value.ranges[cls], true);
    Number a(1);
    Number b(0);
    if (chain.size() > 1) return false;
    if (chain.size() == 1) {
      if (chain[0].kind != Step::Kind::kAffine) return false;
      a = chain[0].scale[0];
      b = chain[0].offset[0];
    }
    if (!a.decidable() || !b.decidable() || a.Sign() == 0) return false;
    if (cls == 0) {
      const Number z = -b / a;
      if (!z.FitsInt64()) return false;
      *scale = a;
      *zero = z.ToInt64();
      first_offset = b;
    } else if (!(a == *scale) || !(b == first_offset)) {
      return false;
    }
  }
  return value.ClassCount() > 0;
}

}  // namespace fold::check
