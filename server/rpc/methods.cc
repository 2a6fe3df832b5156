#include "server/rpc/methods.h"

#include "proto/foldd/v1/cache_service.pb.h"
#include "proto/foldd/v1/compiler_service.pb.h"
#include "server/rpc/action_cache.h"
#include "server/rpc/byte_stream.h"
#include "server/rpc/cache_admin_calls.h"
#include "server/rpc/cas.h"
#include "server/rpc/check_target.h"
#include "server/rpc/compile.h"
#include "server/rpc/get_target.h"
#include "server/rpc/list_targets.h"
#include "server/rpc/operations.h"
#include "server/rpc/reflection.h"
#include "server/rpc/resolve.h"
#include "server/rpc/unary.h"

namespace fold {
namespace {

namespace bytestream = google::bytestream;
namespace longrunning = google::longrunning;
namespace reapi = build::bazel::remote::execution::v2;
namespace v1 = foldd::v1;

constexpr std::string_view kActionCache =
    "build.bazel.remote.execution.v2.ActionCache";
constexpr std::string_view kByteStream = "google.bytestream.ByteStream";
constexpr std::string_view kCache = "foldd.v1.Cache";
constexpr std::string_view kCas =
    "build.bazel.remote.execution.v2.ContentAddressableStorage";
constexpr std::string_view kCompiler = "foldd.v1.Compiler";
constexpr std::string_view kOperations = "google.longrunning.Operations";
// As the server's limit for messages says.
constexpr int64_t kLargeMessage = 0;
// A piece of a blob of up to 1 MiB, with its name. An upload holds so much
// while it waits for the next one, and there may be many that wait.
constexpr int64_t kPieceMessage = (1 << 20) + (64 << 10);
constexpr int64_t kSmallMessage = 64 << 10;

const Method kMethods[] = {
    {kCompiler, "Compile", Role::kCompile, kLargeMessage, MakeCompile, true},
    {kCompiler, "StartCompile", Role::kCompile, kLargeMessage,
     MakeUnary<v1::CompileRequest, longrunning::Operation, StartCompile>, true},
    {kCompiler, "Resolve", Role::kRead, kSmallMessage,
     MakeUnary<v1::ResolveRequest, v1::ResolveResponse, Resolve>},
    {kCompiler, "ListTargets", Role::kRead, kSmallMessage,
     MakeUnary<v1::ListTargetsRequest, v1::ListTargetsResponse, ListTargets>},
    {kCompiler, "GetTarget", Role::kRead, kSmallMessage,
     MakeUnary<v1::GetTargetRequest, v1::GetTargetResponse, GetTarget>},
    {kCompiler, "CheckTarget", Role::kRead, kLargeMessage,
     MakeUnary<v1::CheckTargetRequest, v1::CheckTargetResponse, CheckTarget>},
    {kOperations, "GetOperation", Role::kRead, kSmallMessage,
     MakeUnary<longrunning::GetOperationRequest, longrunning::Operation,
               GetOperation>},
    {kOperations, "ListOperations", Role::kRead, kSmallMessage,
     MakeUnary<longrunning::ListOperationsRequest,
               longrunning::ListOperationsResponse, ListOperations>},
    {kOperations, "WaitOperation", Role::kRead, kSmallMessage,
     MakeWaitOperation},
    {kOperations, "CancelOperation", Role::kCompile, kSmallMessage,
     MakeUnary<longrunning::CancelOperationRequest, google::protobuf::Empty,
               CancelOperation>,
     true},
    {kOperations, "DeleteOperation", Role::kCompile, kSmallMessage,
     MakeUnary<longrunning::DeleteOperationRequest, google::protobuf::Empty,
               DeleteOperation>,
     true},
    {kCas, "FindMissingBlobs", Role::kRead, kLargeMessage,
     MakeUnary<reapi::FindMissingBlobsRequest, reapi::FindMissingBlobsResponse,
               FindMissingBlobs>},
    {kCas, "BatchUpdateBlobs", Role::kCompile, kLargeMessage,
     MakeUnary<reapi::BatchUpdateBlobsRequest, reapi::BatchUpdateBlobsResponse,
               BatchUpdateBlobs>},
    {kCas, "BatchReadBlobs", Role::kRead, kLargeMessage,
     MakeUnary<reapi::BatchReadBlobsRequest, reapi::BatchReadBlobsResponse,
               BatchReadBlobs>},
    {kCas, "GetTree", Role::kRead, kSmallMessage, MakeGetTree},
    {kByteStream, "Read", Role::kRead, kSmallMessage, MakeByteStreamRead},
    {kByteStream, "Write", Role::kCompile, kPieceMessage, MakeByteStreamWrite},
    {kByteStream, "QueryWriteStatus", Role::kCompile, kSmallMessage,
     MakeUnary<bytestream::QueryWriteStatusRequest,
               bytestream::QueryWriteStatusResponse, QueryWriteStatus>},
    {kActionCache, "GetActionResult", Role::kRead, kSmallMessage,
     MakeUnary<reapi::GetActionResultRequest, reapi::ActionResult,
               GetActionResult>},
    // Who writes here decides what others are answered.
    {kActionCache, "UpdateActionResult", Role::kAdminister, kLargeMessage,
     MakeUnary<reapi::UpdateActionResultRequest, reapi::ActionResult,
               UpdateActionResult>,
     true},
    {"build.bazel.remote.execution.v2.Capabilities", "GetCapabilities",
     Role::kRead, kSmallMessage,
     MakeUnary<reapi::GetCapabilitiesRequest, reapi::ServerCapabilities,
               GetCapabilities>},
    {kCache, "GetCacheStats", Role::kRead, kSmallMessage,
     MakeUnary<v1::GetCacheStatsRequest, v1::GetCacheStatsResponse,
               GetCacheStats>},
    {kCache, "ExplainAction", Role::kRead, kLargeMessage,
     MakeUnary<v1::ExplainActionRequest, v1::ExplainActionResponse,
               ExplainAction>},
    {kCache, "PinEntry", Role::kAdminister, kSmallMessage,
     MakeUnary<v1::PinEntryRequest, v1::PinEntryResponse, PinEntry>, true},
    {kCache, "UnpinEntry", Role::kAdminister, kSmallMessage,
     MakeUnary<v1::UnpinEntryRequest, v1::UnpinEntryResponse, UnpinEntry>,
     true},
    {kCache, "PurgeEntries", Role::kAdminister, kSmallMessage,
     MakeUnary<v1::PurgeEntriesRequest, v1::PurgeEntriesResponse, PurgeEntries>,
     true},
    {kCache, "RecallEntry", Role::kAdminister, kSmallMessage,
     MakeUnary<v1::RecallEntryRequest, v1::RecallEntryResponse, RecallEntry>,
     true},
    {kCache, "VerifyEntries", Role::kAdminister, kSmallMessage,
     MakeUnary<v1::VerifyEntriesRequest, v1::VerifyEntriesResponse,
               VerifyEntries>,
     true},
    {"grpc.reflection.v1alpha.ServerReflection", "ServerReflectionInfo",
     Role::kRead, kSmallMessage, MakeReflection},
};

}  // namespace

std::span<const Method> Methods() { return kMethods; }

const Method* FindMethod(std::string_view path) {
  for (const Method& method : kMethods) {
    size_t service = method.service.size();
    if (path.size() == service + method.name.size() + 2 && path[0] == '/' &&
        path.substr(1, service) == method.service && path[service + 1] == '/' &&
        path.substr(service + 2) == method.name) {
      return &method;
    }
  }
  return nullptr;
}

}  // namespace fold
