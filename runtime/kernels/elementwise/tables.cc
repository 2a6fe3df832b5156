#include "runtime/kernels/elementwise/elementwise.h"

namespace fold::kernels {
namespace {

constexpr int64_t kRun = 128;

// out[i] = table[entries[i]].
template <typename Element>
void LookUp(const void* table, const int64_t* entries, int64_t count, void* out,
            int64_t start) {
  const Element* from = static_cast<const Element*>(table);
  Element* to = static_cast<Element*>(out) + start;
  for (int64_t i = 0; i < count; ++i) to[i] = from[entries[i]];
}

void LookUpBytes(int64_t element_bytes, const void* table,
                 const int64_t* entries, int64_t count, void* out,
                 int64_t start) {
  switch (element_bytes) {
    case 1:
      return LookUp<uint8_t>(table, entries, count, out, start);
    case 2:
      return LookUp<uint16_t>(table, entries, count, out, start);
    case 4:
      return LookUp<uint32_t>(table, entries, count, out, start);
    default:
      return LookUp<uint64_t>(table, entries, count, out, start);
  }
}

}  // namespace

void Table1Range(const Table1& op, int64_t begin, int64_t end) {
  const int last = op.shape.rank - 1;
  const int64_t entries = int64_t{1} << (8 * CodeBytes(op.x_type));
  const int64_t lowest = LowestCode(op.x_type);
  const int64_t step = op.shape.b_strides[last] * entries;
  WalkRuns(op.shape, begin, end, kRun, [&](const Run& run) {
    int64_t x[kRun];
    LoadCodes(op.x_type, op.x, run.a, op.shape.a_strides[last], run.count, x);
    const int64_t base = run.b * entries - lowest;
    for (int64_t i = 0; i < run.count; ++i) x[i] += base + i * step;
    LookUpBytes(op.element_bytes, op.table, x, run.count, op.out, run.start);
  });
}

void Table2Range(const Table2& op, int64_t begin, int64_t end) {
  const int last = op.shape.rank - 1;
  const int64_t base = LowestCode(op.a_type) * 256 + LowestCode(op.b_type);
  WalkRuns(op.shape, begin, end, kRun, [&](const Run& run) {
    int64_t a[kRun];
    int64_t b[kRun];
    LoadCodes(op.a_type, op.a, run.a, op.shape.a_strides[last], run.count, a);
    LoadCodes(op.b_type, op.b, run.b, op.shape.b_strides[last], run.count, b);
    for (int64_t i = 0; i < run.count; ++i) a[i] = a[i] * 256 + b[i] - base;
    LookUpBytes(op.element_bytes, op.table, a, run.count, op.out, run.start);
  });
}

}  // namespace fold::kernels
