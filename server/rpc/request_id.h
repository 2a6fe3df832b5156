// request_id: what makes it safe to send a request again without knowing what
// became of the first time.
#ifndef FOLD_SERVER_RPC_REQUEST_ID_H_
#define FOLD_SERVER_RPC_REQUEST_ID_H_

#include <optional>

#include "proto/foldd/v1/compiler_service.pb.h"
#include "server/rpc/call.h"

namespace fold {

// Binds the request's id, if it has one, to its content. If it was bound to
// the same content before, `spec` is the same request again: it takes an
// answer that is there, even where it asked for a fresh one, and `repeated` is
// set. If it was bound
// to another content, REQUEST_ID_REUSED.
std::optional<Failure> BindRequestId(const Call& call,
                                     const foldd::v1::CompileRequest& request,
                                     CompileRequestSpec* spec,
                                     bool* repeated = nullptr);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_REQUEST_ID_H_
