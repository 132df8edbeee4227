/* What an artifact's generated tables tell its runtime (model_runtime.cpp): which buffers there are and which
 * kernels run on them in which order. Plain C, since the tables are C; constant data, read by any thread. The
 * tables and the runtime of one model.so are made by the same Lathe, so nothing here is versioned but the C
 * face and the head of the weights. */
#ifndef LATHE_MODEL_TABLES_H
#define LATHE_MODEL_TABLES_H

#include "lathe/kernel_abi.h"
#include "lathe/model_face.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a buffer lies: `place` is the number of the input, output or pointer, or an offset in bytes, a
 * multiple of 64, into the arena (activations), the weights (the mapped file), or the resident memory (what
 * prepare fills). */
enum LatheStorage { LATHE_INPUT, LATHE_OUTPUT, LATHE_ARENA, LATHE_WEIGHTS, LATHE_RESIDENT, LATHE_POINTER };

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

/* In a buffer that many bytes on, in step n of a loop n strides more. */
typedef struct LatheStepPlace {
  LatheBinding base;
  int64_t offset;
  int64_t stride;
} LatheStepPlace;

/* Where a buffer lies in step 0 of a loop, in even and in odd ones. */
typedef struct LathePointer {
  LatheStepPlace first;
  LatheStepPlace even;
  LatheStepPlace odd;
} LathePointer;

/* Launches behind each other that run once for each step, inner loops with them. The pointers from
 * `first_pointer` on are set before each step; behind the last one, as for the step that would follow, those
 * behind them. */
typedef struct LatheLoop {
  int64_t steps; /* at most */
  int32_t first_launch;
  int32_t launch_count;
  int32_t first_pointer;
  int32_t pointer_count;
  int32_t last_count;
  int32_t has_condition;
  LatheBinding begins;  /* one byte, read before the first step: 0 where there is none */
  LatheBinding goes_on; /* one byte, read behind each: 0 where none follows */
} LatheLoop;

/* A loop of a copy: so many elements, each so many after the one before for the caller and inside. */
typedef struct LatheAxis {
  int64_t extent;
  int64_t outside;
  int64_t inside;
} LatheAxis;

/* A box of a tensor's elements, moved by nested loops; `outside` and `inside` are its first element's places.
 * axes[0] has the smallest step outside, axes[1] the smallest inside of the others; there are at least these
 * two. */
typedef struct LatheCopy {
  int64_t outside;
  int64_t inside;
  int32_t axis_count;
  const LatheAxis* axes;
} LatheCopy;

/* An input or output: row-major outside, in the kernels' layout inside. Its copies together move each element
 * once (artifact/copy_plan.h). */
typedef struct LatheTensor {
  const char* name;
  int32_t element_bytes;
  int32_t is_unsigned; /* integers: without a sign */
  int32_t is_constant;
  int32_t rank;
  const int64_t* shape;
  int32_t is_row_major; /* inside too */
  int32_t copy_count;
  const LatheCopy* copies;
  int64_t storage_bytes; /* in the inner layout */
  int64_t least_index;   /* the values that an input of integers may hold; any where least > most */
  int64_t most_index;
} LatheTensor;

/* The first 64 bytes of weights.bin. */
typedef struct LatheWeightsHead {
  char magic[8];  /* LATHE_WEIGHTS_MAGIC */
  uint64_t id;    /* of what follows */
  uint64_t build; /* of the model that it belongs to */
  char name[40];  /* that model's, cut off where it is longer; ends with 0 */
} LatheWeightsHead;
#define LATHE_WEIGHTS_MAGIC "LATHEWTS"

typedef struct LathePlans LathePlans;

