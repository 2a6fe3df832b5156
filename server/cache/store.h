// A store of bytes by key, and the contract that every store and decorator
// keeps (store_conformance_test.cc holds all of them to it).
//
// * Get gives exactly the bytes of the last Put of that key that returned OK,
//   or NOT_FOUND: a store may forget an entry at any time, and never gives
//   wrong bytes. DATA_LOSS: the entry was found to be wrong; it is out of
//   sight from then on, and the caller treats it as a miss.
// * Put is whole or nothing. RESOURCE_EXHAUSTED: the entry does not fit or the
//   disk is full; other entries are as they were. After OK the entry survives
//   what the store promises to survive (DiskStore: the end of the process, in
//   whatever way, and of the machine).
// * Eviction never takes what is held, leased or pinned; where only such
//   entries are left to go, a Put is RESOURCE_EXHAUSTED. What one instance
//   puts, no other sees.
// * All methods may be called from any thread at any time.
#ifndef FOLD_SERVER_CACHE_STORE_H_
#define FOLD_SERVER_CACHE_STORE_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/cache/lease.h"
#include "server/instance_name.h"

namespace fold {

// What a key's hash is the hash of.
enum class Space : uint8_t {
  kBlob,      // of the bytes themselves
  kAction,    // of an action; the bytes say what it gave
  kManifest,  // of a model; the bytes list what was made of it
};
inline constexpr Space kSpaces[] = {Space::kBlob, Space::kAction,
                                    Space::kManifest};

struct Key {
  Space space = Space::kBlob;
  std::string hash;      // 64 lower-case hexadecimal digits
  std::string instance;  // the API's instance_name; "": the default one
  friend auto operator<=>(const Key&, const Key&) = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    return std::hash<std::string>()(key.hash) +
           31 * std::hash<std::string>()(key.instance) +
           static_cast<size_t>(key.space);
  }
};

using Bytes = std::shared_ptr<const std::string>;

class Store {
 public:
  virtual ~Store() = default;
  virtual absl::StatusOr<Bytes> Get(const Key& key) = 0;
  virtual absl::Status Put(const Key& key, const Bytes& bytes) = 0;
  // Whether the entry is there; if so it counts as used now.
  virtual bool Touch(const Key& key) = 0;
  // Takes an entry that was found to be wrong out of sight.
  virtual void Quarantine(const Key& key) = 0;
  // Keeps the entry from eviction for as long as the lease lives; it counts as
  // used now. Nothing: it is not there.
  virtual std::optional<Lease> Hold(const Key& key) = 0;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_STORE_H_
