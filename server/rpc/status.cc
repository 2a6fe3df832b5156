#include "server/rpc/status.h"

#include <algorithm>
#include <string_view>

#include "compiler/api/error_table.h"
#include "proto/google/rpc/error_details.pb.h"
#include "proto/google/rpc/status.pb.h"

namespace fold {
namespace {

// A status travels in HTTP/2 headers, of which peers take 8 KiB.
constexpr size_t kMaxMessageBytes = 1024;
constexpr size_t kMaxValueBytes = 256;
constexpr size_t kMaxDetailBytes = 3072;
constexpr int64_t kRetryMilliseconds = 1000;

// Cut to a length and to what any peer can print.
std::string Clean(std::string_view text, size_t limit) {
  std::string out(text.substr(0, limit));
  for (char& c : out) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e) c = '?';
  }
  return out;
}

google::rpc::ErrorInfo MakeInfo(const Failure& failure,
                                const std::string& reason) {
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  info.set_domain(std::string(kErrorDomain));
  for (const auto& [key, value] : failure.metadata) {
    (*info.mutable_metadata())[key] = Clean(value, kMaxValueBytes);
  }
  return info;
}

google::rpc::BadRequest MakeBadRequest(const Failure& failure) {
  google::rpc::BadRequest bad;
  size_t bytes = 0;
  for (const FieldViolation& violation : failure.violations) {
    auto* out = bad.add_field_violations();
    out->set_field(Clean(violation.field, kMaxValueBytes));
    out->set_description(Clean(violation.message, kMaxValueBytes));
    bytes += out->ByteSizeLong();
    if (bytes > kMaxDetailBytes) break;
  }
  return bad;
}

google::rpc::PreconditionFailure MakeMissing(const Failure& failure) {
  google::rpc::PreconditionFailure missing;
  for (const std::string& blob : failure.missing_blobs) {
    auto* violation = missing.add_violations();
    violation->set_type("MISSING");
    violation->set_subject(blob);
    violation->set_description("the server does not have this blob");
  }
  return missing;
}

google::rpc::QuotaFailure MakeQuota(const Failure& failure) {
  google::rpc::QuotaFailure quota;
  for (const QuotaViolation& violation : failure.quota_violations) {
    auto* out = quota.add_violations();
    out->set_subject(Clean(violation.subject, kMaxValueBytes));
    out->set_description(Clean(violation.message, kMaxValueBytes));
  }
  return quota;
}

google::rpc::RetryInfo MakeRetry(int64_t milliseconds) {
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(milliseconds / 1000);
  retry.mutable_retry_delay()->set_nanos(
      static_cast<int32_t>(milliseconds % 1000) * 1'000'000);
  return retry;
}

}  // namespace

grpc::Status ToStatus(const Failure& failure) {
  // A reason without a row is a fault of ours; the caller still hears of it.
  const ErrorRow* row = FindError(failure.reason);
  auto code = row != nullptr ? static_cast<grpc::StatusCode>(row->status)
                             : grpc::StatusCode::INTERNAL;
  google::rpc::Status status;
  status.set_code(code);
  status.set_message(Clean(failure.message, kMaxMessageBytes));
  status.add_details()->PackFrom(
      MakeInfo(failure, row != nullptr ? row->reason : "INTERNAL"));
  if (!failure.violations.empty()) {
    status.add_details()->PackFrom(MakeBadRequest(failure));
  }
  if (!failure.missing_blobs.empty()) {
    status.add_details()->PackFrom(MakeMissing(failure));
  }
  if (!failure.quota_violations.empty()) {
    status.add_details()->PackFrom(MakeQuota(failure));
  }
  if (row != nullptr && row->retryable) {
    status.add_details()->PackFrom(MakeRetry(failure.retry_milliseconds > 0
                                                 ? failure.retry_milliseconds
                                                 : kRetryMilliseconds));
  }
  return {code, status.message(), status.SerializeAsString()};
}

std::string CodeName(grpc::StatusCode code) {
  return std::string(StatusCodeName(static_cast<StatusCode>(code)));
}

}  // namespace fold
