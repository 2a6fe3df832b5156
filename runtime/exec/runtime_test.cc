#include "runtime/include/fold/runtime.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/exec/test_run.h"

namespace fold::exec {
namespace {

using format::SmallNetwork;
using format::TestFile;

class Runtime : public ::testing::Test {
 protected:
  Runtime()
      : file_(SmallNetwork().Finish()), arena_(4096 + 64), x_(60), y_(120) {
    EXPECT_EQ(fold_open(file_.data(), file_.size(), &model_, &error_), FOLD_OK);
    const auto at = reinterpret_cast<uintptr_t>(arena_.data());
    options_.arena = arena_.data() + (64 - at % 64) % 64;
    options_.arena_bytes = fold_arena_bytes(&model_);
    in_ = x_.data();
    in_bytes_ = 240;
    out_ = y_.data();
    out_bytes_ = 480;
    options_.inputs = &in_;
    options_.input_bytes = &in_bytes_;
    options_.input_count = 1;
    options_.outputs = &out_;
    options_.output_bytes = &out_bytes_;
    options_.output_count = 1;
  }

  std::string RunError() {
    fold_error error;
    return fold_run(&model_, &options_, &error) == FOLD_OK ? "ok"
                                                           : error.message;
  }

  TestFile file_;
  fold_model model_;
  fold_error error_;
  std::vector<uint8_t> arena_;
  std::vector<float> x_;
  std::vector<float> y_;
  const void* in_ = nullptr;
  size_t in_bytes_ = 0;
  void* out_ = nullptr;
  size_t out_bytes_ = 0;
  fold_run_options options_ = {};
};

TEST_F(Runtime, DescribesTheSignature) {
  ASSERT_EQ(fold_input_count(&model_), 1u);
  ASSERT_EQ(fold_output_count(&model_), 1u);
  ASSERT_EQ(fold_tap_count(&model_), 2u);
  fold_value value;
  ASSERT_EQ(fold_input(&model_, 0, &value), FOLD_OK);
  EXPECT_STREQ(value.name, "x");
  EXPECT_EQ(value.type, FOLD_F32);
  ASSERT_EQ(value.rank, 4u);
  EXPECT_EQ(value.shape[3], 5);
  EXPECT_EQ(value.bytes, 240u);
  EXPECT_EQ(value.scale_count, 0u);
  ASSERT_EQ(fold_output(&model_, 0, &value), FOLD_OK);
  EXPECT_EQ(value.bytes, 480u);
  ASSERT_EQ(fold_tap(&model_, 1, &value), FOLD_OK);
  EXPECT_STREQ(value.name, "conv");
  EXPECT_EQ(value.type, FOLD_S8);
  EXPECT_EQ(fold_input(&model_, 1, &value), FOLD_BAD_ARGUMENT);
  EXPECT_EQ(fold_tap(&model_, 2, &value), FOLD_BAD_ARGUMENT);
  EXPECT_STREQ(fold_compiler(&model_), "test");
  EXPECT_EQ(fold_arena_alignment(&model_), 64u);
}

TEST_F(Runtime, RefusesWrongBuffers) {
  EXPECT_EQ(RunError(), "ok");
  in_bytes_ = 236;
  EXPECT_EQ(RunError(), "input x: 236 bytes, not 240");
  in_bytes_ = 240;
  out_ = nullptr;
  EXPECT_EQ(RunError(), "output y: 0 bytes, not 480");
  out_ = reinterpret_cast<uint8_t*>(y_.data()) + 1;
  EXPECT_EQ(RunError(), "output y: buffer is not aligned");
  out_ = y_.data();
  options_.input_count = 0;
  EXPECT_EQ(RunError(), "0 input buffers, not 1");
  options_.input_count = 1;
  options_.arena_bytes = 10;
  EXPECT_NE(RunError().find("the arena has 10 bytes"), std::string::npos);
  options_.arena_bytes = fold_arena_bytes(&model_);
  options_.arena = static_cast<uint8_t*>(options_.arena) + 4;
  EXPECT_EQ(RunError(), "the arena is not aligned to 64 bytes");
}

TEST_F(Runtime, RefusesADamagedFile) {
  file_.data()[4] = 'X';
  fold_error error;
  EXPECT_EQ(fold_open(file_.data(), file_.size(), &model_, &error),
            FOLD_BAD_ARTIFACT);
  EXPECT_STREQ(error.message, "not a .fold artifact");
  EXPECT_EQ(fold_open(file_.data(), file_.size(), &model_, nullptr),
            FOLD_BAD_ARTIFACT);
}

// The network of SmallNetwork, by hand in logical order; taps too.
TEST_F(Runtime, RunsTheNetworkAndItsTaps) {
  std::vector<float> x(60);
  for (int i = 0; i < 60; ++i) x[i] = static_cast<float>(i % 17) * 0.5f - 2.0f;
  const auto code = [&](int c, int r, int q) {
    if (r >= 4 || q >= 5) return 10;
    return static_cast<int>(x[c * 20 + r * 5 + q] * 2) + 10;
  };
  std::vector<float> want;
  std::vector<int8_t> conv;
  for (int n = 0; n < 6; ++n) {
    for (int r = 0; r < 4; ++r) {
      for (int q = 0; q < 5; ++q) {
        int sum = 0;
        for (int k = 0; k < 12; ++k) {
          sum += (code(k % 3, r + k / 6, q + k / 3 % 2) - 10) *
                 ((n * 7 + k * 5) % 41 - 20);
        }
        conv.push_back(
            static_cast<int8_t>(std::max(-128, std::min(127, sum >> 6))));
        want.push_back(static_cast<float>(conv.back()) * 0.25f);
      }
    }
  }
  for (const char* level : kLevels) {
    std::map<std::string, Bytes> taps;
    EXPECT_EQ(ValuesOf<float>(RunFile(file_, {BytesOf(x)}, level, 2, &taps)),
              want);
    EXPECT_EQ(ValuesOf<int8_t>(taps["conv"]), conv);
    ASSERT_EQ(taps["x_quantized"].size(), 60u);
    EXPECT_EQ(taps["x_quantized"][25], code(1, 1, 0));
  }
}

// Any file that the reader lets through must run inside its memory: flips bits
// and runs what opens (the sanitizers watch, and so do the arena's guards).
TEST_F(Runtime, RunsWhateverTheReaderAccepts) {
  const Bytes x(240, 0x3f);
  int accepted = 0;
  for (size_t i = 0; i < file_.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      file_.data()[i] ^= static_cast<uint8_t>(1 << bit);
      fold_model model;
      fold_value in;
      fold_value out;
      if (fold_open(file_.data(), file_.size(), &model, nullptr) == FOLD_OK &&
          fold_arena_bytes(&model) < (1u << 20) &&
          fold_input(&model, 0, &in) == FOLD_OK && in.bytes == x.size() &&
          fold_output(&model, 0, &out) == FOLD_OK && out.bytes < (1u << 20)) {
        ++accepted;
        std::map<std::string, Bytes> taps;
        RunFile(file_, {x}, kLevels[accepted % 3], 1, &taps);
      }
      file_.data()[i] ^= static_cast<uint8_t>(1 << bit);
    }
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace fold::exec
