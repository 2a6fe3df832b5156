// Walks a serialized ONNX model before protobuf parses it, so that what costs
// memory or stack is counted first and every fault names field and byte.
#ifndef FOLD_COMPILER_IMPORT_WIRE_CHECK_H_
#define FOLD_COMPILER_IMPORT_WIRE_CHECK_H_

#include <cstdint>
#include <span>

#include "compiler/base/diagnostic.h"
#include "compiler/import/onnx_importer.h"

namespace fold::importer {

// True if `bytes` are one ModelProto in protobuf's wire format: each length
// within what encloses it, nesting and number of messages and strings within
// `limits`, names in UTF-8. Adds model_unreadable or model_too_large if not.
// Linear in the size; allocates nothing that the file decides.
bool CheckWire(std::span<const uint8_t> bytes, const ImportLimits& limits,
               Diagnostics* sink);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_WIRE_CHECK_H_
