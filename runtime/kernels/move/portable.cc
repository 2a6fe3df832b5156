#include <cstring>

#include "runtime/kernels/move/move.h"

namespace fold::kernels {
namespace {

template <typename Element>
void MoveElements(const MoveBox& op) {
  const Element* x = static_cast<const Element*>(op.x);
  Element* out = static_cast<Element*>(op.out);
  const int last = op.box.rank - 1;
  const int64_t a = op.box.a_strides[last];
  const int64_t b = op.box.b_strides[last];
  WalkRuns(op.box, 0, op.box.Elements(), INT64_MAX, [&](const Run& run) {
    if (a == 1 && b == 1) {
      std::memcpy(out + run.b, x + run.a,
                  static_cast<size_t>(run.count) * sizeof(Element));
      return;
    }
    for (int64_t i = 0; i < run.count; ++i) {
      out[run.b + i * b] = x[run.a + i * a];
    }
  });
}

template <typename Element>
void FillElements(uint64_t bits, int64_t count, void* out) {
  Element* to = static_cast<Element*>(out);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Element>(bits);
}

}  // namespace

void Move(const MoveBox& op) {
  switch (op.element_bytes) {
    case 1:
      return MoveElements<uint8_t>(op);
    case 2:
      return MoveElements<uint16_t>(op);
    case 4:
      return MoveElements<uint32_t>(op);
    default:
      return MoveElements<uint64_t>(op);
  }
}

void Fill(int64_t element_bytes, uint64_t bits, int64_t count, void* out) {
  switch (element_bytes) {
    case 1:
      return FillElements<uint8_t>(bits, count, out);
    case 2:
      return FillElements<uint16_t>(bits, count, out);
    case 4:
      return FillElements<uint32_t>(bits, count, out);
    default:
      return FillElements<uint64_t>(bits, count, out);
  }
}

}  // namespace fold::kernels
