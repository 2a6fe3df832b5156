// How diagnostics name the things of an untrusted file.
#ifndef FOLD_COMPILER_IMPORT_LABELS_H_
#define FOLD_COMPILER_IMPORT_LABELS_H_

#include <string>
#include <string_view>

#include "onnx/onnx_pb.h"

namespace fold::importer {

// `text` with control characters and bytes that are not UTF-8 written as \xNN,
// cut after `longest` bytes with "...".
std::string Readable(std::string_view text, size_t longest = 200);

// True if `text` is well-formed UTF-8.
bool IsUtf8(std::string_view text);

// The node's name, or "OpType->first_output" if it has none; readable.
std::string NodeLabel(const onnx::NodeProto& node);

// A message of the onnx library without the source files that it names, on
// one line, readable and cut.
std::string CleanMessage(std::string_view what);

// The node that such a message names, "" if none.
std::string NodeInMessage(std::string_view what);

// "[1,batch,?]".
std::string FormatShape(const onnx::TensorShapeProto& shape);

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_LABELS_H_
