// The options and the report of a compile: messages and the compiler's structs.
#ifndef FOLD_COMPILER_API_CONVERT_REPORT_H_
#define FOLD_COMPILER_API_CONVERT_REPORT_H_

#include "compiler/compiler.h"
#include "proto/foldd/v1/compiler_service.pb.h"
#include "proto/foldd/v1/report.pb.h"

namespace fold {

// Everything but the callbacks and the compiler's id.
CompileOptions FromProto(const foldd::v1::CompileOptions& message);

// Everything that the compiler knows. The caller fills in artifact.digest,
// action_digest, and of `run` cached, peak_memory_bytes and host.
foldd::v1::CompileReport ToProto(const CompileReport& report);

}  // namespace fold

#endif  // FOLD_COMPILER_API_CONVERT_REPORT_H_
