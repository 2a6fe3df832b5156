// Resource names of any bytes: to read, to write, and a remote cache's
// address. A name that is taken has its parts in it, and only such.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "compiler/api/action.h"
#include "compiler/api/sha256.h"
#include "server/remote/remote_address.h"
#include "server/rpc/blob_names.h"

namespace {

void CheckParts(const fold::BlobName& name) {
  if (!fold::IsSha256Hex(name.hash) || name.size < 0 ||
      !fold::IsInstanceName(name.instance)) {
    std::abort();
  }
}

std::string Prefix(const fold::BlobName& name) {
  return name.instance.empty() ? "" : name.instance + "/";
}

std::string Suffix(const fold::BlobName& name) {
  return fold::BlobText(name.hash, name.size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  fold::BlobName name;
  if (auto failure = fold::ParseReadName(text, &name)) {
    if (failure->reason.empty() || failure->message.empty()) std::abort();
  } else {
    CheckParts(name);
    if (text != Prefix(name) + Suffix(name)) std::abort();
  }
  fold::BlobName upload;
  if (!fold::ParseWriteName(text, &upload)) {
    CheckParts(upload);
    const std::string wanted =
        Prefix(upload) + "uploads/" + upload.upload + "/" + Suffix(upload);
    if (upload.upload.empty() || text.compare(0, wanted.size(), wanted) != 0) {
      std::abort();
    }
  }
  auto address = fold::ParseRemoteAddress(text);
  if (address.ok() && address->host_and_port.empty()) std::abort();
  return 0;
}
