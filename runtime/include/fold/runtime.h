/* libfoldrt: runs .fold artifacts. A plain C interface.
 *
 * An artifact is opened in place: the library keeps a pointer into the caller's
 * bytes and copies nothing. Opening checks the whole file, so a hostile one is
 * refused there. After that nothing is allocated, no thread is made, nothing is
 * thrown and no state is kept: any number of fold_run calls may go on at once
 * for one model, each with an arena of its own.
 *
 * The library uses the best instruction set that the machine has. The
 * environment variable FOLD_CPU_LEVEL = portable | avx2 | avx512vnni, read by
 * fold_open, caps it; results are the same at every level.
 */
#ifndef FOLD_RUNTIME_H_
#define FOLD_RUNTIME_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fold_status {
  FOLD_OK = 0,
  FOLD_BAD_ARTIFACT = 1, /* the file breaks a rule of the format */
  FOLD_BAD_ARGUMENT = 2  /* a caller's buffer or index is wrong */
} fold_status;

/* A sentence for people, always terminated. */
typedef struct fold_error {
  char message[256];
} fold_error;

/* Element types, numbered as in the artifact. */
typedef enum fold_type {
  FOLD_U8 = 0,
  FOLD_S8 = 1,
  FOLD_U16 = 2,
  FOLD_S16 = 3,
  FOLD_U32 = 4,
  FOLD_S32 = 5,
  FOLD_U64 = 6,
  FOLD_S64 = 7,
  FOLD_F32 = 8,
  FOLD_F64 = 9,
  FOLD_BOOL = 10,
  FOLD_F16 = 11,
  FOLD_BF16 = 12
} fold_type;

/* An open artifact. Plain memory of the caller's; nothing to close. */
typedef struct fold_model {
  uint64_t opaque[8];
} fold_model;

/* An input, an output or a tap, row-major in the order of the ONNX model. The
 * pointers point into the artifact. `real = (code - zero_points[i]) *
 * scales[i] + offsets[i]`, i along `axis` or 0; counts are 0 where the value
 * has no quantization. `converted`: the artifact converts and the buffer holds
 * real numbers. */
typedef struct fold_value {
  const char* name;
  fold_type type;
  uint32_t rank;
  const int64_t* shape;
  size_t bytes;
  int converted;
  int axis; /* -1: none */
  uint32_t scale_count;
  const double* scales;
  uint32_t zero_point_count;
  const int64_t* zero_points;
  uint32_t offset_count;
  const double* offsets;
} fold_value;

/* Opens the artifact at `bytes`, which must be aligned to 64 and outlive the
 * model unchanged. `error` may be null. */
fold_status fold_open(const void* bytes, size_t size, fold_model* model,
                      fold_error* error);

uint32_t fold_input_count(const fold_model* model);
uint32_t fold_output_count(const fold_model* model);
uint32_t fold_tap_count(const fold_model* model);
/* FOLD_BAD_ARGUMENT if there is no such index. */
fold_status fold_input(const fold_model* model, uint32_t index,
                       fold_value* value);
fold_status fold_output(const fold_model* model, uint32_t index,
                        fold_value* value);
fold_status fold_tap(const fold_model* model, uint32_t index,
                     fold_value* value);

/* Working memory for one run, and its alignment (a power of two). */
size_t fold_arena_bytes(const fold_model* model);
size_t fold_arena_alignment(const fold_model* model);

const char* fold_compiler(const fold_model* model);
const char* fold_target(const fold_model* model);
/* The level that runs use: "portable", "avx2" or "avx512vnni". */
const char* fold_cpu_level(const fold_model* model);

/* Calls task(task_context, i) for each i < tasks, in any order and on any
 * threads, and returns when all are done. */
typedef void (*fold_parallel_for)(void* context, uint32_t tasks,
                                  void (*task)(void* task_context, uint32_t i),
                                  void* task_context);

/* Called on the running thread when the value of tap `index` exists. `stored`
 * is valid during the call; fold_read_tap copies it in logical order. */
typedef void (*fold_tap_callback)(void* context, uint32_t index,
                                  const void* stored);

typedef struct fold_run_options {
  void* arena; /* may be null if fold_arena_bytes is 0 */
  size_t arena_bytes;
  /* One buffer an input (output), whole and aligned to its elements; no
   * output overlaps another buffer or the arena. */
  const void* const* inputs;
  const size_t* input_bytes;
  uint32_t input_count;
  void* const* outputs;
  const size_t* output_bytes;
  uint32_t output_count;
  /* Null: one thread. `workers` tasks at most are asked for at once. */
  fold_parallel_for parallel_for;
  void* parallel_context;
  uint32_t workers;
  /* Null: no taps. */
  fold_tap_callback tap;
  void* tap_context;
} fold_run_options;

fold_status fold_run(const fold_model* model, const fold_run_options* options,
                     fold_error* error);

/* Copies a tap's value, fold_value.bytes of it, to `destination`. */
fold_status fold_read_tap(const fold_model* model, uint32_t index,
                          const void* stored, void* destination);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* FOLD_RUNTIME_H_ */
