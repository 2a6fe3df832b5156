#include "compiler/check/op_check.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

namespace fold::check {
namespace {

std::tuple<int, int, uint64_t, uint64_t> Place(const format::Tensor& tensor) {
  return {static_cast<int>(tensor.storage()), static_cast<int>(tensor.type()),
          tensor.offset(), tensor.bytes()};
}

template <typename T, typename Out>
void Read(const uint8_t* bytes, int64_t count, Out* out) {
  for (int64_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, bytes + i * sizeof(T), sizeof(T));
    out->push_back(element);
  }
}

}  // namespace

Outcome Unchecked(std::string why) {
  return {Verdict::kUnchecked, std::move(why), nullptr, {}};
}

Outcome Wrong(std::string what) {
  return {Verdict::kWrong, std::move(what), nullptr, {}};
}

CheckState::CheckState(const format::Artifact& artifact, const Network& network)
    : artifact_(artifact), network_(network) {
  const size_t count =
      artifact.tensors() != nullptr ? artifact.tensors()->size() : 0;
  contents_.resize(count);
  read_.resize(count, false);
  for (size_t t = 0; t < count; ++t) {
    const auto number = static_cast<int32_t>(t);
    keepers_.emplace(Place(tensor(number)), number);
  }
}

int32_t CheckState::Keeper(int32_t number) const {
  return keepers_.at(Place(tensor(number)));
}

void CheckState::SetContents(int32_t number, Contents contents) {
  contents_[Keeper(number)] = std::move(contents);
}

const Contents& CheckState::contents(int32_t number) {
  number = Keeper(number);
  if (!read_[number]) {
    read_[number] = true;
    if (tensor(number).storage() == format::Storage::CONSTANT) {
      ReadConstant(number);
    }
  }
  return contents_[number];
}

const uint8_t* CheckState::ConstantBytes(int32_t number) const {
  const format::Tensor& t = tensor(number);
  if (t.storage() != format::Storage::CONSTANT) return nullptr;
  return format::ConstantsOf(artifact_).data + t.offset();
}

void CheckState::ReadConstant(int32_t number) {
  const format::Tensor& t = tensor(number);
  const uint8_t* bytes = ConstantBytes(number);
  const int64_t count = ElementCount(PhysicalShape(t));
  std::vector<int64_t> codes;
  Contents& contents = contents_[number];
  switch (t.type()) {
    case format::ElementType::U8:
    case format::ElementType::BOOL:
      Read<uint8_t>(bytes, count, &codes);
      break;
    case format::ElementType::S8:
      Read<int8_t>(bytes, count, &codes);
      break;
    case format::ElementType::U16:
      Read<uint16_t>(bytes, count, &codes);
      break;
    case format::ElementType::S16:
      Read<int16_t>(bytes, count, &codes);
      break;
    case format::ElementType::S32:
      Read<int32_t>(bytes, count, &codes);
      break;
    case format::ElementType::F32:
      Read<float>(bytes, count, &contents.numbers);
      return;
    case format::ElementType::F64:
      Read<double>(bytes, count, &contents.numbers);
      return;
    case format::ElementType::S64:
    case format::ElementType::U64: {
      std::vector<int64_t> longs;
      Read<int64_t>(bytes, count, &longs);
      for (const int64_t x : longs) {
        contents.numbers.push_back(static_cast<double>(x));
      }
      return;
    }
    default:
      return;
  }
  auto labels = std::make_shared<std::vector<Label>>();
  for (const int64_t code : codes) {
    labels->push_back(ConstantLabel(static_cast<int32_t>(code)));
  }
  contents.labels = std::move(labels);
}

Shape PhysicalShape(const format::Tensor& tensor) {
  const format::Span<int64_t> dims = format::View(tensor.shape());
  return Shape(dims.data, dims.data + dims.size);
}

std::string TensorName(const format::Tensor& tensor) {
  return format::NameOf(tensor.name());
}

