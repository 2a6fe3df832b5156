// While a Lease lives, its entry is neither evicted nor purged. (What is found
// to be wrong is quarantined all the same.) May outlive its store.
#ifndef FOLD_SERVER_CACHE_LEASE_H_
#define FOLD_SERVER_CACHE_LEASE_H_

#include <functional>
#include <utility>

namespace fold {

class Lease {
 public:
  // `release` is called once, when the lease ends.
  explicit Lease(std::function<void()> release)
      : release_(std::move(release)) {}
  Lease(Lease&& other) noexcept
      : release_(std::exchange(other.release_, nullptr)) {}
  Lease& operator=(Lease&& other) noexcept {
    std::swap(release_, other.release_);
    return *this;
  }
  ~Lease() {
    if (release_) release_();
  }

 private:
  std::function<void()> release_;
};

}  // namespace fold

#endif  // FOLD_SERVER_CACHE_LEASE_H_
