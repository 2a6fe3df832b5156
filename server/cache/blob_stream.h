// Blobs in pieces: no reader or writer holds more than one piece in memory.
// Each is for one thread at a time.
#ifndef FOLD_SERVER_CACHE_BLOB_STREAM_H_
#define FOLD_SERVER_CACHE_BLOB_STREAM_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace fold {

// No piece is larger.
inline constexpr int64_t kMaxPieceBytes = 1 << 20;

// Reads are sequential; the bytes are hashed on the way.
class BlobReader {
 public:
  virtual ~BlobReader() = default;
  virtual int64_t size() const = 0;  // bytes of the whole blob
  // Passes over `bytes`. OUT_OF_RANGE: there are not so many left.
  virtual absl::Status Skip(int64_t bytes) = 0;
  // The next piece, of at most `limit` and kMaxPieceBytes; "" at the end.
  // DATA_LOSS: the bytes are not those of the key, and the entry is
  // quarantined; it comes instead of the last piece.
  virtual absl::StatusOr<std::string> Read(int64_t limit) = 0;
};

// Its room was reserved when it was made. The destructor abandons what was not
// finished.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;
  // RESOURCE_EXHAUSTED: the disk is full. INVALID_ARGUMENT: more bytes than
  // were announced. After an error nothing but the destructor may follow.
  virtual absl::Status Append(std::string_view bytes) = 0;
  virtual int64_t committed() const = 0;  // bytes appended
  // The blob is there, for good, when it returns OK. INVALID_ARGUMENT: these
  // are not the bytes of the key.
  virtual absl::Status Finish() = 0;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_BLOB_STREAM_H_
