// CONV and FULLY_CONNECTED: rows of codes (im2col where they do not lie in the
// input as they are) times packed columns, corrected for zero points, and
// requantized while the accumulators are still in the cache.
#include "runtime/exec/execution.h"
#include "runtime/format/packing.h"
#include "runtime/format/scratch.h"
#include "runtime/kernels/im2col/im2col.h"

namespace fold::exec {
namespace {

constexpr int64_t kTileRows = 24;
constexpr int64_t kChunkBlocks = 4;
constexpr int64_t kChunkColumns = kChunkBlocks * format::kPackedColumns;

struct MatrixOp {
  const Execution* run = nullptr;
  Window window;  // of a convolution
  const uint8_t* x = nullptr;
  const int8_t* weights = nullptr;
  const int32_t* correction = nullptr;
  const int32_t* weight_zero = nullptr;
  Requantizer requant;
  uint8_t* out = nullptr;
  uint8_t* scratch = nullptr;
  int64_t scratch_rows = 0;  // rows that fit
  uint8_t flip = 0;
  uint8_t padding = 0;  // input zero point, 0..255
  bool direct = false;  // rows lie in the input, `depth` apart
  int64_t rows = 0;
  int64_t out_height = 1;
  int64_t out_width = 1;
  int64_t groups = 1;
  int64_t columns = 0;  // of a group
  int64_t depth = 0;
  int64_t padded = 0;
};

// Adds what the zero points contribute to a tile of accumulators.
void AddCorrections(const MatrixOp& op, const kernels::GemmTile& tile,
                    int64_t first_channel, int64_t columns) {
  const int32_t* correction = op.correction + first_channel;
  for (int64_t i = 0; i < tile.rows; ++i) {
    int32_t* acc = tile.acc + i * tile.acc_stride;
    for (int64_t n = 0; n < columns; ++n) {
      acc[n] = static_cast<int32_t>(static_cast<uint32_t>(acc[n]) +
                                    static_cast<uint32_t>(correction[n]));
    }
  }
  if (op.weight_zero == nullptr) return;
  uint32_t sums[kTileRows];
  kernels::RowSums(tile, op.depth, sums);
  const int32_t* zero = op.weight_zero + first_channel;
  for (int64_t i = 0; i < tile.rows; ++i) {
    int32_t* acc = tile.acc + i * tile.acc_stride;
    for (int64_t n = 0; n < columns; ++n) {
      acc[n] = static_cast<int32_t>(static_cast<uint32_t>(acc[n]) -
                                    static_cast<uint32_t>(zero[n]) * sums[i]);
    }
  }
}

// Rows [first, first + tile.rows) of the group, for columns from block `begin`
// to block `end`.
void ComputeTile(const MatrixOp& op, kernels::GemmTile tile, int64_t first,
                 int64_t group, int64_t begin, int64_t end) {
  int32_t acc[kTileRows * kChunkColumns];
  const int64_t out_bytes = CodeBytes(op.requant.output);
  const int64_t channels = op.groups * op.columns;
  tile.acc = acc;
  tile.acc_stride = kChunkColumns;
  tile.depth = op.padded;
  const int8_t* weights =
      op.weights + group * format::PackedMatrixBytes(op.columns, op.depth);
  for (int64_t b = begin; b < end; b += kChunkBlocks) {
    tile.blocks = end - b < kChunkBlocks ? end - b : kChunkBlocks;
    tile.weights = weights + b * format::kPackedColumns * op.padded;
    op.run->kernels.gemm(tile);
    const int64_t column = b * format::kPackedColumns;
    const int64_t left = op.columns - column;
    const int64_t columns = left < tile.blocks * format::kPackedColumns
                                ? left
                                : tile.blocks * format::kPackedColumns;
    const int64_t channel = group * op.columns + column;
    AddCorrections(op, tile, channel, columns);
    op.run->kernels.requantize(
        op.requant, acc, tile.rows, columns, kChunkColumns, channel,
        op.out + (first * channels + channel) * out_bytes, channels);
  }
}

void FillTile(const MatrixOp& op, int64_t first, int64_t rows, int64_t group,
              uint8_t* scratch) {
  const int64_t image = op.window.height * op.window.width * op.window.channels;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t row = first + i;
    const int64_t line = row / op.out_width;
    kernels::Im2ColRow(op.window, op.x + line / op.out_height * image,
                       line % op.out_height, row % op.out_width,
                       group * op.window.channels / op.groups,
                       op.window.channels / op.groups, op.flip, op.padding,
                       scratch + i * op.padded, op.padded);
  }
}

// Rows [first, last), columns of blocks [begin, end) of every group.
void ComputeRows(const MatrixOp& op, int64_t first, int64_t last, int64_t begin,
                 int64_t end, uint8_t* scratch, int64_t scratch_rows) {
  const int64_t most =
      op.direct || scratch_rows > kTileRows ? kTileRows : scratch_rows;
  for (int64_t row = first; row < last; row += most) {
    kernels::GemmTile tile;
    tile.rows = last - row < most ? last - row : most;
    for (int64_t group = 0; group < op.groups; ++group) {
      if (op.direct) {
        tile.x = op.x + row * op.depth;
        tile.x_stride = op.depth;
        tile.flip = op.flip;
      } else {
        FillTile(op, row, tile.rows, group, scratch);
        tile.x = scratch;
        tile.x_stride = op.padded;
      }
      ComputeTile(op, tile, row, group, begin, end);
    }
  }
}

void RunMatrix(const MatrixOp& op) {
  const int64_t blocks = format::RoundUp(op.columns, format::kPackedColumns) /
                         format::kPackedColumns;
  const int64_t limit = op.direct ? op.run->workers : op.scratch_rows;
  const bool by_columns = op.rows < kTileRows;
  const int64_t units = by_columns ? blocks : op.rows;
  const int64_t work = op.columns * op.groups * op.depth;
  const int64_t grain = by_columns ? kChunkBlocks : 1 + 65536 / (work + 1);
  op.run->Share(
      units, grain, limit, [&](int64_t begin, int64_t end, int64_t worker) {
        // The scratch rows are shared out evenly among those that may run.
        const int64_t shares =
            op.run->workers < limit ? op.run->workers : limit;
        const int64_t rows = op.scratch_rows / (shares < 1 ? 1 : shares);
        uint8_t* scratch = op.scratch + worker * rows * op.padded;
        if (by_columns) {
          ComputeRows(op, 0, op.rows, begin, end, scratch, rows);
        } else {
          ComputeRows(op, begin, end, 0, blocks, scratch, rows);
        }
      });
}

// What both opcodes have: operands 1 to 3, scratch, element types.
void FillCommon(const OpRun& r, const format::Requant& requant,
                int32_t input_zero, MatrixOp* op) {
  const bool is_unsigned = r.Input(0).type() == format::ElementType::U8;
  op->run = r.run;
  op->x = r.InputAs<uint8_t>(0);
  op->weights = r.InputAs<int8_t>(1);
  op->correction = r.InputAs<int32_t>(2);
  if (r.InputCount() > 3) op->weight_zero = r.InputAs<int32_t>(3);
  op->requant = RequantizerFrom(requant, r.Output().type());
  op->out = r.OutputAs<uint8_t>();
  op->flip = is_unsigned ? 0 : 0x80;
  op->padding =
      static_cast<uint8_t>(format::UnsignedCode(input_zero, is_unsigned));
  op->padded = format::MatrixRowBytes(op->depth);
  op->scratch = r.run->arena + r.op->scratch_offset();
  op->scratch_rows = (static_cast<int64_t>(r.op->scratch_bytes()) -
                      format::kMatrixScratchSlack) /
                     op->padded;
}

}  // namespace

