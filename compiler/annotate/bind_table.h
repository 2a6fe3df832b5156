// Binds a table of external encodings to the float tensors of a model.
#ifndef FOLD_COMPILER_ANNOTATE_BIND_TABLE_H_
#define FOLD_COMPILER_ANNOTATE_BIND_TABLE_H_

#include "compiler/annotate/encoding_table.h"
#include "compiler/base/diagnostic.h"
#include "compiler/ir/graph.h"

namespace fold {

// Each entry's encoding comes into the type of the float value that it names,
// by an ONNX tensor's name (aliases count) or by a node's name and the place of
// an input or output. The encodings that the model itself states have to be
// bound before. Entries of a float type bind nothing (float_encoding, a note).
//
// A per-channel parameter runs along the output channels of the linear operator
// that reads it: axis 0 of a Conv's weight, 1 of a ConvTranspose's, that of the
// columns of a MatMul's or Gemm's matrix; a Transpose in between is followed. A
// vector has one axis. Errors: bad_axis, where no reader says the axis or the
// scales do not fit it; conflicting_encoding, where an entry differs from
// another one or from what the model states, with both sources;
// unmatched_encoding, where an entry names no float tensor, or where a linear
// operator reads a tensor that no entry and nothing in the model quantizes
// while the table has entries of that kind. Returns false if there was one.
bool BindEncodingTable(Graph& graph, const EncodingTable& table,
                       Diagnostics* sink);

}  // namespace fold

#endif  // FOLD_COMPILER_ANNOTATE_BIND_TABLE_H_
