// AVERAGE_POOL, REDUCE_SUM, MAX_POOL: which elements each result is made of,
// and the division of every window size.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "compiler/check/op_check.h"

namespace fold::check {
namespace {

using format::Opcode;

// What an output element of the artifact is computed from.
struct Groups {
  std::vector<std::vector<Label>> members;  // ascending, by output element
  std::vector<int64_t> channels;            // of the requantization
};

std::string PoolGroups(const CheckState& state, const format::Op& op,
                       const std::vector<Label>& in, Groups* groups) {
  const auto* p = op.parameters_as_PoolParameters();
  const Shape from = PhysicalShape(state.tensor(op.inputs()->Get(0)));
  const Shape to = PhysicalShape(state.tensor(op.outputs()->Get(0)));
  if (from.size() != to.size() || (to.size() != 3 && to.size() != 4)) {
    return "tensors of this rank";
  }
  const bool flat = to.size() == 3;
  const int64_t height = flat ? 1 : from[1];
  const int64_t width = from[from.size() - 2];
  const int64_t channels = from.back();
  const int64_t out_height = flat ? 1 : to[1];
  const int64_t out_width = to[to.size() - 2];
  const auto rows =
      WindowMap(height, out_height, p->kernel_height(), p->stride_height(),
                p->dilation_height(), p->pad_top());
  const auto columns =
      WindowMap(width, out_width, p->kernel_width(), p->stride_width(),
                p->dilation_width(), p->pad_left());
  const auto row_classes = format::View(p->row_classes());
  const auto column_classes = format::View(p->column_classes());
  for (int64_t o = 0; o < ElementCount(to); ++o) {
    const int64_t c = o % channels;
    const int64_t j = o / channels % out_width;
    const int64_t i = o / channels / out_width % out_height;
    const int64_t n = o / channels / out_width / out_height;
    std::vector<Label> set;
    for (int64_t r = 0; r < p->kernel_height(); ++r) {
      const int64_t y = rows[i * p->kernel_height() + r];
      if (y < 0) continue;
      for (int64_t s = 0; s < p->kernel_width(); ++s) {
        const int64_t x = columns[j * p->kernel_width() + s];
        if (x < 0) continue;
        set.push_back(in[((n * height + y) * width + x) * channels + c]);
      }
    }
    groups->members.push_back(std::move(set));
    const int64_t row = row_classes.size > 0 ? row_classes.data[i] : 0;
    const int64_t column = column_classes.size > 0 ? column_classes.data[j] : 0;
    groups->channels.push_back(row * p->column_class_count() + column);
  }
  return "";
}

std::string ReduceGroups(const CheckState& state, const format::Op& op,
                         const std::vector<Label>& in, Groups* groups) {
  const auto axes = format::View(op.parameters_as_ReduceParameters()->axes());
  const Shape from = PhysicalShape(state.tensor(op.inputs()->Get(0)));
  Shape kept = from;
  for (int64_t i = 0; i < axes.size; ++i) kept[axes.data[i]] = 1;
  groups->members.resize(ElementCount(kept));
  groups->channels.assign(groups->members.size(), 0);
  const auto target = BroadcastIndex(kept, from);
  for (size_t i = 0; i < target.size(); ++i) {
    groups->members[target[i]].push_back(in[i]);
  }
  return "";
}

uint64_t Hash(const Label* begin, const Label* end) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (; begin != end; ++begin) {
    hash = (hash ^ *begin) * 0x100000001B3u;
    hash ^= hash >> 29;
  }
  return hash;
}

// Finds elements of a sum or maximum root by their sets.
class GroupIndex {
 public:
  explicit GroupIndex(const GroupsDefinition& file) : file_(file) {
    for (size_t i = 0; i + 1 < file.starts.size(); ++i) {
      at_.emplace(Hash(Begin(i), Begin(i + 1)), static_cast<int64_t>(i));
    }
  }
  int64_t Find(const std::vector<Label>& set) const {
    const auto found = at_.find(Hash(set.data(), set.data() + set.size()));
    if (found == at_.end()) return -1;
    const bool same = std::equal(set.begin(), set.end(), Begin(found->second),
                                 Begin(found->second + 1));
    return same ? found->second : -1;
  }

