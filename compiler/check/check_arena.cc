// The arena: an execution in which every write destroys what overlaps it.
// Liveness is not computed, so it cannot be computed wrongly.
#include <algorithm>
#include <string>
#include <vector>

#include "compiler/check/op_check.h"

namespace fold::check {
namespace {

using format::Opcode;
using format::Storage;

struct Region {
  uint64_t begin;
  uint64_t end;
};

bool Overlap(const Region& a, const Region& b) {
  return a.begin < b.end && b.begin < a.end;
}

Region RegionOf(const format::Tensor& tensor) {
  return {tensor.offset(), tensor.offset() + tensor.bytes()};
}

// The opcodes that docs/artifact_format.md marks "in place".
bool InPlace(Opcode opcode) {
  switch (opcode) {
    case Opcode::REQUANTIZE:
    case Opcode::ADD2:
    case Opcode::MUL2:
    case Opcode::TABLE_1:
    case Opcode::TABLE_2:
    case Opcode::COPY:
    case Opcode::CLAMP:
    case Opcode::RECIPROCAL:
    case Opcode::F64_BINARY:
    case Opcode::F64_UNARY:
    case Opcode::F64_SOFTMAX:
      return true;
    default:
      return false;
  }
}

class Arena {
 public:
  explicit Arena(const format::Artifact& artifact)
      : artifact_(artifact), intact_(artifact.tensors()->size(), false) {}

  // Runs one op; a fault, or empty.
  std::string Run(const format::Op& op) {
    for (const int32_t in : *op.inputs()) {
      if (InArena(in) && !Intact(in)) {
        return "reads " + TensorName(Tensor(in)) +
               ", which is not written yet or overwritten";
      }
    }
    const Region scratch{op.scratch_offset(),
                         op.scratch_offset() + op.scratch_bytes()};
    if (op.scratch_bytes() > 0) {
      for (const int32_t in : *op.inputs()) {
        if (InArena(in) && Overlap(RegionOf(Tensor(in)), scratch)) {
          return "its scratch lies over its input";
        }
      }
    }
    std::string fault = CheckOutputs(op, scratch);
    if (!fault.empty()) return fault;
    if (op.scratch_bytes() > 0) Destroy(scratch);
    for (const int32_t out : *op.outputs()) {
      if (!InArena(out)) continue;
      Destroy(RegionOf(Tensor(out)));
      intact_[out] = true;
    }
    return "";
  }

 private:
  const format::Tensor& Tensor(int32_t number) const {
    return *artifact_.tensors()->Get(
        static_cast<flatbuffers::uoffset_t>(number));
  }
  bool InArena(int32_t number) const {
    return Tensor(number).storage() == Storage::ARENA;
  }

  // Written, or its very bytes under another shape.
  bool Intact(int32_t number) const {
    const Region region = RegionOf(Tensor(number));
    for (size_t t = 0; t < intact_.size(); ++t) {
      const Region other = RegionOf(Tensor(static_cast<int32_t>(t)));
      if (intact_[t] && other.begin == region.begin &&
          other.end == region.end) {
        return true;
      }
    }
    return false;
  }

  std::string CheckOutputs(const format::Op& op, const Region& scratch) const {
    for (const int32_t out : *op.outputs()) {
      if (!InArena(out)) continue;
      const Region written = RegionOf(Tensor(out));
      if (written.end > artifact_.plan()->arena_bytes()) {
        return "writes outside the arena";
      }
      if (op.scratch_bytes() > 0 && Overlap(written, scratch)) {
        return "its scratch lies over its output";
      }
      for (const int32_t in : *op.inputs()) {
        if (!InArena(in) || !Overlap(written, RegionOf(Tensor(in)))) continue;
        const Region read = RegionOf(Tensor(in));
        const bool same =
            read.begin == written.begin && read.end == written.end &&
            PhysicalShape(Tensor(in)) == PhysicalShape(Tensor(out));
        const bool copy =
            op.opcode() == Opcode::COPY && read.begin == written.begin;
        if (!InPlace(op.opcode()) || (!same && !copy)) {
          return "its output lies over its input " + TensorName(Tensor(in));
        }
      }
    }
    return "";
  }

  void Destroy(const Region& region) {
    for (size_t t = 0; t < intact_.size(); ++t) {
      if (intact_[t] &&
          Overlap(region, RegionOf(Tensor(static_cast<int32_t>(t))))) {
        intact_[t] = false;
      }
    }
  }

  const format::Artifact& artifact_;
  std::vector<bool> intact_;
};

}  // namespace

std::vector<CheckLine> CheckArena(const format::Artifact& artifact) {
  std::vector<CheckLine> lines;
  if (artifact.tensors() == nullptr || artifact.ops() == nullptr ||
      artifact.plan() == nullptr) {
    return {{"arena", Verdict::kVerified, "nothing runs"}};
  }
  Arena arena(artifact);
  for (const auto* op : *artifact.ops()) {
    const std::string fault = arena.Run(*op);
    if (!fault.empty()) {
      lines.push_back({"arena at op " + std::string(format::NameOf(op->name())),
                       Verdict::kWrong, fault});
    }
  }
  if (lines.empty()) {
    lines.push_back(
        {"arena", Verdict::kVerified, "every read finds what was written"});
  }
  return lines;
}

}  // namespace fold::check
