// Inside the reader: the state of one check, and one function for each family
// of opcodes. Not for use outside runtime/format.
#ifndef RUNTIME_FORMAT_CHECK_H_
#define RUNTIME_FORMAT_CHECK_H_

#include <cstdint>

#include "runtime/format/reader.h"

namespace fold::format {

// The artifact being read. Every function named Check… returns whether the rule
// holds, and Fail writes the fault and returns false.
struct Check {
  const Artifact* artifact = nullptr;
  Fault* fault = nullptr;
  // Vectors may be shared inside a hostile file; this many more elements are
  // looked at before it is refused.
  int64_t budget = 0;

  bool Fail(const char* format, ...) __attribute__((format(printf, 2, 3)));
  bool Spend(int64_t elements);

  const Tensor& TensorAt(int32_t index) const {
    return *artifact->tensors()->Get(static_cast<uint32_t>(index));
  }
};

// One op whose tensor indices and number of operands have been checked.
struct OpCheck {
  Check* check = nullptr;
  const Op* op = nullptr;
  int64_t index = 0;

  bool Fail(const char* format, ...) const
      __attribute__((format(printf, 2, 3)));

  int InputCount() const { return static_cast<int>(op->inputs()->size()); }
  const Tensor& Input(int i) const {
    return check->TensorAt(op->inputs()->Get(static_cast<uint32_t>(i)));
  }
  const Tensor& Output() const {
    return check->TensorAt(op->outputs()->Get(0));
  }
};

// Shared rules.
bool CheckShape(Check* check, Span<int64_t> dims, const char* what,
                int64_t* elements);
bool CheckPermutation(const OpCheck& c, Span<int32_t> permutation, int rank);
// All codes of [lo, hi] are codes of `type`, and lo <= hi.
bool CheckBounds(const OpCheck& c, int64_t lo, int64_t hi, ElementType type);
// Vectors have one element or `channels`.
bool CheckRequant(const OpCheck& c, const Requant* requant, int64_t channels,
                  ElementType output);
// `tensor` is a constant of `type` with `elements` elements.
bool CheckConstant(const OpCheck& c, const Tensor& tensor, ElementType type,
                   int64_t elements, const char* what);
// Axes ascend and are the input's; the result has the other dimensions.
bool CheckReduction(const OpCheck& c, const ReduceParameters& p);
// 0 < size <= 2^20 for kernels, strides and dilations, 0 <= pad <= 2^20.
template <typename Parameters>
bool CheckWindow(const OpCheck& c, const Parameters& p) {
  constexpr int32_t kMost = 1 << 20;
  const int32_t sizes[] = {p.kernel_height(),   p.kernel_width(),
                           p.stride_height(),   p.stride_width(),
                           p.dilation_height(), p.dilation_width()};
  for (int32_t size : sizes) {
    if (size < 1 || size > kMost) {
      return c.Fail("kernel, stride or dilation %d", size);
    }
  }
  if (p.pad_top() < 0 || p.pad_top() > kMost || p.pad_left() < 0 ||
      p.pad_left() > kMost) {
    return c.Fail("padding (%d, %d)", p.pad_top(), p.pad_left());
  }
  return true;
}

// One rule a kernel opcode, over its types, shapes and parameters.
bool CheckQuantize(const OpCheck& c);
bool CheckDequantize(const OpCheck& c);
bool CheckConv(const OpCheck& c);
bool CheckDepthwiseConv(const OpCheck& c);
bool CheckFullyConnected(const OpCheck& c);
bool CheckRequantize(const OpCheck& c);
bool CheckAdd2(const OpCheck& c);
bool CheckMul2(const OpCheck& c);
bool CheckTable1(const OpCheck& c);
bool CheckTable2(const OpCheck& c);
bool CheckMaxPool(const OpCheck& c);
bool CheckAveragePool(const OpCheck& c);
bool CheckReduceSum(const OpCheck& c);
bool CheckTranspose(const OpCheck& c);
bool CheckCopy(const OpCheck& c);
bool CheckConcat(const OpCheck& c);
bool CheckPad(const OpCheck& c);
bool CheckSlice(const OpCheck& c);
bool CheckClamp(const OpCheck& c);
bool CheckReciprocal(const OpCheck& c);
bool CheckF64Conv(const OpCheck& c);
bool CheckF64Gemm(const OpCheck& c);
bool CheckF64Matmul(const OpCheck& c);
bool CheckF64Binary(const OpCheck& c);
bool CheckF64Unary(const OpCheck& c);
bool CheckF64Softmax(const OpCheck& c);
bool CheckF64AveragePool(const OpCheck& c);
bool CheckF64MaxPool(const OpCheck& c);
bool CheckF64Reduce(const OpCheck& c);
bool CheckF64Cast(const OpCheck& c);

// What the reader knows about an opcode, one row each (check_op.cc).
struct OpRule {
  Opcode opcode;
  const char* name;
  int least_inputs;
  int most_inputs;
  bool in_place;
  bool scratch;
  bool (*check)(const OpCheck& c);
};
// Null for a number that is no opcode.
const OpRule* FindOpRule(Opcode opcode);
OpParameters ParametersOf(Opcode opcode);

bool CheckTensors(Check* check);
bool CheckSignature(Check* check);
bool CheckTaps(Check* check);
bool CheckOp(Check* check, int64_t index);

}  // namespace fold::format

#endif  // RUNTIME_FORMAT_CHECK_H_
