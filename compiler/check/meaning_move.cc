#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "compiler/check/meaning.h"

namespace fold::check {
namespace {

using onnx::TensorProto;
using Inputs = std::vector<const Value*>;

const Value* At(const Inputs& in, size_t i) {
  return i < in.size() ? in[i] : nullptr;
}

// An integer list that is an attribute in old versions, an input in new ones.
bool ListOf(const Scope& scope, const Inputs& in, size_t input,
            const std::string& name, std::vector<int64_t>* list) {
  list->clear();
  if (At(in, input) != nullptr) return ConstantInts(*in[input], list);
  *list = scope.attributes.Ints(name);
  return true;
}

Value MoveReshape(const Scope& scope, const Inputs& in) {
  const Value& x = *in[0];
  std::vector<int64_t> wanted;
  if (!ListOf(scope, in, 1, "shape", &wanted)) {
    return UnknownValue("a Reshape to a computed shape");
  }
  const bool zeros = scope.attributes.Int("allowzero", 0) != 0;
  int64_t product = 1;
  int64_t open = -1;
  for (size_t d = 0; d < wanted.size(); ++d) {
    if (wanted[d] == 0 && !zeros && d < x.shape.size()) wanted[d] = x.shape[d];
    if (wanted[d] == -1) {
      open = static_cast<int64_t>(d);
    } else if (wanted[d] < 0 ||
               __builtin_mul_overflow(product, wanted[d], &product)) {
      return UnknownValue("a Reshape that does not fit");
    }
  }
  if (open >= 0 && product > 0) wanted[open] = x.size() / product;
  if (ElementCount(wanted) != x.size()) {
    return UnknownValue("a Reshape that does not fit");
  }
  return Reshaped(x, wanted);
}

Value MoveFlatten(const Scope& scope, const Inputs& in) {
  int64_t axis = scope.attributes.Int("axis", 1);
  if (axis < 0) axis += static_cast<int64_t>(in[0]->shape.size());
  int64_t rows = 1;
  for (int64_t d = 0; d < axis; ++d) rows *= in[0]->shape[d];
  return Reshaped(*in[0], {rows, rows == 0 ? 0 : in[0]->size() / rows});
}

Value MoveSqueeze(const Scope& scope, const Inputs& in, bool insert) {
  std::vector<int64_t> axes;
  if (!ListOf(scope, in, 1, "axes", &axes)) {
    return UnknownValue("computed axes");
  }
  const Shape& shape = in[0]->shape;
  const auto rank =
      static_cast<int64_t>(shape.size() + (insert ? axes.size() : 0));
  std::set<int64_t> marked;
  for (const int64_t axis : axes) marked.insert(axis < 0 ? axis + rank : axis);
  Shape out;
  size_t from = 0;
  for (int64_t d = 0; d < rank; ++d) {
    const bool hit = marked.count(d) != 0;
    if (insert && hit) {
      out.push_back(1);
      continue;
    }
    if (from >= shape.size()) return UnknownValue("axes that do not fit");
    const int64_t size = shape[from++];
    const bool drop = !insert && (axes.empty() ? size == 1 : hit);
    if (!drop) out.push_back(size);
  }
  if (ElementCount(out) != in[0]->size()) {
    return UnknownValue("axes that do not fit");
  }
  return Reshaped(*in[0], std::move(out));
}

Value MoveTranspose(const Scope& scope, const Inputs& in) {
  const auto rank = static_cast<int64_t>(in[0]->shape.size());
  std::vector<int64_t> permutation = scope.attributes.Ints("perm");
  if (permutation.empty()) {
    for (int64_t d = rank; d-- > 0;) permutation.push_back(d);
  }
  std::vector<int64_t> sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  Shape out;
  for (int64_t d = 0; d < static_cast<int64_t>(sorted.size()); ++d) {
    if (sorted[d] != d) return UnknownValue("a Transpose that does not fit");
  }
  if (static_cast<int64_t>(sorted.size()) != rank) {
    return UnknownValue("a Transpose that does not fit");
  }
  for (const int64_t d : permutation) out.push_back(in[0]->shape[d]);
  return Gather(*in[0], out, TransposeIndex(in[0]->shape, permutation));
}

// Elements at start + i * step along each dimension; outside: -1.
std::vector<int64_t> StridedIndex(const Shape& from, const Shape& to,
                                  const std::vector<int64_t>& start,
                                  const std::vector<int64_t>& step) {
  const std::vector<int64_t> from_strides = Strides(from);
  const std::vector<int64_t> to_strides = Strides(to);
  std::vector<int64_t> index(ElementCount(to));
  for (size_t i = 0; i < index.size(); ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < to.size() && at >= 0; ++d) {
      const int64_t along = static_cast<int64_t>(i) / to_strides[d] % to[d];
      const int64_t source = start[d] + along * step[d];
      const bool inside = source >= 0 && source < from[d];
      at = inside ? at + source * from_strides[d] : -1;
    }
    index[i] = at;
  }
  return index;
}

Value MoveSlice(const Scope& scope, const Inputs& in) {
  const Shape& shape = in[0]->shape;
  const auto rank = static_cast<int64_t>(shape.size());
  std::vector<int64_t> starts;
  std::vector<int64_t> ends;
  std::vector<int64_t> axes;
  std::vector<int64_t> steps;
  if (!ListOf(scope, in, 1, "starts", &starts) ||
      !ListOf(scope, in, 2, "ends", &ends) ||
      !ListOf(scope, in, 3, "axes", &axes) ||
      !ListOf(scope, in, 4, "steps", &steps) || ends.size() != starts.size()) {
    return UnknownValue("a Slice by computed bounds");
  }
  Shape out = shape;
  std::vector<int64_t> first(rank, 0);
  std::vector<int64_t> stride(rank, 1);
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t axis = axes.empty() ? static_cast<int64_t>(i) : axes[i];
    if (axis < 0) axis += rank;
    const int64_t step = steps.empty() ? 1 : steps[i];
    if (axis < 0 || axis >= rank || step == 0) {
      return UnknownValue("a Slice that does not fit");
    }
    const int64_t size = shape[axis];
    const auto clip = [&](int64_t at, int64_t low, int64_t high) {
      if (at < 0 && at >= -size) at += size;
      return std::clamp(at, low, high);
    };
    const int64_t last = step > 0 ? size : size - 1;
    const int64_t begin = clip(starts[i], 0, last);
    int64_t end = ends[i];
    end = step < 0 && end < -size ? -1 : clip(end, step > 0 ? 0 : -1, last);
    const int64_t span = step > 0 ? end - begin : begin - end;
    const int64_t stride_size = step > 0 ? step : -step;
    out[axis] = span <= 0 ? 0 : (span + stride_size - 1) / stride_size;
    first[axis] = begin;
    stride[axis] = step;
  }
  return Gather(*in[0], out, StridedIndex(shape, out, first, stride));
}

