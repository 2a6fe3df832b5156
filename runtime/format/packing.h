// How the constants of linear kernels lie in an artifact, for the compiler that
// writes them and the tests that check them. Pure functions over arrays; sizes
// in elements unless said otherwise. All sums are modulo 2^32, as the kernels'
// accumulators are.
//
// Matrix weights, one block a group: [N/16][K/4][16 n][4 k] int8, N padded to
// 16 and K to 4 with zeros. A stored weight is the code for S8 weights and
// code - 128 for U8 ones ("signed code"; zero points likewise). For a
// convolution K runs over (kernel row, kernel column, input channel of group).
//
// Depthwise weights: [ceil(taps/2)][C padded to 16][2] int16 holding
// weight - weight zero point, taps in (row, column) order, zeros where padded.
#ifndef RUNTIME_FORMAT_PACKING_H_
#define RUNTIME_FORMAT_PACKING_H_

#include <cstddef>
#include <cstdint>

namespace fold::format {

constexpr int64_t kPackedColumns = 16;
constexpr int64_t kPackedDepth = 4;

constexpr int64_t RoundUp(int64_t value, int64_t step) {
  return (value + step - 1) / step * step;
}

// A code as the kernels see it: `code` for signed types, code - 128 for U8.
constexpr int32_t SignedCode(int32_t code, bool is_unsigned) {
  return is_unsigned ? code - 128 : code;
}

// A code as the matrix kernels feed it, 0..255: `code` for U8, code + 128 for
// S8.
constexpr int32_t UnsignedCode(int32_t code, bool is_unsigned) {
  return is_unsigned ? code : code + 128;
}

// Bytes of the packed weights of one group of `columns` outputs.
constexpr int64_t PackedMatrixBytes(int64_t columns, int64_t depth) {
  return RoundUp(columns, kPackedColumns) * RoundUp(depth, kPackedDepth);
}

// Byte of weight (n, k) inside a group's block.
constexpr int64_t PackedMatrixIndex(int64_t n, int64_t k, int64_t depth) {
  const int64_t block =
      n / kPackedColumns * kPackedColumns * RoundUp(depth, kPackedDepth);
  return block + k / kPackedDepth * (kPackedColumns * kPackedDepth) +
         n % kPackedColumns * kPackedDepth + k % kPackedDepth;
}

// Packs one group. `weight(n, k)` gives the code (0..255 if is_unsigned, else
// -128..127). `packed` has PackedMatrixBytes(columns, depth) bytes.
template <typename WeightAt>
void PackMatrix(int64_t columns, int64_t depth, bool is_unsigned,
                WeightAt weight, int8_t* packed) {
  for (int64_t i = 0; i < PackedMatrixBytes(columns, depth); ++i) packed[i] = 0;
  for (int64_t n = 0; n < columns; ++n) {
    for (int64_t k = 0; k < depth; ++k) {
      packed[PackedMatrixIndex(n, k, depth)] =
          static_cast<int8_t>(SignedCode(weight(n, k), is_unsigned));
    }
  }
}

// correction[n] = -zx' * sum over k of (w'[n][k] - zw'[n]), where zx' is
// UnsignedCode(input zero point) and w', zw' are signed codes. With it
//   acc[n] = sum x' w' + correction[n] - zw'[n] * sum x'
// equals sum (x - zx)(w - zw), padding included (there x = zx).
// `weight_zero(n)` gives the code of column n's zero point.
template <typename WeightAt, typename ZeroAt>
void MatrixCorrections(int64_t columns, int64_t depth, bool weight_unsigned,
                       WeightAt weight, ZeroAt weight_zero, int32_t input_zero,
                       bool input_unsigned, int32_t* correction) {
  const uint32_t zx =
      static_cast<uint32_t>(UnsignedCode(input_zero, input_unsigned));
  for (int64_t n = 0; n < columns; ++n) {
    uint32_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      sum += static_cast<uint32_t>(static_cast<int32_t>(weight(n, k)) -
                                   static_cast<int32_t>(weight_zero(n)));
    }
    correction[n] = static_cast<int32_t>(0u - zx * sum);
  }
}

// Elements (int16) of packed depthwise weights.
constexpr int64_t PackedDepthwiseElements(int64_t taps, int64_t channels) {
  return (taps + 1) / 2 * RoundUp(channels, kPackedColumns) * 2;
}

constexpr int64_t PackedDepthwiseIndex(int64_t tap, int64_t channel,
                                       int64_t channels) {
  return (tap / 2 * RoundUp(channels, kPackedColumns) + channel) * 2 + tap % 2;
}

// `difference(channel, tap)` gives weight - zero point, -255..255; `channels`
// counts output channels.
template <typename DifferenceAt>
void PackDepthwise(int64_t channels, int64_t taps, DifferenceAt difference,
                   int16_t* packed) {
  for (int64_t i = 0; i < PackedDepthwiseElements(taps, channels); ++i) {
    packed[i] = 0;
  }
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      packed[PackedDepthwiseIndex(tap, c, channels)] =
          static_cast<int16_t>(difference(c, tap));
    }
  }
}

}  // namespace fold::format

#endif  // RUNTIME_FORMAT_PACKING_H_
