#include "compiler/ir/migration.h"

namespace fold {
namespace {

std::string Axis(int axis) { return axis < 0 ? "none" : std::to_string(axis); }

// " reshaped, permuted [1,0]".
std::string HowText(const std::vector<Derivation>& how) {
  std::string text;
  for (const Derivation& step : how) {
    text += text.empty() ? " " : ", ";
    text += DerivationName(step.kind);
    for (size_t i = 0; i < step.perm.size(); ++i) {
      text += (i ? "," : " [") + std::to_string(step.perm[i]);
    }
    if (!step.perm.empty()) text += "]";
  }
  return text;
}

std::string SlotText(const Slot& slot) {
  constexpr std::string_view kNames[] = {
      "",         "scales",    "zero points", "lowest code", "highest code",
      "clip low", "clip high", "attribute",   "shape"};
  std::string text(kNames[static_cast<int>(slot.kind)]);
  if (slot.kind == Slot::Kind::kAttribute) text += " " + slot.attribute;
  return text.empty() ? text : " in " + text;
}

}  // namespace

std::string_view DerivationName(Derivation::Kind kind) {
  constexpr std::string_view kNames[] = {"reshaped",  "permuted", "collapsed",
                                         "negated",   "cast",     "quantized",
                                         "evaluated", "named"};
  return kNames[static_cast<int>(kind)];
}

std::string_view LostFactName(LostFact::Kind kind) {
  constexpr std::string_view kNames[] = {"name", "shape", "element type",
                                         "scales", "zero points"};
  return kNames[static_cast<int>(kind)];
}

std::string EncodingMoveText(const EncodingMove& move) {
  switch (move.destination) {
    case EncodingMove::Destination::kType:
      break;
    case EncodingMove::Destination::kAttribute:
      return "encoding in attribute " + move.attribute;
    case EncodingMove::Destination::kMerged:
      return "encoding merged";
    case EncodingMove::Destination::kDead:
      return "encoding dead";
    case EncodingMove::Destination::kNumbers:
      return "encoding as numbers";
  }
  if (move.from_axis < 0 && move.to_axis < 0) return "encoding";
  return "axis " + Axis(move.from_axis) + "->" + Axis(move.to_axis);
}

std::string ConstantMoveText(const ConstantMove& move) {
  constexpr std::string_view kKinds[] = {"moved",    "transformed", "cloned",
                                         "absorbed", "unneeded",    "made"};
  constexpr std::string_view kWhys[] = {"", " dead", " outside the range", ""};
  std::string text(kKinds[static_cast<int>(move.kind)]);
  text += HowText(move.how);
  if (move.kind == ConstantMove::Kind::kAbsorbed ||
      move.kind == ConstantMove::Kind::kMade) {
    text += SlotText(move.slot);
  }
  text += kWhys[static_cast<int>(move.why)];
  if (move.sharing == Sharing::kCoordinated) text += " for all readers";
  if (move.sharing == Sharing::kSplit) text += ", others keep it";
  if (!move.reason.empty()) text += " \"" + move.reason + "\"";
  return text;
}

}  // namespace fold
