// Memory for kernel tests: arrays of exactly the size that the kernel may
// touch, with guard bytes on both sides, and the numbers that go wrong first.
#ifndef RUNTIME_KERNELS_TEST_GUARDED_H_
#define RUNTIME_KERNELS_TEST_GUARDED_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "runtime/numerics/cpu_level.h"

namespace fold::kernels {

template <typename T>
class Guarded {
 public:
  explicit Guarded(int64_t size, T value = T())
      : values_(static_cast<size_t>(size) + 2 * kGuard, kMark) {
    for (int64_t i = 0; i < size; ++i) data()[i] = value;
  }
  T* data() { return values_.data() + kGuard; }
  const T* data() const { return values_.data() + kGuard; }
  int64_t size() const {
    return static_cast<int64_t>(values_.size()) - 2 * kGuard;
  }
  std::vector<T> Copy() const {
    return std::vector<T>(data(), data() + size());
  }

  // Nothing outside the array has been written.
  bool Intact() const {
    for (int64_t i = 0; i < kGuard; ++i) {
      if (values_[i] != kMark || values_[values_.size() - 1 - i] != kMark) {
        return false;
      }
    }
    return true;
  }

 private:
  static constexpr int64_t kGuard = 64;
  static constexpr T kMark = static_cast<T>(0x5b);
  std::vector<T> values_;
};

// A number of T, extremes often.
template <typename T>
T AnyNumber(std::mt19937_64* random) {
  const uint64_t r = (*random)();
  constexpr T kLeast = std::numeric_limits<T>::min();
  constexpr T kMost = std::numeric_limits<T>::max();
  const T extremes[] = {kLeast, kMost, T(0), T(1)};
  return (r & 3u) == 0 ? extremes[r >> 8 & 3u] : static_cast<T>(r >> 16);
}

template <typename T>
void FillAny(Guarded<T>* array, std::mt19937_64* random) {
  for (int64_t i = 0; i < array->size(); ++i) {
    array->data()[i] = AnyNumber<T>(random);
  }
}

// Whether this machine can run a variant.
inline bool CanRun(CpuLevel level) {
#if FOLD_X86_64
  if (level == CpuLevel::kAvx2) return __builtin_cpu_supports("avx2") != 0;
  if (level == CpuLevel::kAvx512Vnni) {
    return __builtin_cpu_supports("avx512vnni") != 0 &&
           __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("avx512vl") != 0;
  }
#endif
  return level == CpuLevel::kPortable;
}

}  // namespace fold::kernels

#endif  // RUNTIME_KERNELS_TEST_GUARDED_H_
