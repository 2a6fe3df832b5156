// Reads encoding files of AIMET, formats 0.6.1 and 1.0.0 (docs/annotations.md).
#ifndef FOLD_COMPILER_ANNOTATE_TABLE_READER_H_
#define FOLD_COMPILER_ANNOTATE_TABLE_READER_H_

#include <string_view>

#include "compiler/annotate/encoding_table.h"
#include "compiler/base/diagnostic.h"

namespace fold {

// Fills `table` from a JSON text. Every fault is an error that names the entry
// and the field: bad_encoding_table (no JSON, an unknown version, a field that
// is missing, unknown, double, of a wrong type or out of range), bad_scale,
// bad_zero_point (an offset that puts zero outside the codes), unsupported_type
// (blocks, widths). After kMostFaults of them it stops. Returns false if there
// was one.
bool ReadEncodingTable(std::string_view json, EncodingTable* table,
                       Diagnostics* sink);

}  // namespace fold

#endif  // FOLD_COMPILER_ANNOTATE_TABLE_READER_H_
