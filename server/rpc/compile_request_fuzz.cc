// A CompileRequest of any bytes is made into an action or refused with a
// reason; the same bytes give the same action, and a request_id does not
// change what is asked for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "compiler/api/sha256.h"
#include "server/rpc/compile_request.h"

namespace {

struct Parts {
  fold::Config config;
  fold::TargetCatalog targets;
  fold::ServiceParts parts;
  Parts() {
    auto loaded = fold::TargetCatalog::Load("");
    if (!loaded.ok()) std::abort();
    targets = std::move(*loaded);
    parts.config = &config;
    parts.targets = &targets;
    parts.compiler_id = "foldc-1";
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Parts with;
  foldd::v1::CompileRequest request;
  if (!request.ParseFromArray(data, static_cast<int>(size))) return 0;
  fold::CompileRequestSpec spec, again;
  auto failure = fold::ReadCompileRequest(request, with.parts, &spec);
  if (failure) {
    if (failure->reason.empty() || failure->message.empty()) std::abort();
    return 0;
  }
  if (!fold::IsSha256Hex(spec.job.action.digest.hash())) std::abort();
  const std::string content = fold::ContentHash(request);
  request.set_request_id("another");
  if (fold::ReadCompileRequest(request, with.parts, &again)) std::abort();
  if (again.job.action.digest.hash() != spec.job.action.digest.hash() ||
      fold::ContentHash(request) != content) {
    std::abort();
  }
  return 0;
}
