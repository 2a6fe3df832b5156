#include "client/artifact_text.h"

#include <cstdio>

namespace fold {
namespace {

std::string Text(const flatbuffers::String* text) {
  std::string out = text == nullptr ? "" : text->str();
  for (char& c : out) {  // names come from a model: nothing for terminals
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return out;
}

std::string ShapeText(format::Span<int64_t> dims) {
  std::string text = "[";
  for (int64_t i = 0; i < dims.size; ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(dims.data[i]);
  }
  return text + "]";
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

std::string QuantizationText(const format::Quantization* quantization) {
  if (quantization == nullptr) return "";
  auto scales = format::View(quantization->scales());
  auto zeros = format::View(quantization->zero_points());
  if (scales.size == 0) return "";
  std::string text = " scale " + Number(scales.data[0]);
  if (scales.size > 1) text += " … (" + std::to_string(scales.size) + ")";
  if (zeros.size > 0) text += " zero " + std::to_string(zeros.data[0]);
  return text;
}

std::string EntryText(const char* direction,
                      const format::SignatureEntry& entry) {
  return std::string(direction) + " " + Text(entry.name()) + ": " +
         format::EnumNameElementType(entry.type()) +
         ShapeText(format::View(entry.shape())) +
         QuantizationText(entry.quantization()) +
         (entry.converted() ? " (converted)" : "") + "\n";
}

std::string OpText(uint32_t number, const format::Op& op) {
  std::string text = "  " + std::to_string(number) + " " +
                     format::EnumNameOpcode(op.opcode()) + " " +
                     Text(op.name()) + " " +
                     format::EnumNameExactness(op.exactness());
  if (op.boundary()) text += " boundary";
  if (op.sources() != nullptr && op.sources()->size() > 0) {
    text += " from";
    for (const auto* source : *op.sources()) text += " " + Text(source);
  }
  return text + "\n";
}

}  // namespace

std::string ArtifactText(const format::Artifact& artifact, size_t file_bytes) {
  std::string text = "compiler " + Text(artifact.compiler()) + "\ntarget " +
                     Text(artifact.target()) + "\nsize " +
                     std::to_string(file_bytes) + " bytes, constants " +
                     std::to_string(format::ConstantsOf(artifact).size);
  if (artifact.plan() != nullptr) {
    text += ", arena " + std::to_string(artifact.plan()->arena_bytes()) +
            " (lower bound " +
            std::to_string(artifact.plan()->peak_lower_bound()) + ")";
  }
  text += "\n";
  if (artifact.inputs() != nullptr) {
    for (const auto* entry : *artifact.inputs()) {
      text += EntryText("input", *entry);
    }
  }
  if (artifact.outputs() != nullptr) {
    for (const auto* entry : *artifact.outputs()) {
      text += EntryText("output", *entry);
    }
  }
  if (artifact.ops() != nullptr) {
    text += "ops " + std::to_string(artifact.ops()->size()) + "\n";
    for (uint32_t i = 0; i < artifact.ops()->size(); ++i) {
      text += OpText(i, *artifact.ops()->Get(i));
    }
  }
  if (artifact.taps() != nullptr) {
    text += "taps " + std::to_string(artifact.taps()->size()) + "\n";
  }
  return text;
}

}  // namespace fold
