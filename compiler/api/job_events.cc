#include "compiler/api/job_events.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace fold {
namespace {

constexpr size_t kHeaderBytes = 4;
constexpr size_t kMaxEventBytes = 1 << 20;

uint32_t ReadLength(const char* bytes) {
  uint32_t length = 0;
  for (size_t i = 0; i < kHeaderBytes; ++i) {
    length |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i]))
              << (8 * i);
  }
  return length;
}

}  // namespace

void JobEventWriter::Progress(std::string_view pass_name, int pass_index,
                              int pass_total) {
  foldd::v1::JobEvent event;
  foldd::v1::Progress* progress = event.mutable_progress();
  progress->set_state(foldd::v1::Progress::RUNNING);
  progress->set_pass_name(std::string(pass_name));
  progress->set_pass_index(pass_index);
  progress->set_pass_total(pass_total);
  Write(&event);
}

void JobEventWriter::Diagnostic(const foldd::v1::Diagnostic& diagnostic) {
  foldd::v1::JobEvent event;
  *event.mutable_diagnostic() = diagnostic;
  Write(&event);
}

void JobEventWriter::Write(foldd::v1::JobEvent* event) {
  if (fd_ < 0) return;
  event->set_traceparent(traceparent_);
  std::string body = event->SerializeAsString();
  if (body.size() > kMaxEventBytes) return;
  std::string bytes;
  for (size_t i = 0; i < kHeaderBytes; ++i) {
    bytes += static_cast<char>(body.size() >> (8 * i) & 0xff);
  }
  bytes += body;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    ssize_t wrote = write(fd_, rest.data(), rest.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      fd_ = -1;
      return;
    }
    rest.remove_prefix(static_cast<size_t>(wrote));
  }
}

void JobEventParser::Append(std::string_view bytes) {
  if (broken_) return;
  buffer_.erase(0, start_);
  start_ = 0;
  buffer_.append(bytes);
}

bool JobEventParser::Next(foldd::v1::JobEvent* event) {
  if (broken_ || buffer_.size() - start_ < kHeaderBytes) return false;
  size_t length = ReadLength(buffer_.data() + start_);
  if (length > kMaxEventBytes) {
    broken_ = true;
    return false;
  }
  if (buffer_.size() - start_ < kHeaderBytes + length) return false;
  if (!event->ParseFromArray(buffer_.data() + start_ + kHeaderBytes,
                             static_cast<int>(length))) {
    broken_ = true;
    return false;
  }
  start_ += kHeaderBytes + length;
  return true;
}

}  // namespace fold