 private:
  const Label* Begin(size_t element) const {
    return file_.members.data() + file_.starts[element];
  }
  const GroupsDefinition& file_;
  std::unordered_map<uint64_t, int64_t> at_;
};

const format::Requant* RequantOf(const format::Op& op) {
  return op.opcode() == Opcode::AVERAGE_POOL
             ? op.parameters_as_PoolParameters()->requant()
             : op.parameters_as_ReduceParameters()->requant();
}

int64_t InputZero(const format::Op& op) {
  return op.opcode() == Opcode::AVERAGE_POOL
             ? op.parameters_as_PoolParameters()->input_zero()
             : op.parameters_as_ReduceParameters()->input_zero();
}

// One class of windows of `count` elements.
Outcome CompareSums(const Value& over, size_t cls, const Form& form,
                    int64_t channel, int64_t shift) {
  const Interval& range = over.ranges[cls];
  if (!range.low || !range.high) return Unchecked("a sum without a range");
  const int64_t low = range.low->ToInt64() + shift;
  const int64_t high = range.high->ToInt64() + shift;
  if (low != static_cast<int32_t>(low) || high != static_cast<int32_t>(high)) {
    return Wrong("sums leave int32");
  }
  if (form.raw()) {
    return shift == 0 ? Outcome{Verdict::kVerified, "sums", nullptr, {}}
                      : Wrong("sums are off by " + std::to_string(shift));
  }
  StepFunction ideal;
  if (const auto why = IdealSteps(over, cls, &ideal)) return Unchecked(*why);
  const auto mismatch = CompareMonotone(
      ideal, [&](int64_t sum) { return form.Code(sum + shift, channel); });
  if (mismatch) {
    return Wrong("window class " + std::to_string(channel) + ": sum " +
                 Describe(*mismatch));
  }
  return {
      Verdict::kVerified, "every threshold of every window size", nullptr, {}};
}

// Where each output element of the artifact is in the file's root.
struct Found {
  std::vector<int64_t> at;  // element of the target, -1: none
};

Found FindGroups(const Target& target, const GroupsDefinition& file,
                 const Groups& groups, std::optional<Label> nothing) {
  const GroupIndex index(file);
  const ElementIndex elements(*target.over.labels);
  const uint32_t root = target.over.roots[0];
  Found found;
  for (std::vector<Label> set : groups.members) {
    if (nothing) std::erase(set, *nothing);
    std::sort(set.begin(), set.end());
    const int64_t element = index.Find(set);
    found.at.push_back(
        element < 0
            ? -1
            : elements.Find(MakeLabel(root, static_cast<uint32_t>(element))));
  }
  return found;
}

Labels FoundLabels(const Target& target, const Found& found) {
  auto labels = std::make_shared<std::vector<Label>>();
  for (const int64_t at : found.at) {
    labels->push_back(at < 0 ? kUnknownLabel : (*target.own)[at]);
  }
  return labels;
}

std::string Elsewhere(const Found& found) {
  for (size_t i = 0; i < found.at.size(); ++i) {
    if (found.at[i] < 0) {
      return "element " + std::to_string(i) +
             " is made of other elements than the ONNX operator's";
    }
  }
  return "";
}

Outcome Sums(const CheckState& state, const format::Op& op,
             const Groups& groups, const Target& named) {
  Target target = named;
  const Roots& roots = state.network().roots();
  if (!ExpandTo(roots, Root::Kind::kSum, &target.over)) {
    return Unchecked(named.name + " is not a sum or mean of integers");
  }
  const Value& over = target.over;
  const GroupsDefinition& file = *roots.at(over.roots[0]).groups;
  const int64_t zero = InputZero(op);
  const Found found = FindGroups(
      target, file, groups, ConstantLabel(static_cast<int32_t>(file.zero)));
  const std::string fault = Elsewhere(found);
  Outcome outcome{Verdict::kVerified, "", nullptr, {}};
  if (!fault.empty()) outcome = Wrong(fault);
  const Form form(RequantOf(op));
  if (form.raw() && over.labels != target.own) {
    outcome = Unchecked("raw sums under the name of codes");
  }
  PairSet done;
  for (size_t i = 0; i < found.at.size(); ++i) {
    if (outcome.verdict != Verdict::kVerified) break;
    const int64_t cls = over.ClassOf(found.at[i]);
    const int64_t key = groups.channels[i];
    if (!done.Insert(key, cls)) continue;
    const auto members = static_cast<int64_t>(groups.members[i].size());
    const int64_t shift = (file.zero - zero) * members;
    outcome = CompareSums(over, cls, form, key, shift);
  }
  outcome.labels = FoundLabels(target, found);
  return outcome;
}

Outcome Maxima(const CheckState& state, const Groups& groups,
               const Target& named) {
  Target target = named;
  const Roots& roots = state.network().roots();
  if (!ExpandTo(roots, Root::Kind::kMax, &target.over)) {
    return Unchecked(named.name + " is not a maximum of codes");
  }
  const Value& over = target.over;
  for (size_t cls = 0; cls < over.ClassCount(); ++cls) {
    if (!Reduce(over.chain, cls, over.ranges[cls], true).empty()) {
      return Wrong(named.name + " is not the maximum itself");
    }
  }
  const Found found =
      FindGroups(target, *roots.at(over.roots[0]).groups, groups, std::nullopt);
  const std::string fault = Elsewhere(found);
  Outcome outcome = fault.empty() ? Outcome{Verdict::kVerified,
                                            "the elements of every window",
                                            nullptr,
                                            {}}
                                  : Wrong(fault);
  outcome.labels = FoundLabels(target, found);
  return outcome;
}

}  // namespace

Outcome CheckSums(CheckState* state, const format::Op& op) {
  const Labels in = state->contents(op.inputs()->Get(0)).labels;
  if (!in) return Unchecked("its input is not known");
  Groups groups;
  const std::string why = op.opcode() == Opcode::AVERAGE_POOL
                              ? PoolGroups(*state, op, *in, &groups)
                              : ReduceGroups(*state, op, *in, &groups);
  if (!why.empty()) return Unchecked(why);
  if (const auto fault = Form(RequantOf(op)).Fault()) return Wrong(*fault);
  return ForTargets(*state, op, [&](const Target& target) {
    return Sums(*state, op, groups, target);
  });
}

Outcome CheckMaxima(CheckState* state, const format::Op& op) {
  const Labels in = state->contents(op.inputs()->Get(0)).labels;
  if (!in) return Unchecked("its input is not known");
  Groups groups;
  const std::string why = PoolGroups(*state, op, *in, &groups);
  if (!why.empty()) return Unchecked(why);
  return ForTargets(*state, op, [&](const Target& target) {
    return Maxima(*state, groups, target);
  });
}

}  // namespace fold::check
