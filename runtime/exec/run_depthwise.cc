// DEPTHWISE_CONV: pointers to each tap of an output position, a block of
// channels at a time; a few positions share one call of the requantization.
#include <cstring>

#include "runtime/exec/execution.h"
#include "runtime/format/packing.h"

namespace fold::exec {
namespace {

constexpr int64_t kChannels = 64;
constexpr int64_t kPositions = 8;
constexpr int64_t kTaps = 64;

struct DepthwiseOp {
  const Execution* run = nullptr;
  Window window;
  const uint8_t* x = nullptr;
  const int16_t* weights = nullptr;
  Requantizer requant;
  uint8_t* out = nullptr;
  uint8_t flip = 0;
  uint8_t zero_code = 0;  // input zero point as the code that is stored
  int32_t x_zero = 0;     // and as 0..255
  int64_t multiplier = 1;
  int64_t channels = 0;  // out
  int64_t taps = 0;
  int64_t out_height = 1;
  int64_t out_width = 1;
};

// Where the taps [first, first + kTaps) of a row of outputs lie.
struct TapRow {
  int64_t count = 0;
  int64_t dx[kTaps];            // input columns to the right of the first tap
  const uint8_t* lines[kTaps];  // input line of the tap, null outside
};

// Working memory of one block of channels.
struct Block {
  int64_t first = 0;  // output channel
  int64_t count = 0;
  uint8_t padding[kChannels];
  // With a channel multiplier, the codes repeated for each output channel.
  uint8_t repeated[kTaps][kChannels];
  const uint8_t* taps[kTaps];
};

void FillTapRow(const DepthwiseOp& op, const uint8_t* image, int64_t out_y,
                int64_t first, TapRow* row) {
  const Window& w = op.window;
  row->count = op.taps - first < kTaps ? op.taps - first : kTaps;
  for (int64_t t = 0; t < row->count; ++t) {
    const int64_t y = w.InputY(out_y, (first + t) / w.kernel_width);
    row->dx[t] = (first + t) % w.kernel_width * w.dilation_width;
    row->lines[t] =
        y >= 0 && y < w.height ? image + y * w.width * w.channels : nullptr;
  }
}

// The block's codes, each repeated for the output channels that read it.
const uint8_t* Repeat(const DepthwiseOp& op, const uint8_t* codes, int64_t slot,
                      Block* block) {
  for (int64_t c = 0; c < block->count; ++c) {
    block->repeated[slot][c] = codes[(block->first + c) / op.multiplier];
  }
  return block->repeated[slot];
}

// Points the block's taps at the codes for output column out_x.
void PointTaps(const DepthwiseOp& op, const TapRow& row, int64_t out_x,
               Block* block) {
  const Window& w = op.window;
  const int64_t origin = w.InputX(out_x, 0);
  for (int64_t t = 0; t < row.count; ++t) {
    const int64_t x = origin + row.dx[t];
    if (row.lines[t] == nullptr || x < 0 || x >= w.width) {
      block->taps[t] = block->padding;
    } else if (op.multiplier == 1) {
      block->taps[t] = row.lines[t] + x * w.channels + block->first;
    } else {
      block->taps[t] = Repeat(op, row.lines[t] + x * w.channels, t, block);
    }
  }
  if (row.count % 2 != 0) block->taps[row.count] = block->padding;
}

// Adds the row's taps to the accumulators of `positions` output columns.
void AddTaps(const DepthwiseOp& op, const TapRow& row, int64_t first_tap,
             int64_t x, int64_t positions, Block* block, int32_t* acc) {
  const int64_t padded = format::RoundUp(op.channels, format::kPackedColumns);
  kernels::DepthwisePoint point;
  point.taps = block->taps;
  point.pairs = (row.count + 1) / 2;
  point.flip = op.flip;
  point.x_zero = op.x_zero;
  point.weights = op.weights + (first_tap / 2 * padded + block->first) * 2;
  point.pair_stride = 2 * padded;
  point.channels = block->count;
  for (int64_t i = 0; i < positions; ++i) {
    PointTaps(op, row, x + i, block);
    point.acc = acc + i * kChannels;
    op.run->kernels.depthwise(point);
  }
}

void Row(const DepthwiseOp& op, int64_t row) {
  const Window& w = op.window;
  const int64_t out_y = row % op.out_height;
  const uint8_t* image =
      op.x + row / op.out_height * (w.height * w.width * w.channels);
  const int64_t out_bytes = CodeBytes(op.requant.output);
  Block block;
  TapRow taps;
  std::memset(block.padding, op.zero_code, sizeof(block.padding));
  FillTapRow(op, image, out_y, 0, &taps);
  for (int64_t c = 0; c < op.channels; c += kChannels) {
    block.first = c;
    block.count = op.channels - c < kChannels ? op.channels - c : kChannels;
    for (int64_t x = 0; x < op.out_width; x += kPositions) {
      const int64_t left = op.out_width - x;
      const int64_t positions = left < kPositions ? left : kPositions;
      int32_t acc[kPositions * kChannels] = {};
      for (int64_t first = 0; first < op.taps; first += kTaps) {
        if (op.taps > kTaps) FillTapRow(op, image, out_y, first, &taps);
        AddTaps(op, taps, first, x, positions, &block, acc);
      }
      op.run->kernels.requantize(
          op.requant, acc, positions, block.count, kChannels, c,
          op.out + ((row * op.out_width + x) * op.channels + c) * out_bytes,
          op.channels);
    }
  }
}

}  // namespace

void RunDepthwiseConv(const OpRun& r) {
  const format::ConvParameters& p = *r.op->parameters_as_ConvParameters();
  format::ImageShape x;
  format::ImageShape y;
  format::ResolveImage(format::ShapeOf(r.Input(0)), false, &x);
  format::ResolveImage(format::ShapeOf(r.Output()), false, &y);
  const bool is_unsigned = r.Input(0).type() == format::ElementType::U8;
  DepthwiseOp op;
  op.run = r.run;
  op.window = WindowFrom(p, x);
  op.x = r.InputAs<uint8_t>(0);
  op.weights = r.InputAs<int16_t>(1);
  op.requant = RequantizerFrom(*p.requant(), r.Output().type());
  op.out = r.OutputAs<uint8_t>();
  op.flip = is_unsigned ? 0 : 0x80;
  op.zero_code = static_cast<uint8_t>(p.input_zero());
  op.x_zero = format::UnsignedCode(p.input_zero(), is_unsigned);
  op.multiplier = y.channels / x.channels;
  op.channels = y.channels;
  op.taps = op.window.kernel_height * op.window.kernel_width;
  op.out_height = y.height;
  op.out_width = y.width;
  const int64_t work = y.width * y.channels * op.taps;
  r.run->Share(y.batch * y.height, 1 + 65536 / (work + 1), r.run->workers,
               [&](int64_t begin, int64_t end, int64_t) {
                 for (int64_t row = begin; row < end; ++row) Row(op, row);
               });
}

}  // namespace fold::exec
