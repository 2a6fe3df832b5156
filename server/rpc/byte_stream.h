// google.bytestream.ByteStream: blobs in pieces, resumable in both directions.
#ifndef FOLD_SERVER_RPC_BYTE_STREAM_H_
#define FOLD_SERVER_RPC_BYTE_STREAM_H_

#include <memory>

#include "proto/google/bytestream/bytestream.pb.h"
#include "server/rpc/call.h"

namespace fold {

std::unique_ptr<CallHandler> MakeByteStreamRead(Call* call);
std::unique_ptr<CallHandler> MakeByteStreamWrite(Call* call);
grpc::Status QueryWriteStatus(
    Call& call, const google::bytestream::QueryWriteStatusRequest& request,
    google::bytestream::QueryWriteStatusResponse* response);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_BYTE_STREAM_H_