Value MovePad(const Scope& scope, const Inputs& in) {
  const Value& x = *in[0];
  const size_t rank = x.shape.size();
  std::vector<int64_t> pads;
  std::vector<int64_t> axes;
  const std::string mode = scope.attributes.Text("mode");
  if (!ListOf(scope, in, 1, "pads", &pads) || !x.tracked() ||
      !ListOf(scope, in, 3, "axes", &axes) || !axes.empty() ||
      pads.size() != 2 * rank || (!mode.empty() && mode != "constant")) {
    return UnknownValue("a Pad of this kind");
  }
  Number fill(0);
  if (At(in, 2) != nullptr) {
    if (!in[2]->constant() || in[2]->size() != 1) {
      return UnknownValue("a Pad with a computed value");
    }
    fill = ConstantAt(*in[2], 0);
  } else {
    fill = Number::FromDouble(scope.attributes.Float("value", 0));
  }
  // The code that stands for the value on the grid of x.
  Number scale(1);
  int64_t zero = 0;
  const bool grid = scope.roots->Integers(x) && UniformGrid(x, &scale, &zero);
  const Number code = fill / scale + Number(zero);
  Shape out;
  std::vector<int64_t> first;
  for (size_t d = 0; d < rank; ++d) {
    out.push_back(x.shape[d] + pads[d] + pads[rank + d]);
    first.push_back(-pads[d]);
    if (out.back() < 0) return UnknownValue("a Pad that does not fit");
  }
  if (!grid || !code.FitsInt64() ||
      code.ToInt64() != static_cast<int32_t>(code.ToInt64())) {
    return Opaque(scope, std::move(out), x.type);
  }
  const auto index =
      StridedIndex(x.shape, out, first, std::vector<int64_t>(rank, 1));
  return Gather(x, out, index,
                ConstantLabel(static_cast<int32_t>(code.ToInt64())));
}

