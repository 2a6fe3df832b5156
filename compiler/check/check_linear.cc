// CONV, DEPTHWISE_CONV, FULLY_CONNECTED: inputs of every multiplication,
// every weight, corrections, and every threshold of every channel.
#include <cstring>
#include <limits>
#include <utility>

#include "compiler/check/op_check.h"
#include "runtime/format/packing.h"

namespace fold::check {
namespace {

using format::ElementType;
using format::Opcode;

// A linear op as the artifact's bytes have it.
struct LinearOp {
  Patches input;
  int64_t outputs = 0;
  int64_t input_zero = 0;
  std::vector<int32_t> weights;  // [outputs][depth], zero point subtracted
  std::vector<int64_t> shift;    // accumulator minus sum of (x - z)(w - zw)
                                 // is shift + z * sum of w: see ShiftFor
  const format::Requant* requant = nullptr;
};

int32_t Int32At(const uint8_t* bytes, int64_t index) {
  int32_t value;
  std::memcpy(&value, bytes + index * 4, sizeof(value));
  return value;
}

// Height and width of a channels-last tensor of rank 3 or 4.
bool Picture(const Shape& shape, int64_t* batch, int64_t* height,
             int64_t* width, int64_t* channels) {
  if (shape.size() != 3 && shape.size() != 4) return false;
  *batch = shape[0];
  *height = shape.size() == 4 ? shape[1] : 1;
  *width = shape[shape.size() - 2];
  *channels = shape.back();
  return true;
}

std::string ReadPatches(const CheckState& state, const format::Op& op,
                        LinearOp* linear) {
  const Shape in = PhysicalShape(state.tensor(op.inputs()->Get(0)));
  const Shape out = PhysicalShape(state.tensor(op.outputs()->Get(0)));
  if (out.empty() || in.empty()) return "scalar operands";
  linear->outputs = out.back();
  Patches& patches = linear->input;
  if (op.opcode() == Opcode::FULLY_CONNECTED) {
    const auto* parameters = op.parameters_as_FullyConnectedParameters();
    linear->input_zero = parameters->input_zero();
    linear->requant = parameters->requant();
    patches.batch = ElementCount(out) / out.back();
    patches.group_channels = ElementCount(in) / patches.batch;
    patches.batch_stride = patches.group_channels;
    patches.channel_stride = 1;
    patches.rows = {0};
    patches.columns = {0};
    return "";
  }
  const auto* parameters = op.parameters_as_ConvParameters();
  linear->input_zero = parameters->input_zero();
  linear->requant = parameters->requant();
  int64_t batch = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  int64_t outputs = 0;
  if (!Picture(in, &batch, &height, &width, &channels) ||
      !Picture(out, &patches.batch, &patches.out_height, &patches.out_width,
               &outputs)) {
    return "tensors of this rank";
  }
  patches.batch_stride = height * width * channels;
  patches.row_stride = width * channels;
  patches.column_stride = channels;
  patches.channel_stride = 1;
  patches.groups =
      op.opcode() == Opcode::DEPTHWISE_CONV ? channels : parameters->groups();
  patches.group_channels = channels / patches.groups;
  patches.kernel_height = parameters->kernel_height();
  patches.kernel_width = parameters->kernel_width();
  patches.rows =
      WindowMap(height, patches.out_height, patches.kernel_height,
                parameters->stride_height(), parameters->dilation_height(),
                parameters->pad_top());
  patches.columns =
      WindowMap(width, patches.out_width, patches.kernel_width,
                parameters->stride_width(), parameters->dilation_width(),
                parameters->pad_left());
  return "";
}

std::string ReadDepthwise(const CheckState& state, const format::Op& op,
                          LinearOp* linear) {
  const uint8_t* bytes = state.ConstantBytes(op.inputs()->Get(1));
  if (bytes == nullptr) return "weights that are not constant";
  const int64_t taps = linear->input.depth();
  const int64_t elements =
      format::PackedDepthwiseElements(taps, linear->outputs);
  std::vector<bool> used(elements, false);
  const auto at = [&](int64_t index) {
    int16_t weight;
    std::memcpy(&weight, bytes + index * 2, sizeof(weight));
    return weight;
  };
  for (int64_t c = 0; c < linear->outputs; ++c) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t index =
          format::PackedDepthwiseIndex(tap, c, linear->outputs);
      used[index] = true;
      linear->weights.push_back(at(index));
    }
  }
  for (int64_t i = 0; i < elements; ++i) {
    if (!used[i] && at(i) != 0) return "a padded weight is not 0";
  }
  for (int64_t c = 0; c < linear->outputs; ++c) {
    int64_t sum = 0;
    for (int64_t k = 0; k < taps; ++k) sum += linear->weights[c * taps + k];
    linear->shift.push_back(-linear->input_zero * sum);
  }
  return "";
}

