// Bytes to a ModelProto whose header (versions, domains) foldd can read.
#ifndef FOLD_COMPILER_IMPORT_MODEL_READER_H_
#define FOLD_COMPILER_IMPORT_MODEL_READER_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "compiler/base/diagnostic.h"
#include "compiler/import/onnx_importer.h"
#include "onnx/onnx_pb.h"

namespace fold::importer {

// Operator set versions that foldd reads.
constexpr int64_t kOldestOnnxOpset = 7;
constexpr int64_t kNewestOnnxOpset = 28;
constexpr int64_t kMicrosoftOpset = 1;
constexpr int64_t kNewestQonnxOpset = 2;
// File format versions that foldd reads.
constexpr int64_t kOldestIrVersion = 3;
constexpr int64_t kNewestIrVersion = 14;

// Version of each operator set that the model imports; "" is ai.onnx.
using OpsetVersions = std::map<std::string, int>;

// Parses and checks the header. In `model`, nodes and imports of the domain
// "ai.onnx" are renamed to "", its other name. Operator sets that no row of
// ops.def comes from may have any version. A QONNX domain that nodes use and
// the model does not import, as its first exporters wrote, is imported in
// version 1. Adds model_unreadable,
// model_too_large, model_invalid or unsupported_operator on failure.
bool ReadModel(std::span<const uint8_t> bytes, const ImportLimits& limits,
               onnx::ModelProto* model, OpsetVersions* versions,
               Diagnostics* sink);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_MODEL_READER_H_
