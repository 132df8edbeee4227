#ifndef LATHE_MODEL_FACE_H
#define LATHE_MODEL_FACE_H

#include <stddef.h>
#include <stdint.h>

/* NOLINTBEGIN(readability-identifier-naming): names as C has them */
/* An open model. Any number of threads may use it at once, and several models may be open.
 *
 * A forked child may use its parent's models, whatever the parent's threads did at the fork: it has threads
 * and memory of its own from its first call on, and closes what it has. A call that a fork cuts short (from a
 * signal handler) does not go on in the child. */
typedef struct lathe_model lathe_model;

/* `size` is sizeof(lathe_open_options), by which later versions tell what they were given; all else may be 0.
 */
typedef struct lathe_open_options {
  size_t size;
  int cores; /* at most so many for one call; 0: as many as the model was compiled for */
  int calls; /* in flight at once, each with memory of its own, made when first needed; others wait. 0: one
              * for each cpu of the machine */
} lathe_open_options;

typedef struct lathe_tensor_info {
  const char* name;
  const char* type; /* "f32", "i32" .. */
  int is_constant;
  int rank;
  const int64_t* shape;
} lathe_tensor_info;

/* What the library itself says of its model. `build` stands in the folder's other files too. */
typedef struct lathe_model_info {
  size_t size; /* sizeof(lathe_model_info) when the library was made */
  const char* name;
  uint64_t build;
  int input_count;
  const lathe_tensor_info* inputs;
  int output_count;
  const lathe_tensor_info* outputs;
} lathe_model_info;

#ifdef __cplusplus
extern "C" {
#endif

/* Opens the artifact in `folder` on at most `cores` cores, 0: as many as it was compiled for. NULL on
 * failure. */
lathe_model* lathe_open(const char* folder, int cores);
lathe_model* lathe_open_with(const char* folder, const lathe_open_options* options);

/* Runs the model once: 0 on success. Tensors are row-major and packed; those at addresses that are multiples
 * of 64 are used where they lie, others are copied. An output may lie where inputs do; outputs lie apart.
 * A constant input is compared with what it was in earlier runs and prepared anew only where it differs; NULL
 * in its place stands for "as in the last run", of whichever thread. */
int lathe_run(lathe_model* model, const void* const* inputs, void* const* outputs);

/* What went wrong in this thread's last call that failed. */
const char* lathe_error(void);

/* No call may be in flight, nor come. */
void lathe_close(lathe_model* model);

const lathe_model_info* lathe_interface(void);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(readability-identifier-naming) */

#endif /* LATHE_MODEL_FACE_H */
