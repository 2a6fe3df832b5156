// What a store has under an action or a model is any bytes: it is an answer
// or a miss. Where they begin with 'm' the rest is a list of manifests,
// otherwise an action's result, which is also offered as an update.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "server/cache/memory_store.h"
#include "server/result_cache.h"

namespace {

constexpr int64_t kStoreBytes = 16 << 20;

void ReadManifests(fold::ResultCache* cache, fold::Store* store,
                   const std::string& model, const fold::Bytes& bytes) {
  (void)store->Put({fold::Space::kManifest, model}, bytes);
  const auto before = cache->Manifests(model).manifests_size();
  (void)cache->Resolve(model, std::vector<std::string>{"x86-64"});
  foldd::v1::Manifest manifest;
  manifest.set_model_digest(model);
  manifest.set_action_digest(std::string(64, 'a'));
  manifest.set_target("x86-64");
  if (!cache->AddManifest(manifest).ok()) return;
  const auto after = cache->Manifests(model).manifests_size();
  if (after < 1 || after > before + 1) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  fold::MemoryStore store(kStoreBytes);
  fold::ResultCache cache(&store);
  const auto bytes = std::make_shared<const std::string>(
      reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string hash = fold::DigestOf("fuzz").hash();
  if (data[0] == 'm') {
    ReadManifests(&cache, &store, hash, bytes);
    return 0;
  }
  // The bytes are a blob as well, so that an entry can name one that is there.
  (void)store.Put({fold::Space::kBlob, fold::DigestOf(*bytes).hash()}, bytes);
  (void)store.Put({fold::Space::kAction, hash}, bytes);
  auto found = cache.Find(hash);
  if (found && found->report == nullptr) std::abort();
  build::bazel::remote::execution::v2::ActionResult result;
  if (auto failure = cache.GetActionResult({hash}, &result)) {
    if (failure->reason.empty()) std::abort();
  }
  if (result.ParseFromString(*bytes)) {
    (void)cache.UpdateActionResult({hash}, result);
  }
  return 0;
}