typedef struct LatheModelTables {
  const char* target;  /* what it was compiled for, as in the manifest */
  uint32_t extensions; /* that its kernels have: bits in the order of the architecture's (cpu_target.h) */
  int32_t threads;     /* the largest pool that the workspace has room for */
  int32_t input_count;
  const LatheTensor* inputs;
  int32_t output_count;
  const LatheTensor* outputs;
  int32_t prepare_count; /* run when a constant input has changed */
  const LatheLaunch* prepares;
  int32_t launch_count;
  const LatheLaunch* launches;
  int32_t loop_count; /* over these launches, each behind those that it stands in */
  const LatheLoop* loops;
  int32_t pointer_count;
  const LathePointer* pointers;
  int64_t arena_bytes;
  int64_t weights_bytes;
  int64_t resident_bytes;
  int64_t workspace_bytes;
  lathe_model_info info;   /* `build` stands in the weights' head: a file of another one is refused */
  const LathePlans* plans; /* of a model with free sizes, whose own tables are those of the largest */
} LatheModelTables;

/* How sizes without kernels of their own are served: by several runs side by side, at a larger size with a
 * count of the places that count, or not at all. */
enum LatheServedBy { LATHE_BY_PARTS, LATHE_BY_COUNT, LATHE_EXACT };

/* The tables at one tuple of sizes. Behind the inputs of lathe_model_info are one i64 for each dimension that
 * goes by a count, in their order. */
typedef struct LathePlan {
  const int64_t* sizes;
  const LatheModelTables* tables;
  double seconds; /* of a run, estimated */
} LathePlan;

/* All combinations of some sizes of each dimension; the largest among them. */
struct LathePlans {
  const int32_t* served_by; /* an entry a dimension of info.free_sizes */
  int32_t plan_count;
  const LathePlan* plans;
};

/* NOLINTNEXTLINE(bugprone-dynamic-static-initializers): it is defined in C, as constant data */
extern const LatheModelTables lathe_model_tables;

/* The runtime's side of the C face (model_api.cpp), which a library shows under names of its own: calls
 * within the library reach no other library's. No model's functions have these names, which begin otherwise.
 */
lathe_model* model_runtime_open(const char* folder, const lathe_open_options* options);
int model_runtime_run(lathe_model* model, const void* const* inputs, void* const* outputs);
int model_runtime_run_timed(lathe_model* model, const void* const* inputs, void* const* outputs,
                            lathe_run_times* times);
int model_runtime_run_sized(lathe_model* model, const void* const* inputs, const int64_t* const* input_shapes,
                            void* const* outputs);
int model_runtime_output_shapes(lathe_model* model, const int64_t* const* input_shapes,
                                int64_t* const* output_shapes);
const char* model_runtime_error(void);
void model_runtime_close(lathe_model* model);

#define LATHE_DEFINE_MODEL(prefix)                                                                        \
  lathe_model* prefix##_open_with(const char* folder, const lathe_open_options* options) {                \
    return model_runtime_open(folder, options);                                                           \
  }                                                                                                       \
  lathe_model* prefix##_open(const char* folder, int cores) {                                             \
    const lathe_open_options options = {sizeof options, cores, 0};                                        \
    return model_runtime_open(folder, &options);                                                          \
  }                                                                                                       \
  int prefix##_run(lathe_model* model, const void* const* inputs, void* const* outputs) {                 \
    return model_runtime_run(model, inputs, outputs);                                                     \
  }                                                                                                       \
  int prefix##_run_timed(lathe_model* model, const void* const* inputs, void* const* outputs,             \
                         lathe_run_times* times) {                                                        \
    return model_runtime_run_timed(model, inputs, outputs, times);                                        \
  }                                                                                                       \
  int prefix##_run_sized(lathe_model* model, const void* const* inputs, const int64_t* const* shapes,     \
                         void* const* outputs) {                                                          \
    return model_runtime_run_sized(model, inputs, shapes, outputs);                                       \
  }                                                                                                       \
  int prefix##_output_shapes(lathe_model* model, const int64_t* const* inputs, int64_t* const* outputs) { \
    return model_runtime_output_shapes(model, inputs, outputs);                                           \
  }                                                                                                       \
  const char* prefix##_error(void) { return model_runtime_error(); }                                      \
  void prefix##_close(lathe_model* model) { model_runtime_close(model); }                                 \
  const lathe_model_info* prefix##_interface(void) { return &lathe_model_tables.info; }

#ifdef __cplusplus
}
#endif
#endif /* LATHE_MODEL_TABLES_H */
