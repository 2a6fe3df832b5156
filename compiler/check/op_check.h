// What the checks of single ops share: the artifact, the network, and what is
// known so far about every tensor of the artifact.
#ifndef COMPILER_CHECK_OP_CHECK_H_
#define COMPILER_CHECK_OP_CHECK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "compiler/check/artifact_check.h"
#include "compiler/check/form.h"
#include "compiler/check/network.h"
#include "runtime/format/reader.h"

namespace fold::check {

// What a tensor holds, element by element in its physical order: integers
// (the roots' elements themselves) or, for float types, the real values that
// the ONNX file computes from these elements.
struct Contents {
  Labels labels;                // empty: not known
  std::vector<double> numbers;  // constants of a float type
};

struct Outcome {
  Verdict verdict = Verdict::kUnchecked;
  std::string detail;
  // Of the output, where known.
  Labels labels;
  std::vector<double> numbers;
};
Outcome Unchecked(std::string why);
Outcome Wrong(std::string what);

class CheckState {
 public:
  CheckState(const format::Artifact& artifact, const Network& network);

  const format::Artifact& artifact() const { return artifact_; }
  const Network& network() const { return network_; }
  const format::Tensor& tensor(int32_t number) const {
    return *artifact_.tensors()->Get(
        static_cast<flatbuffers::uoffset_t>(number));
  }
  // What was last written to the same bytes: tensors of one storage, place
  // and size are one another under other shapes.
  const Contents& contents(int32_t number);
  void SetContents(int32_t number, Contents contents);
  // Bytes of a constant tensor, null for others.
  const uint8_t* ConstantBytes(int32_t number) const;

 private:
  void ReadConstant(int32_t number);
  // The tensor under whose number the same bytes' contents are kept.
  int32_t Keeper(int32_t number) const;
  const format::Artifact& artifact_;
  const Network& network_;
  std::vector<Contents> contents_;
  std::vector<bool> read_;
  std::map<std::tuple<int, int, uint64_t, uint64_t>, int32_t> keepers_;
};

Shape PhysicalShape(const format::Tensor& tensor);
std::string TensorName(const format::Tensor& tensor);

// An ONNX value that an op's output may stand for. `own`: the integers that
// the output then holds; `over`: the same elements as a function of what lies
// below.
struct Target {
  std::string name;
  Labels own;
  Value over;
};
// By the output's name, then by the op's sources.
std::vector<Target> Targets(const CheckState& state, const format::Op& op);
// The first of `attempt`'s outcomes that is not kUnchecked, with the target
// whose name is the output's first; else the first reason.
Outcome ForTargets(const CheckState& state, const format::Op& op,
                   const std::function<Outcome(const Target&)>& attempt);

// Expands until `over` lies over one root of this kind.
bool ExpandTo(const Roots& roots, Root::Kind kind, Value* over);
// Expands until every element is one of the labels' roots.
bool ExpandInto(const Roots& roots, const std::vector<Label>& labels,
                Value* over);

// Element that has a label: -1 if none.
class ElementIndex {
 public:
  explicit ElementIndex(const std::vector<Label>& labels);
  int64_t Find(Label label) const;

 private:
  uint32_t root_ = 0;
  bool single_ = true;
  std::vector<int32_t> dense_;
  std::unordered_map<Label, int32_t> sparse_;
};

// Remembers which pairs of numbers were seen.
class PairSet {
 public:
  bool Insert(int64_t a, int64_t b);

 private:
  uint64_t last_ = ~uint64_t{0};
  std::unordered_map<uint64_t, bool> seen_;
};

// Step function of class `cls` of an integer-based value over its range.
std::optional<std::string> IdealSteps(const Value& over, size_t cls,
                                      StepFunction* steps);

// The artifact's inputs hold what their names say.
std::vector<CheckLine> CheckSignatureInputs(CheckState* state);
std::vector<CheckLine> CheckSignatureOutputs(CheckState* state);
// Taps that are captured when op output `written` has been written; -1: before
// all ops; -2: those that never are.
std::vector<CheckLine> CheckTaps(CheckState* state, int32_t written);
// No read of what another write destroyed, no forbidden overlap.
std::vector<CheckLine> CheckArena(const format::Artifact& artifact);

// The ops. Each returns what the output holds, as it should be, also where
// the artifact is wrong.
Outcome CheckLinear(CheckState* state, const format::Op& op);
Outcome CheckOneInput(CheckState* state, const format::Op& op);
Outcome CheckTwoInputs(CheckState* state, const format::Op& op);
Outcome CheckSums(CheckState* state, const format::Op& op);
Outcome CheckMaxima(CheckState* state, const format::Op& op);
Outcome CheckMovement(CheckState* state, const format::Op& op);
Outcome CheckQuantize(CheckState* state, const format::Op& op);
Outcome CheckDequantize(CheckState* state, const format::Op& op);
Outcome CheckIsland(CheckState* state, const format::Op& op);

}  // namespace fold::check

#endif  // COMPILER_CHECK_OP_CHECK_H_