std::string ReadMatrix(const CheckState& state, const format::Op& op,
                       LinearOp* linear) {
  const uint8_t* bytes = state.ConstantBytes(op.inputs()->Get(1));
  const uint8_t* corrections = state.ConstantBytes(op.inputs()->Get(2));
  const uint8_t* zeros = op.inputs()->size() > 3
                             ? state.ConstantBytes(op.inputs()->Get(3))
                             : nullptr;
  if (bytes == nullptr || corrections == nullptr ||
      (op.inputs()->size() > 3 && zeros == nullptr)) {
    return "weights that are not constant";
  }
  const Patches& patches = linear->input;
  const int64_t depth = patches.depth();
  const int64_t taps = patches.kernel_height * patches.kernel_width;
  const int64_t columns = linear->outputs / patches.groups;
  const int64_t block = format::PackedMatrixBytes(columns, depth);
  std::vector<bool> used(block * patches.groups, false);
  const bool bytes_unsigned =
      state.tensor(op.inputs()->Get(0)).type() == ElementType::U8;
  for (int64_t c = 0; c < linear->outputs; ++c) {
    const int64_t start = c / columns * block;
    const int64_t zero = zeros == nullptr ? 0 : Int32At(zeros, c);
    int64_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      // k runs over (channel, tap) here and over (tap, channel) there.
      const int64_t packed = k % taps * patches.group_channels + k / taps;
      const int64_t index =
          start + format::PackedMatrixIndex(c % columns, packed, depth);
      used[index] = true;
      const int64_t weight = static_cast<int8_t>(bytes[index]) - zero;
      if (weight != static_cast<int32_t>(weight)) return "a wild zero point";
      linear->weights.push_back(static_cast<int32_t>(weight));
      sum += weight;
    }
    // The kernel sums (x + 128) * w for signed x, x * w for unsigned.
    const int64_t lift = bytes_unsigned ? 0 : 128;
    linear->shift.push_back(Int32At(corrections, c) + lift * sum);
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i] && bytes[i] != 0) return "a padded weight is not 0";
  }
  return "";
}

// For each k of the file's order, k of the artifact's.
bool MatchDepth(const Patches& file, const Patches& artifact,
                std::vector<int64_t>* order) {
  const int64_t depth = file.depth();
  order->resize(depth);
  bool same = file.group_channels == artifact.group_channels;
  for (int64_t k = 0; k < depth && same; ++k) {
    (*order)[k] = k;
    same = file.At(0, 0, k) == artifact.At(0, 0, k);
  }
  if (same) return true;
  std::unordered_map<Label, int64_t> at;
  for (int64_t k = 0; k < depth; ++k) {
    if (!at.emplace(artifact.At(0, 0, k), k).second) return false;
  }
  for (int64_t k = 0; k < depth; ++k) {
    const auto found = at.find(file.At(0, 0, k));
    if (found == at.end()) return false;
    (*order)[k] = found->second;
  }
  return true;
}

std::string Place(int64_t position, int64_t channel, int64_t k) {
  return "output position " + std::to_string(position) + ", channel " +
         std::to_string(channel) + ", weight " + std::to_string(k);
}

// Every multiplication reads the right element and has the right weight.
std::string CompareProducts(const LinearDefinition& file,
                            const LinearOp& artifact) {
  const Patches& a = artifact.input;
  const Patches& f = file.input;
  if (a.positions() != f.positions() || a.depth() != f.depth() ||
      artifact.outputs != file.outputs) {
    return "another number of outputs or inputs";
  }
  const int64_t depth = f.depth();
  std::vector<int64_t> order;
  if (!MatchDepth(f, a, &order)) {
    return "reads other elements than the ONNX operator (" + Place(0, 0, 0) +
           ")";
  }
  PairSet done;
  for (int64_t c = 0; c < file.outputs; ++c) {
    const int64_t group_a = c / (artifact.outputs / a.groups);
    const int64_t group_f = c / (file.outputs / f.groups);
    for (int64_t k = 0; k < depth; ++k) {
      if (file.weights[c * depth + k] !=
          artifact.weights[c * depth + order[k]]) {
        return Place(0, c, k) + ": expected weight " +
               std::to_string(file.weights[c * depth + k]) + ", got " +
               std::to_string(artifact.weights[c * depth + order[k]]);
      }
    }
    if (!done.Insert(group_a, group_f)) continue;
    for (int64_t p = 0; p < f.positions(); ++p) {
      for (int64_t k = 0; k < depth; ++k) {
        if (f.At(group_f, p, k) != a.At(group_a, p, order[k])) {
          return Place(p, c, k) +
                 ": reads another element (or pads with "
                 "another value) than the ONNX operator";
        }
      }
    }
  }
  return "";
}

bool FitsInt32(int64_t x) { return x == static_cast<int32_t>(x); }

