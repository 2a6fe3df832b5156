// What became of a node or tensor of a model, and where an op of its artifact
// comes from: read off a report that has the migration sheets (--sheets).
#ifndef FOLD_COMPILER_API_EXPLAIN_H_
#define FOLD_COMPILER_API_EXPLAIN_H_

#include <span>
#include <string>
#include <string_view>

#include "proto/foldd/v1/report.pb.h"

namespace fold {

// Writes the story of `name` to `text`, a line an event, in the order of the
// passes. `name` may be an ONNX node's, an ONNX tensor's and an artifact op's
// name at once; each is told. Returns "" or why there is nothing to tell: the
// report has no sheets, or there is no such name (then with a near one).
std::string Explain(const foldd::v1::CompileReport& report,
                    std::string_view name, std::string* text);

// The command `explain NAME... --report FILE` of foldc and foldctl; `program`
// is for messages. Prints the stories and returns the exit code.
int ExplainMain(std::span<const std::string> arguments, const char* program);

}  // namespace fold

#endif  // FOLD_COMPILER_API_EXPLAIN_H_
