// What a job says while it runs: messages on a pipe, each with its length
// before it (four bytes, little-endian).
#ifndef FOLD_COMPILER_API_JOB_EVENTS_H_
#define FOLD_COMPILER_API_JOB_EVENTS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "proto/foldd/v1/job.pb.h"

namespace fold {

// The writing end, in foldc (--progress-fd N). A reader that went away is not
// an error: the compile goes on in silence.
class JobEventWriter {
 public:
  // Writes nothing if `fd` is negative. Does not own the descriptor. Each
  // event carries `traceparent`.
  explicit JobEventWriter(int fd, std::string traceparent = "")
      : fd_(fd), traceparent_(std::move(traceparent)) {}
  void Progress(std::string_view pass_name, int pass_index, int pass_total);
  void Diagnostic(const foldd::v1::Diagnostic& diagnostic);

 private:
  void Write(foldd::v1::JobEvent* event);
  int fd_;
  const std::string traceparent_;
};

// The reading end: takes bytes as they come and gives whole messages.
class JobEventParser {
 public:
  void Append(std::string_view bytes);
  // The next message, if there is a whole one. Returns false without one, and
  // for good after a length above 1 MiB or bytes that are no message.
  bool Next(foldd::v1::JobEvent* event);
  bool broken() const { return broken_; }

 private:
  std::string buffer_;
  size_t start_ = 0;
  bool broken_ = false;
};

}  // namespace fold

#endif  // FOLD_COMPILER_API_JOB_EVENTS_H_
