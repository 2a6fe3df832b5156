// Names of blobs and uploads, as the Remote Execution API writes them for
// google.bytestream.
#ifndef FOLD_SERVER_RPC_BLOB_NAMES_H_
#define FOLD_SERVER_RPC_BLOB_NAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "compiler/api/action.h"
#include "server/cache/store.h"
#include "server/failure.h"

namespace fold {

struct BlobName {
  std::string instance;
  std::string upload;  // the caller's UUID; empty in a name to read
  std::string hash;
  int64_t size = 0;  // bytes
  Key key() const { return {Space::kBlob, hash, instance}; }
};

// [INSTANCE/]blobs/HASH/SIZE. BAD_REQUEST names what is wrong.
std::optional<Failure> ParseReadName(std::string_view text, BlobName* name);
// [INSTANCE/]uploads/UUID/blobs/HASH/SIZE[/anything].
std::optional<Failure> ParseWriteName(std::string_view text, BlobName* name);
// A digest in field `field` of a request.
std::optional<Failure> CheckDigest(const std::string& field,
                                   const Digest& digest);

// What a status of the cache is for a caller who asked for this blob.
Failure BlobFailure(const absl::Status& status, const std::string& blob);

}  // namespace fold

#endif  // FOLD_SERVER_RPC_BLOB_NAMES_H_