Value MoveGather(const Scope& scope, const Inputs& in) {
  std::vector<int64_t> picks;
  if (At(in, 1) == nullptr || !ConstantInts(*in[1], &picks)) {
    return UnknownValue("a Gather by computed positions");
  }
  const Shape& shape = in[0]->shape;
  int64_t axis = scope.attributes.Int("axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(shape.size());
  if (axis < 0 || axis >= static_cast<int64_t>(shape.size())) {
    return UnknownValue("a Gather that does not fit");
  }
  Shape out(shape.begin(), shape.begin() + axis);
  out.insert(out.end(), in[1]->shape.begin(), in[1]->shape.end());
  out.insert(out.end(), shape.begin() + axis + 1, shape.end());
  const int64_t inner = Strides(shape)[axis];
  const int64_t outer =
      in[0]->size() / std::max<int64_t>(1, inner * shape[axis]);
  std::vector<int64_t> index;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t pick : picks) {
      if (pick < 0) pick += shape[axis];
      if (pick < 0 || pick >= shape[axis]) {
        return UnknownValue("a Gather that does not fit");
      }
      for (int64_t i = 0; i < inner; ++i) {
        index.push_back((o * shape[axis] + pick) * inner + i);
      }
    }
  }
  return Gather(*in[0], out, index);
}

Value MoveDepthToSpace(const Scope& scope, const Inputs& in) {
  const Value& x = *in[0];
  const int64_t block = scope.attributes.Int("blocksize", 0);
  if (x.shape.size() != 4 || block < 1 || block > 32768 ||
      x.shape[1] % (block * block) != 0) {
    return UnknownValue("a DepthToSpace that does not fit");
  }
  const bool columns = scope.attributes.Text("mode") == "CRD";
  const int64_t depth = x.shape[1] / (block * block);
  const int64_t height = x.shape[2], width = x.shape[3];
  const Shape out = {x.shape[0], depth, height * block, width * block};
  std::vector<int64_t> index;
  index.reserve(x.size());
  for (int64_t n = 0; n < out[0]; ++n) {
    for (int64_t d = 0; d < depth; ++d) {
      for (int64_t h = 0; h < out[2]; ++h) {
        for (int64_t w = 0; w < out[3]; ++w) {
          const int64_t part = h % block * block + w % block;
          const int64_t channel =
              columns ? d * block * block + part : part * depth + d;
          index.push_back(((n * x.shape[1] + channel) * height + h / block) *
                              width +
                          w / block);
        }
      }
    }
  }
  return Gather(x, out, index);
}

Value MoveCast(const Scope& scope, const Inputs& in) {
  const Value& x = *in[0];
  const auto type = static_cast<int>(scope.attributes.Int("to", 0));
  if (x.constant()) {
    std::vector<int64_t> ints;
    const bool whole = ConstantInts(x, &ints);
    if (whole && type == TensorProto::INT64) {
      return IntsValue(x.shape, type, std::move(ints));
    }
    if (whole && CodeRange(type)) return CodesValue(x.shape, type, ints);
    if (!IsFloat(type)) return UnknownValue("a Cast of this constant");
    Value y = x;
    if (whole && x.kind != Value::Kind::kReals) {
      y = RealsValue(x.shape, type, {ints.begin(), ints.end()});
    }
    y.type = type;
    return y;
  }
  const auto from = CodeRange(x.type);
  const auto to = CodeRange(type);
  const bool widens =
      from && to && to->first <= from->first && from->second <= to->second;
  if (!widens && !IsFloat(type)) {
    return Opaque(scope, x.shape, type);
  }
  Value y = x;
  y.type = type;
  return y;
}

}  // namespace

bool IsMovement(const std::string& op) {
  static const std::set<std::string>* const names = new std::set<std::string>{
      "Reshape", "Flatten", "Squeeze",     "Unsqueeze", "Transpose",
      "Slice",   "Pad",     "Identity",    "Dropout",   "Gather",
      "Cast",    "Concat",  "DepthToSpace"};
  return names->count(op) != 0;
}

