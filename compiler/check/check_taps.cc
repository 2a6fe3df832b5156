// Taps: the tensor holds, at the moment of capture, what the name says.
#include <utility>

#include "compiler/check/op_check.h"

namespace fold::check {
namespace {

std::vector<int64_t> Order(const format::Tap& tap, size_t rank) {
  const format::Span<int32_t> permutation = format::View(tap.permutation());
  std::vector<int64_t> order(permutation.data,
                             permutation.data + permutation.size);
  for (size_t d = order.size(); d < rank; ++d) {
    order.push_back(static_cast<int64_t>(d));
  }
  return order;
}

CheckLine OneTap(CheckState* state, const format::Tap& tap) {
  const std::string name = format::NameOf(tap.name());
  CheckLine line{"tap " + name, Verdict::kVerified, ""};
  const Value* value = state->network().Find(name);
  if (value == nullptr) {
    line.detail = "names no ONNX value: nothing to compare";
    return line;
  }
  const Contents& contents = state->contents(tap.tensor());
  if (!value->tracked() || !contents.labels) {
    const bool island = format::IsFloat(state->tensor(tap.tensor()).type());
    line.verdict = island ? Verdict::kFloat : Verdict::kUnchecked;
    line.detail = "not known";
    return line;
  }
  const format::Shape shape = format::ShapeFrom(format::View(tap.shape()));
  const Shape logical(shape.dims, shape.dims + shape.rank);
  if (logical != value->shape) {
    line.verdict = Verdict::kWrong;
    line.detail = "another shape";
    return line;
  }
  const std::vector<int64_t> index =
      TransposeIndex(logical, Order(tap, logical.size()));
  for (size_t i = 0; i < index.size(); ++i) {
    if ((*value->labels)[index[i]] == (*contents.labels)[i]) continue;
    line.verdict = Verdict::kWrong;
    line.detail = "holds other elements";
    break;
  }
  return line;
}

bool IsWritten(const format::Artifact& artifact, int32_t tensor) {
  if (artifact.ops() == nullptr) return false;
  for (const auto* op : *artifact.ops()) {
    if (op->outputs()->Get(0) == tensor) return true;
  }
  return false;
}

}  // namespace

std::vector<CheckLine> CheckTaps(CheckState* state, int32_t written) {
  std::vector<CheckLine> lines;
  if (state->artifact().taps() == nullptr) return lines;
  for (const auto* tap : *state->artifact().taps()) {
    const format::Storage storage = state->tensor(tap->tensor()).storage();
    const bool given = storage == format::Storage::INPUT ||
                       storage == format::Storage::CONSTANT;
    if (written == -2) {
      if (given || IsWritten(state->artifact(), tap->tensor())) continue;
      lines.push_back({std::string("tap ") + format::NameOf(tap->name()),
                       Verdict::kVerified,
                       "never captured: no op writes its tensor"});
    } else if (given ? written == -1 : written == tap->tensor()) {
      lines.push_back(OneTap(state, *tap));
    }
  }
  return lines;
}

}  // namespace fold::check
