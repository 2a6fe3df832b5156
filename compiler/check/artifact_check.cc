#include "compiler/check/artifact_check.h"

#include <cstring>
#include <memory>
#include <utility>

#include "compiler/check/network.h"
#include "compiler/check/op_check.h"

namespace fold::check {
namespace {

using format::Opcode;

// A copy at the alignment that the reader asks for.
class AlignedCopy {
 public:
  explicit AlignedCopy(std::span<const uint8_t> bytes)
      : blocks_(new Block[bytes.size() / sizeof(Block) + 1]),
        size_(bytes.size()) {
    if (!bytes.empty()) {
      std::memcpy(blocks_.get(), bytes.data(), bytes.size());
    }
  }
  const void* data() const { return blocks_.get(); }
  size_t size() const { return size_; }

 private:
  struct alignas(format::kFileAlignment) Block {
    uint8_t bytes[format::kFileAlignment];
  };
  std::unique_ptr<Block[]> blocks_;
  size_t size_;
};

Outcome CheckOp(CheckState* state, const format::Op& op) {
  switch (op.opcode()) {
    case Opcode::QUANTIZE:
      return CheckQuantize(state, op);
    case Opcode::DEQUANTIZE:
      return CheckDequantize(state, op);
    case Opcode::CONV:
    case Opcode::DEPTHWISE_CONV:
    case Opcode::FULLY_CONNECTED:
      return CheckLinear(state, op);
    case Opcode::REQUANTIZE:
    case Opcode::CLAMP:
    case Opcode::TABLE_1:
    case Opcode::RECIPROCAL:
      return CheckOneInput(state, op);
    case Opcode::ADD2:
    case Opcode::MUL2:
    case Opcode::TABLE_2:
      return CheckTwoInputs(state, op);
    case Opcode::MAX_POOL:
      return CheckMaxima(state, op);
    case Opcode::AVERAGE_POOL:
    case Opcode::REDUCE_SUM:
      return CheckSums(state, op);
    case Opcode::TRANSPOSE:
    case Opcode::COPY:
    case Opcode::CONCAT:
    case Opcode::PAD:
    case Opcode::SLICE:
      return CheckMovement(state, op);
    case Opcode::F64_CONV:
    case Opcode::F64_GEMM:
    case Opcode::F64_MATMUL:
    case Opcode::F64_BINARY:
    case Opcode::F64_UNARY:
    case Opcode::F64_SOFTMAX:
    case Opcode::F64_AVERAGE_POOL:
    case Opcode::F64_MAX_POOL:
    case Opcode::F64_REDUCE:
    case Opcode::F64_CAST:
      return CheckIsland(state, op);
    default:
      return Unchecked("an opcode that is not known here");
  }
}

const char* Word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kVerified:
      return "verified";
    case Verdict::kFloat:
      return "FLOAT";
    case Verdict::kUnchecked:
      return "unchecked";
    case Verdict::kWrong:
      return "WRONG";
  }
  return "";
}

}  // namespace

int CheckReport::Count(Verdict verdict) const {
  int count = 0;
  for (const CheckLine& line : lines) count += line.verdict == verdict;
  return count;
}

bool CheckReport::passed() const {
  return Count(Verdict::kUnchecked) == 0 && Count(Verdict::kWrong) == 0;
}

std::string CheckReport::Text() const {
  std::string text;
  for (const CheckLine& line : lines) {
    std::string word = Word(line.verdict);
    word.resize(std::strlen("unchecked"), ' ');
    text += word + "  " + line.what;
    if (!line.detail.empty()) text += ": " + line.detail;
    text += '\n';
  }
  text += std::to_string(Count(Verdict::kVerified)) + " verified, " +
          std::to_string(Count(Verdict::kFloat)) + " float, " +
          std::to_string(Count(Verdict::kUnchecked)) + " unchecked, " +
          std::to_string(Count(Verdict::kWrong)) + " wrong\n";
  return text;
}

bool CheckArtifact(std::span<const uint8_t> artifact,
                   std::span<const uint8_t> onnx_model,
                   const std::map<std::string, std::vector<int64_t>>& shapes,
                   CheckReport* report, std::string* why) {
  report->lines.clear();
  const AlignedCopy copy(artifact);
  format::Fault fault;
  const format::Artifact* file =
      format::OpenArtifact(copy.data(), copy.size(), &fault);
  if (file == nullptr) {
    *why = std::string("artifact: ") + fault.text;
    return false;
  }
  Network network;
  if (!network.Load(onnx_model, shapes, why)) return false;
  CheckState state(*file, network);
  const auto append = [report](std::vector<CheckLine> lines) {
    for (CheckLine& line : lines) report->lines.push_back(std::move(line));
  };
  append(CheckSignatureInputs(&state));
  append(CheckTaps(&state, -1));
  int number = 0;
  if (file->ops() != nullptr) {
    for (const auto* op : *file->ops()) {
      Outcome outcome = CheckOp(&state, *op);
      state.SetContents(op->outputs()->Get(0), {std::move(outcome.labels),
                                                std::move(outcome.numbers)});
      report->lines.push_back({"op " + std::to_string(number++) + " " +
                                   format::EnumNameOpcode(op->opcode()) + " " +
                                   format::NameOf(op->name()),
                               outcome.verdict, std::move(outcome.detail)});
      append(CheckTaps(&state, op->outputs()->Get(0)));
    }
  }
  append(CheckSignatureOutputs(&state));
  append(CheckTaps(&state, -2));
  append(CheckArena(*file));
  return true;
}

}  // namespace fold::check