Value Join(const Scope& scope, const Inputs& parts, int64_t axis) {
  if (parts.empty() || parts[0] == nullptr || !parts[0]->known()) {
    return UnknownValue("a Concat of unknown values");
  }
  Shape out = parts[0]->shape;
  const auto rank = static_cast<int64_t>(out.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return UnknownValue("an axis out of range");
  out[axis] = 0;
  for (const Value* part : parts) {
    if (part == nullptr || !part->known() ||
        static_cast<int64_t>(part->shape.size()) != rank ||
        part->kind != parts[0]->kind) {
      return UnknownValue("a Concat of unknown or mixed values");
    }
    out[axis] += part->shape[axis];
  }
  const int64_t inner = Strides(out)[axis];
  const int64_t outer =
      ElementCount(out) / std::max<int64_t>(1, inner * out[axis]);
  if (parts[0]->kind == Value::Kind::kInts) {
    std::vector<int64_t> ints;
    for (int64_t o = 0; o < outer; ++o) {
      for (const Value* part : parts) {
        const int64_t run = inner * part->shape[axis];
        const auto from = part->ints->begin() + o * run;
        ints.insert(ints.end(), from, from + run);
      }
    }
    return IntsValue(out, parts[0]->type, std::move(ints));
  }
  if (!parts[0]->tracked()) return UnknownValue("a Concat of constants");
  // Classes of the parts side by side; chains of one affine step, if any.
  auto labels = std::make_shared<std::vector<Label>>();
  auto classes = std::make_shared<std::vector<int32_t>>();
  std::vector<Interval> ranges;
  std::vector<Number> scale;
  std::vector<Number> offset;
  std::vector<int32_t> base;
  std::set<uint32_t> roots;
  for (const Value* part : parts) {
    base.push_back(static_cast<int32_t>(ranges.size()));
    roots.insert(part->roots.begin(), part->roots.end());
    const bool integers = scope.roots->Integers(*part);
    for (size_t cls = 0; cls < part->ClassCount(); ++cls) {
      const Chain chain = Reduce(part->chain, cls, part->ranges[cls], integers);
      const bool affine =
          chain.size() == 1 && chain[0].kind == Step::Kind::kAffine;
      if (!integers || (!chain.empty() && !affine)) {
        return Opaque(scope, std::move(out), parts[0]->type);
      }
      ranges.push_back(part->ranges[cls]);
      scale.push_back(affine ? chain[0].scale[0] : Number(1));
      offset.push_back(affine ? chain[0].offset[0] : Number(0));
    }
  }
  for (int64_t o = 0; o < outer; ++o) {
    for (size_t p = 0; p < parts.size(); ++p) {
      const int64_t run = inner * parts[p]->shape[axis];
      for (int64_t i = o * run; i < (o + 1) * run; ++i) {
        labels->push_back((*parts[p]->labels)[i]);
        classes->push_back(base[p] + parts[p]->ClassOf(i));
      }
    }
  }
  Value y = *parts[0];
  y.shape = std::move(out);
  y.labels = std::move(labels);
  y.classes = std::move(classes);
  y.ranges = std::move(ranges);
  y.roots.assign(roots.begin(), roots.end());
  y.chain.clear();
  if (!parts[0]->chain.empty()) {
    y.chain.push_back(Affine(std::move(scale), std::move(offset)));
  }
  return y;
}

Value Move(const Scope& scope, const Inputs& in) {
  const std::string& op = scope.node->op_type();
  if (At(in, 0) == nullptr) return UnknownValue("a missing input");
  if (!in[0]->known()) return *in[0];
  if (op == "Reshape") return MoveReshape(scope, in);
  if (op == "Flatten") return MoveFlatten(scope, in);
  if (op == "Squeeze") return MoveSqueeze(scope, in, false);
  if (op == "Unsqueeze") return MoveSqueeze(scope, in, true);
  if (op == "Transpose") return MoveTranspose(scope, in);
  if (op == "Slice") return MoveSlice(scope, in);
  if (op == "Pad") return MovePad(scope, in);
  if (op == "Gather") return MoveGather(scope, in);
  if (op == "Cast") return MoveCast(scope, in);
  if (op == "DepthToSpace") return MoveDepthToSpace(scope, in);
  if (op == "Concat") {
    return Join(scope, in, scope.attributes.Int("axis", 0));
  }
  return *in[0];
}

}  // namespace fold::check
