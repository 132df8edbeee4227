/* What an artifact's generated tables tell its runtime (model_runtime.cpp): which buffers there are and which
 * kernels run on them in which order. Plain C, since the tables are C; constant data, read by any thread. The
 * tables and the runtime of one model.so are made by the same Lathe, so nothing here is versioned. */
#ifndef LATHE_MODEL_TABLES_H
#define LATHE_MODEL_TABLES_H

#include "lathe/kernel_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a buffer lies: `place` is the number of the input or output, or an offset in bytes, a multiple of 64,
 * into the arena (activations), the weights (the mapped file), or the resident memory (what prepare fills).
 */
enum LatheStorage { LATHE_INPUT, LATHE_OUTPUT, LATHE_ARENA, LATHE_WEIGHTS, LATHE_RESIDENT };

typedef struct LatheBinding {
  int32_t storage;
  int64_t place;
} LatheBinding;

typedef struct LatheLaunch {
  LatheKernel entry;
  const LatheBinding* buffers;
  int32_t buffer_count;
  int32_t threads; /* the largest pool that it may be given */
} LatheLaunch;

/* One physical dimension, outermost first, holds (index[dim] / divide) % modulo; modulo 0: the whole. */
typedef struct LatheLayoutDim {
  int32_t dim;
  int64_t divide;
  int64_t modulo;
  int64_t extra;
} LatheLayoutDim;

/* An input or output: row-major outside; inside, where layout_rank > 0, in that layout. */
typedef struct LatheTensor {
  const char* name;
  int32_t element_bytes;
  int32_t is_constant;
  int32_t rank;
  const int64_t* shape;
  int32_t layout_rank;
  const LatheLayoutDim* layout;
  int64_t storage_bytes; /* in the inner layout */
  int64_t least_index;   /* the values that a 32-bit integer input may hold; any where least > most */
  int64_t most_index;
} LatheTensor;

/* The first 64 bytes of weights.bin. */
typedef struct LatheWeightsHead {
  char magic[8]; /* LATHE_WEIGHTS_MAGIC */
  uint64_t id;
  char unused[48];
} LatheWeightsHead;
#define LATHE_WEIGHTS_MAGIC "LATHEWTS"

enum LatheInstructions { LATHE_AVX2, LATHE_AVX512 };

typedef struct LatheModelTables {
  int32_t instructions;
  int32_t threads; /* the largest pool that the workspace has room for */
  int32_t input_count;
  const LatheTensor* inputs;
  int32_t output_count;
  const LatheTensor* outputs;
  int32_t prepare_count; /* run when a constant input has changed */
  const LatheLaunch* prepares;
  int32_t launch_count;
  const LatheLaunch* launches;
  int64_t arena_bytes;
  int64_t weights_bytes;
  uint64_t weights_id; /* stands in the file's head (LatheWeightsHead): a file of another build is refused */
  int64_t resident_bytes;
  int64_t workspace_bytes;
} LatheModelTables;

extern const LatheModelTables lathe_model_tables;

#ifdef __cplusplus
}
#endif
#endif /* LATHE_MODEL_TABLES_H */
