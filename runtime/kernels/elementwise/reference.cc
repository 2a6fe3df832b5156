#include "runtime/kernels/elementwise/elementwise.h"

namespace fold::kernels {
namespace {

// Where result `i` finds its a (strides a_strides) or b operand.
int64_t Offset(const StridedShape& shape, const int64_t* strides, int64_t i) {
  int64_t offset = 0;
  for (int d = shape.rank - 1; d >= 0; --d) {
    offset += i % shape.dims[d] * strides[d];
    i /= shape.dims[d];
  }
  return offset;
}

void CopyElement(const void* from, int64_t i, void* to, int64_t j,
                 int64_t bytes) {
  for (int64_t k = 0; k < bytes; ++k) {
    static_cast<uint8_t*>(to)[j * bytes + k] =
        static_cast<const uint8_t*>(from)[i * bytes + k];
  }
}

}  // namespace

void Add2RangeReference(const Add2& op, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t a =
        LoadCode(op.a_type, op.a, Offset(op.shape, op.shape.a_strides, i));
    const int64_t b =
        LoadCode(op.b_type, op.b, Offset(op.shape, op.shape.b_strides, i));
    const int64_t t = WrapAdd(
        WrapAdd(WrapMul(a, op.a_multiplier), WrapMul(b, op.b_multiplier)),
        op.addend);
    const int64_t y = op.form == PairForm::kMul64 ? FloorShift(t, op.shift)
                      : op.form == PairForm::kHalfEven64
                          ? WrapAdd(HalfEvenShift(t, op.shift), op.zero)
                          : WrapAdd(HalfEvenDivide(t, op.divisor), op.zero);
    StoreCode(op.out_type, op.out, i, Clamp(y, op.lo, op.hi));
  }
}

void Mul2RangeReference(const Mul2& op, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t a =
        LoadCode(op.a_type, op.a, Offset(op.shape, op.shape.a_strides, i));
    const int64_t b =
        LoadCode(op.b_type, op.b, Offset(op.shape, op.shape.b_strides, i));
    const int64_t product = WrapMul(a - op.a_zero, b - op.b_zero);
    StoreCode(op.requant.output, op.out, i, Requantize(op.requant, product, 0));
  }
}

void RequantizeCodesRangeReference(const RequantizeCodes& op, int64_t begin,
                                   int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t x =
        LoadCode(op.x_type, op.x, Offset(op.shape, op.shape.a_strides, i));
    const int64_t channel = Offset(op.shape, op.shape.b_strides, i);
    StoreCode(op.requant.output, op.out, i,
              Requantize(op.requant, WrapAdd(x, -op.x_zero), channel));
  }
}

void Table1RangeReference(const Table1& op, int64_t begin, int64_t end) {
  const int64_t entries = int64_t{1} << (8 * CodeBytes(op.x_type));
  for (int64_t i = begin; i < end; ++i) {
    const int64_t x =
        LoadCode(op.x_type, op.x, Offset(op.shape, op.shape.a_strides, i));
    const int64_t channel = Offset(op.shape, op.shape.b_strides, i);
    CopyElement(op.table, channel * entries + x - LowestCode(op.x_type), op.out,
                i, op.element_bytes);
  }
}

void Table2RangeReference(const Table2& op, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t a =
        LoadCode(op.a_type, op.a, Offset(op.shape, op.shape.a_strides, i));
    const int64_t b =
        LoadCode(op.b_type, op.b, Offset(op.shape, op.shape.b_strides, i));
    CopyElement(op.table,
                (a - LowestCode(op.a_type)) * 256 + b - LowestCode(op.b_type),
                op.out, i, op.element_bytes);
  }
}

void ReciprocalRangeReference(const ReciprocalCodes& op, int64_t begin,
                              int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t x =
        LoadCode(op.x_type, op.x, Offset(op.shape, op.shape.a_strides, i));
    const int64_t channel = Offset(op.shape, op.shape.b_strides, i);
    const int64_t n = op.numerators[channel];
    const int64_t d = op.denominators[channel] * (x - op.x_zero);
    int64_t y = 0;
    if (d != 0) {
      y = Clamp(HalfEvenDivide(d < 0 ? -n : n, d < 0 ? -d : d) + op.zero, op.lo,
                op.hi);
    } else {
      y = n > 0 ? op.hi : n < 0 ? op.lo : Clamp(op.zero, op.lo, op.hi);
    }
    StoreCode(op.out_type, op.out, i, y);
  }
}

}  // namespace fold::kernels
