// The one translation between protobuf messages and the compiler's structs.
#ifndef FOLD_COMPILER_API_CONVERT_H_
#define FOLD_COMPILER_API_CONVERT_H_

#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/target/target.h"
#include "proto/foldd/v1/compiler_service.pb.h"

namespace fold {

// Numbers that an enum does not have become values that CheckTarget refuses.
TargetDescriptor FromProto(const foldd::v1::TargetDescriptor& message);
foldd::v1::TargetDescriptor ToProto(const TargetDescriptor& target);

foldd::v1::Diagnostic ToProto(const Diagnostic& diagnostic);

// All faults of a descriptor: CheckTarget on the message.
std::vector<TargetProblem> CheckTargetMessage(
    const foldd::v1::TargetDescriptor& message);

// "error[bad_scale]: node 'q1': scale is 0", as the compiler prints it.
std::string FormatDiagnosticMessage(const foldd::v1::Diagnostic& diagnostic);

}  // namespace fold

#endif  // FOLD_COMPILER_API_CONVERT_H_