// Thresholds of all channels. `over` lies over the linear root.
Outcome CompareChannels(const Target& target, const LinearDefinition& file,
                        const LinearOp& artifact) {
  const Form form(artifact.requant);
  if (const auto fault = form.Fault()) return Wrong(*fault);
  const Value& over = target.over;
  const int64_t depth = file.input.depth();
  const int64_t picture = file.input.out_height * file.input.out_width;
  PairSet done;
  int64_t thresholds = 0;
  for (size_t i = 0; i < over.labels->size(); ++i) {
    const int64_t channel =
        ElementOf((*over.labels)[i]) / picture % file.outputs;
    const auto cls = static_cast<size_t>(over.ClassOf(i));
    if (!done.Insert(channel, static_cast<int64_t>(cls))) continue;
    int64_t sum = 0;
    for (int64_t k = 0; k < depth; ++k)
      sum += file.weights[channel * depth + k];
    // Accumulators are modulo 2^32.
    const auto shift = static_cast<int32_t>(static_cast<uint32_t>(
        static_cast<uint64_t>(artifact.shift[channel] + file.zero * sum)));
    const Interval& range = over.ranges[cls];
    const std::string where = "channel " + std::to_string(channel) + ": ";
    const int64_t low = range.low->ToInt64();
    const int64_t high = range.high->ToInt64();
    if (!FitsInt32(low + shift) || !FitsInt32(high + shift)) {
      return Wrong(where + "accumulators " + std::to_string(low + shift) +
                   " to " + std::to_string(high + shift) + " leave int32");
    }
    if (form.raw()) {
      if (shift != 0) {
        return Wrong(where + "accumulators are off by " +
                     std::to_string(shift));
      }
      continue;
    }
    StepFunction ideal;
    if (const auto why = IdealSteps(over, cls, &ideal)) {
      return Unchecked(where + *why);
    }
    thresholds += static_cast<int64_t>(ideal.pieces.size()) - 1;
    const auto mismatch = CompareMonotone(ideal, [&](int64_t accumulator) {
      return form.Code(accumulator + shift, channel);
    });
    if (mismatch) return Wrong(where + "accumulator " + Describe(*mismatch));
  }
  return {Verdict::kVerified,
          std::to_string(file.outputs) + " channels, " +
              std::to_string(file.weights.size()) + " weights, " +
              std::to_string(thresholds) + " thresholds",
          nullptr,
          {}};
}

// What the output holds: position-major, channel last.
Labels OutputLabels(const Target& target, const LinearDefinition& file) {
  const ElementIndex index(*target.over.labels);
  const uint32_t root = target.over.roots[0];
  const int64_t picture = file.input.out_height * file.input.out_width;
  auto labels = std::make_shared<std::vector<Label>>();
  for (int64_t p = 0; p < file.input.positions(); ++p) {
    for (int64_t o = 0; o < file.outputs; ++o) {
      const int64_t element =
          (p / picture * file.outputs + o) * picture + p % picture;
      const int64_t at =
          index.Find(MakeLabel(root, static_cast<uint32_t>(element)));
      labels->push_back(at < 0 ? kUnknownLabel : (*target.own)[at]);
    }
  }
  return labels;
}

}  // namespace

Outcome CheckLinear(CheckState* state, const format::Op& op) {
  const Labels in = state->contents(op.inputs()->Get(0)).labels;
  if (!in) return Unchecked("its input is not known");
  LinearOp artifact;
  std::string why = ReadPatches(*state, op, &artifact);
  if (!why.empty()) return Unchecked(why);
  artifact.input.labels = in;
  artifact.input.padding =
      ConstantLabel(static_cast<int32_t>(artifact.input_zero));
  why = op.opcode() == Opcode::DEPTHWISE_CONV
            ? ReadDepthwise(*state, op, &artifact)
            : ReadMatrix(*state, op, &artifact);
  const bool packed = why.empty();
  return ForTargets(*state, op, [&](const Target& named) {
    Target target = named;
    const Roots& roots = state->network().roots();
    if (!ExpandTo(roots, Root::Kind::kLinear, &target.over)) {
      return Unchecked(named.name +
                       " is not computed by a linear operator "
                       "over integers");
    }
    const LinearDefinition& file = *roots.at(target.over.roots[0]).linear;
    if (!packed) return Wrong(why);
    const std::string fault = CompareProducts(file, artifact);
    Outcome outcome =
        fault.empty() ? CompareChannels(target, file, artifact) : Wrong(fault);
    if (Form(artifact.requant).raw() && target.over.labels != target.own) {
      outcome = Unchecked("raw accumulators under the name of codes");
    }
    if (artifact.input.positions() * artifact.outputs ==
        file.input.positions() * file.outputs) {
      outcome.labels = OutputLabels(target, file);
    }
    return outcome;
  });
}

}  // namespace fold::check
