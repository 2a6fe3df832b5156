// A table of quantization parameters beside a float model, as data.
#ifndef FOLD_COMPILER_ANNOTATE_ENCODING_TABLE_H_
#define FOLD_COMPILER_ANNOTATE_ENCODING_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/encoding.h"

namespace fold {

// One row: what a tensor is quantized with.
struct EncodingEntry {
  enum class Kind : uint8_t { kActivation, kParameter };
  // What `name` is the name of: a tensor, or a node of which input or output
  // `place` is meant.
  enum class Port : uint8_t { kTensor, kInput, kOutput };
  Kind kind = Kind::kActivation;
  std::string name;
  Port port = Port::kTensor;
  int64_t place = 0;
  // A float type of `bits` bits: the tensor is not quantized, on purpose.
  bool is_float = false;
  int64_t bits = 0;
  // One scale per index of an axis that the tensor's reader decides, or that
  // the table states. Until the axis is known, encoding.axis is -1.
  bool per_channel = false;
  std::optional<int64_t> axis;
  // code_low, code_high and source are set.
  Encoding encoding;
};

struct EncodingTable {
  std::vector<EncodingEntry> entries;  // in the order of the file
};

// "param_encodings 'conv1.weight'", "activation_encodings 'conv1' input 0".
std::string SourceOf(const EncodingEntry& entry);

}  // namespace fold

#endif  // FOLD_COMPILER_ANNOTATE_ENCODING_TABLE_H_