std::vector<Target> Targets(const CheckState& state, const format::Op& op) {
  std::vector<std::string> names = {
      TensorName(state.tensor(op.outputs()->Get(0)))};
  if (op.sources() != nullptr) {
    for (flatbuffers::uoffset_t i = op.sources()->size(); i-- > 0;) {
      for (const std::string& name :
           state.network().OutputsOf(op.sources()->Get(i)->str())) {
        names.push_back(name);
      }
    }
  }
  std::set<std::string> seen;
  std::vector<Target> targets;
  for (const std::string& name : names) {
    const Value* value = state.network().Find(name);
    if (!seen.insert(name).second || value == nullptr || !value->tracked() ||
        value->roots.size() != 1 || value->roots[0] == 0) {
      continue;
    }
    Target target{name, value->labels, *value};
    target.over.chain.clear();
    targets.push_back(std::move(target));
  }
  return targets;
}

Outcome ForTargets(const CheckState& state, const format::Op& op,
                   const std::function<Outcome(const Target&)>& attempt) {
  const std::string name = TensorName(state.tensor(op.outputs()->Get(0)));
  Outcome best = Unchecked("no ONNX value is named " + name +
                           ", and its sources give none");
  const Value* named = state.network().Find(name);
  if (named != nullptr && !named->known()) {
    best.detail = name + ": " + named->why;
  }
  bool first = true;
  for (const Target& target : Targets(state, op)) {
    Outcome outcome = attempt(target);
    if (outcome.verdict == Verdict::kVerified) return outcome;
    const bool better = best.verdict == Verdict::kUnchecked &&
                        outcome.verdict == Verdict::kWrong;
    if (first || better) best = std::move(outcome);
    first = false;
  }
  return best;
}

bool ExpandTo(const Roots& roots, Root::Kind kind, Value* over) {
  while (over->roots.size() != 1 || roots.at(over->roots[0]).kind != kind) {
    if (!roots.Expand(over)) return false;
  }
  return true;
}

bool ExpandInto(const Roots& roots, const std::vector<Label>& labels,
                Value* over) {
  std::set<uint32_t> have;
  uint32_t last = 0;
  for (const Label label : labels) {
    if (RootOf(label) == last) continue;
    last = RootOf(label);
    have.insert(last);
  }
  while (true) {
    bool inside = true;
    for (const uint32_t root : over->roots) {
      inside = inside && (root == 0 || have.count(root) != 0);
    }
    if (inside) return true;
    if (!roots.Expand(over)) return false;
  }
}

ElementIndex::ElementIndex(const std::vector<Label>& labels) {
  uint32_t most = 0;
  if (!labels.empty()) root_ = RootOf(labels[0]);
  for (const Label label : labels) {
    single_ = single_ && RootOf(label) == root_ && root_ != 0;
    most = std::max(most, ElementOf(label));
  }
  if (single_) dense_.assign(labels.empty() ? 0 : size_t{most} + 1, -1);
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto element = static_cast<int32_t>(i);
    if (single_) {
      dense_[ElementOf(labels[i])] = element;
    } else {
      sparse_.emplace(labels[i], element);
    }
  }
}

int64_t ElementIndex::Find(Label label) const {
  if (!single_) {
    const auto at = sparse_.find(label);
    return at == sparse_.end() ? -1 : at->second;
  }
  if (RootOf(label) != root_ || ElementOf(label) >= dense_.size()) return -1;
  return dense_[ElementOf(label)];
}

bool PairSet::Insert(int64_t a, int64_t b) {
  const uint64_t key =
      static_cast<uint64_t>(a) << 32 | static_cast<uint32_t>(b);
  if (key == last_) return false;
  last_ = key;
  return seen_.emplace(key, true).second;
}

std::optional<std::string> IdealSteps(const Value& over, size_t cls,
                                      StepFunction* steps) {
  const Interval& range = over.ranges[cls];
  if (!range.low || !range.high || !range.low->FitsInt64() ||
      !range.high->FitsInt64()) {
    return "a value without a known range";
  }
  const Chain chain = Reduce(over.chain, cls, range, true);
  return Steps(chain, range.low->ToInt64(), range.high->ToInt64(), steps);
}

}  // namespace fold::check
