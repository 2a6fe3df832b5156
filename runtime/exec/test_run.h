// Runs an artifact that a test has built, through the C interface, with the
// arena between guard bytes.
#ifndef RUNTIME_EXEC_TEST_RUN_H_
#define RUNTIME_EXEC_TEST_RUN_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/format/test_artifact.h"
#include "runtime/include/fold/runtime.h"

namespace fold::exec {

using Bytes = std::vector<uint8_t>;

template <typename T>
Bytes BytesOf(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename T>
std::vector<T> ValuesOf(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Each task on a thread of its own.
inline void ThreadedFor(void*, uint32_t tasks, void (*task)(void*, uint32_t),
                        void* context) {
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < tasks; ++i) threads.emplace_back(task, context, i);
  for (std::thread& thread : threads) thread.join();
}

struct TapSink {
  const fold_model* model;
  std::map<std::string, Bytes>* values;
};

inline void CollectTap(void* context, uint32_t index, const void* stored) {
  const TapSink& sink = *static_cast<TapSink*>(context);
  fold_value value;
  fold_tap(sink.model, index, &value);
  Bytes bytes(value.bytes);
  fold_read_tap(sink.model, index, stored, bytes.data());
  (*sink.values)[value.name] = bytes;
}

// The first output, for the inputs in order. `level` caps the instruction set.
inline Bytes RunFile(const format::TestFile& file,
                     const std::vector<Bytes>& inputs,
                     const char* level = "avx512vnni", uint32_t workers = 1,
                     std::map<std::string, Bytes>* taps = nullptr) {
  setenv("FOLD_CPU_LEVEL", level, 1);
  fold_model model;
  fold_error error;
  const fold_status opened =
      fold_open(file.data(), file.size(), &model, &error);
  EXPECT_EQ(opened, FOLD_OK) << error.message;
  if (opened != FOLD_OK) return {};
  const size_t arena_bytes = fold_arena_bytes(&model);
  constexpr size_t kGuard = 64;
  const size_t room = (arena_bytes + 63) / 64 * 64 + 2 * kGuard;
  uint8_t* memory = static_cast<uint8_t*>(std::aligned_alloc(64, room));
  std::memset(memory, 0xa5, room);
  std::vector<const void*> in;
  std::vector<size_t> in_bytes;
  for (const Bytes& input : inputs) {
    in.push_back(input.data());
    in_bytes.push_back(input.size());
  }
  fold_value value;
  fold_output(&model, 0, &value);
  Bytes output(value.bytes, 0x5a);
  void* out = output.data();
  const size_t out_bytes = output.size();
  TapSink sink = {&model, taps};
  fold_run_options options = {};
  options.arena = memory + kGuard;
  options.arena_bytes = arena_bytes;
  options.inputs = in.data();
  options.input_bytes = in_bytes.data();
  options.input_count = static_cast<uint32_t>(in.size());
  options.outputs = &out;
  options.output_bytes = &out_bytes;
  options.output_count = 1;
  if (workers > 1) {
    options.parallel_for = ThreadedFor;
    options.workers = workers;
  }
  if (taps != nullptr) {
    options.tap = CollectTap;
    options.tap_context = &sink;
  }
  EXPECT_EQ(fold_run(&model, &options, &error), FOLD_OK) << error.message;
  for (size_t i = 0; i < kGuard; ++i) EXPECT_EQ(memory[i], 0xa5);
  for (size_t i = kGuard + arena_bytes; i < room; ++i) {
    EXPECT_EQ(memory[i], 0xa5) << "written past the arena";
  }
  std::free(memory);
  return output;
}

inline constexpr const char* kLevels[] = {"portable", "avx2", "avx512vnni"};

// Bytes over the whole range, extremes more often.
inline Bytes RandomBytes(size_t size, std::mt19937* random) {
  Bytes bytes(size);
  for (uint8_t& b : bytes) {
    const uint32_t r = (*random)();
    constexpr uint8_t kExtremes[] = {0, 255, 127, 128};
    b = (r & 7u) == 0 ? kExtremes[r >> 8 & 3u] : static_cast<uint8_t>(r >> 16);
  }
  return bytes;
}

}  // namespace fold::exec

#endif  // RUNTIME_EXEC_TEST_RUN_H_
