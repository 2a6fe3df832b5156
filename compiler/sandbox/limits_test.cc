#include "compiler/sandbox/limits.h"

#include <sys/resource.h>

#include "compiler/sandbox/probe.h"
#include "compiler/sandbox/sanitized.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

// "soft hard" of a limit after `first` and `second` were set.
std::string After(const ResourceLimits& first, const ResourceLimits& second,
                  decltype(RLIMIT_AS) resource) {
  return TryInChild([&] {
    std::string error = SetLimits(first);
    if (error.empty()) error = SetLimits(second);
    rlimit limit = {};
    if (getrlimit(resource, &limit) != 0) return std::string("unknown");
    return error.empty() ? std::to_string(limit.rlim_cur) + " " +
                               std::to_string(limit.rlim_max)
                         : error;
  });
}

constexpr ResourceLimits kSome = {.memory_bytes = int64_t{4} << 30,
                                  .cpu_seconds = 20,
                                  .file_bytes = 1 << 20,
                                  .open_files = 32};

TEST(Limits, AreSet) {
  EXPECT_EQ(After(kSome, {}, RLIMIT_CPU), "20 21");
  EXPECT_EQ(After(kSome, {}, RLIMIT_FSIZE), "1048576 1048576");
  EXPECT_EQ(After(kSome, {}, RLIMIT_NOFILE), "32 32");
  if (!kSanitized) {
    EXPECT_EQ(After(kSome, {}, RLIMIT_AS), "4294967296 4294967296");
  }
}

TEST(Limits, WhatNoJobNeedsIsNothing) {
  for (auto resource :
       {RLIMIT_NPROC, RLIMIT_CORE, RLIMIT_MEMLOCK, RLIMIT_MSGQUEUE}) {
    EXPECT_EQ(After({}, {}, resource), "0 0");
  }
}

TEST(Limits, AreNeverRaised) {
  EXPECT_EQ(After(kSome, {.open_files = 1000}, RLIMIT_NOFILE), "32 32");
  EXPECT_EQ(After(kSome, {.open_files = 20}, RLIMIT_NOFILE), "20 20");
}

TEST(Limits, ZeroLeavesALimitAlone) {
  EXPECT_EQ(After({}, {}, RLIMIT_NOFILE), TryInChild([] {
              rlimit limit = {};
              getrlimit(RLIMIT_NOFILE, &limit);
              return std::to_string(limit.rlim_cur) + " " +
                     std::to_string(limit.rlim_max);
            }));
}

}  // namespace
}  // namespace fold
