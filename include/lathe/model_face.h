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

/* A size that is free: whoever runs the model chooses it, from `least` to `most`. */
typedef struct lathe_dimension {
  const char* name;
  int64_t least;
  int64_t most;
} lathe_dimension;

/* That axis of that input or output has outer x size x inner places. An axis that follows a size in another
 * way has no entry: lathe_output_shapes tells how long it is. */
typedef struct lathe_free_extent {
  int is_output;
  int tensor;
  int axis;
  int dimension;
  int64_t outer;
  int64_t inner;
} lathe_free_extent;

typedef struct lathe_free_sizes {
  int dimension_count;
  const lathe_dimension* dimensions;
  int extent_count;
  const lathe_free_extent* extents;
} lathe_free_sizes;

/* What the library itself says of its model. `build` stands in the folder's other files too. Shapes are those
 * at the largest sizes. */
typedef struct lathe_model_info {
  size_t size; /* sizeof(lathe_model_info) when the library was made */
  const char* name;
  uint64_t build;
  int input_count;
  const lathe_tensor_info* inputs;
  int output_count;
  const lathe_tensor_info* outputs;
  int launch_count; /* of a run at the largest sizes; in libraries since `size` has room for it */
  const lathe_free_sizes* free_sizes; /* NULL: all are fixed; in libraries since `size` has room for it */
} lathe_model_info;

/* When something of a timed run began and ended: nanoseconds of the system's monotonic clock. */
typedef struct lathe_interval {
  int64_t begin;
  int64_t end;
} lathe_interval;

/* A part of a launch's work that one thread did; thread 0 is the caller's. */
typedef struct lathe_part {
  int launch;
  int thread;
  lathe_interval time;
} lathe_part;

/* What a timed run tells. The caller sets `size`, and the lists with their lengths. */
typedef struct lathe_run_times {
  size_t size; /* sizeof(lathe_run_times) */
  lathe_interval call;
  lathe_interval inputs;    /* copied, converted, looked at */
  lathe_interval constants; /* compared, prepared where they changed */
  lathe_interval outputs;   /* converted */
  int launch_count;         /* that of lathe_model_info */
  lathe_interval* launches;
  int part_room;     /* how many `parts` there is room for; 0: none are wanted */
  int part_count;    /* told: how many there were, more perhaps than there was room for */
  lathe_part* parts; /* in no order. Each thread looks at the clock for its parts, which takes time too */
} lathe_run_times;

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

/* The same at sizes within the bounds of lathe_model_info: a shape for each input, or NULL for one without a
 * free size; no shapes at all stand for the largest. Outputs are packed in the shapes that
 * lathe_output_shapes gives, which needs room for each output's axes. */
int lathe_run_sized(lathe_model* model, const void* const* inputs, const int64_t* const* input_shapes,
                    void* const* outputs);
int lathe_output_shapes(lathe_model* model, const int64_t* const* input_shapes,
                        int64_t* const* output_shapes);

/* lathe_run that tells when each step of it began and ended: the launches in their order, in the threads that
 * they have in lathe_run. */
int lathe_run_timed(lathe_model* model, const void* const* inputs, void* const* outputs,
                    lathe_run_times* times);

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