void RunConv(const OpRun& r) {
  const format::ConvParameters& p = *r.op->parameters_as_ConvParameters();
  format::ImageShape x;
  format::ImageShape y;
  format::ResolveImage(format::ShapeOf(r.Input(0)), false, &x);
  format::ResolveImage(format::ShapeOf(r.Output()), false, &y);
  MatrixOp op;
  op.window = WindowFrom(p, x);
  op.groups = p.groups();
  op.columns = y.channels / op.groups;
  op.depth =
      op.window.kernel_height * op.window.kernel_width * x.channels / op.groups;
  op.out_height = y.height;
  op.out_width = y.width;
  op.rows = y.batch * y.height * y.width;
  FillCommon(r, *p.requant(), p.input_zero(), &op);
  op.direct = op.groups == 1 && op.depth == x.channels &&
              op.depth == op.padded && p.stride_height() == 1 &&
              p.stride_width() == 1 && p.pad_top() == 0 && p.pad_left() == 0 &&
              x.height == y.height && x.width == y.width;
  RunMatrix(op);
}

void RunFullyConnected(const OpRun& r) {
  const auto& p = *r.op->parameters_as_FullyConnectedParameters();
  const format::Shape y = format::ShapeOf(r.Output());
  MatrixOp op;
  op.columns = y.dims[y.rank - 1];
  op.rows = y.Elements() / op.columns;
  op.depth = format::ShapeOf(r.Input(0)).Elements() / op.rows;
  // As a 1 x 1 convolution over `rows` positions.
  op.window.width = op.rows;
  op.window.channels = op.depth;
  op.out_width = op.rows;
  FillCommon(r, *p.requant(), p.input_zero(), &op);
  op.direct = op.depth == op.padded;
  RunMatrix(op);
}

}  // namespace fold::exec
