// The walls of a sandbox as messages, and back.
#ifndef FOLD_COMPILER_API_SANDBOX_PROTO_H_
#define FOLD_COMPILER_API_SANDBOX_PROTO_H_

#include "compiler/sandbox/walls.h"
#include "proto/foldd/v1/job.pb.h"

namespace fold {

using SandboxWalls = google::protobuf::RepeatedPtrField<foldd::v1::SandboxWall>;

SandboxWalls ToProto(const SandboxReport& report);
// A wall that is not named does not stand; a name that this build does not
// know is passed over.
SandboxReport FromProto(const SandboxWalls& walls);

}  // namespace fold

#endif  // FOLD_COMPILER_API_SANDBOX_PROTO_H_
