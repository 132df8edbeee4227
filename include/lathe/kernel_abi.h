/* The face between generated machine code and whoever calls it: the measuring worker, the artifact, a test.
 * Plain C, so that an artifact's C side includes it too. Generated code refers to no other symbol than
 * memcpy and memset. */
#ifndef LATHE_KERNEL_ABI_H
#define LATHE_KERNEL_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One piece of a parallel loop: the iterations [begin, end), run by thread `thread` of the pool. */
typedef void (*LatheTask)(void* context, int64_t begin, int64_t end, int32_t thread);

/* A thread pool as generated code sees it. `run` splits [0, count) among at most `threads` threads, calls
 * `task` on each part and returns when all parts are done. The calling thread takes part as thread 0. */
typedef struct LatheParallel {
  void (*run)(const struct LatheParallel* pool, LatheTask task, void* context, int64_t count);
  int32_t threads;
  void* state;
} LatheParallel;

/* An entry point: 0 on success. `buffers` in the order of the module's metadata, each 64-byte aligned;
 * `sizes` the values of free dimensions (none yet: may be null); `workspace` 64-byte aligned, of the size
 * that the metadata gives; `pool` null means: stay on the calling thread. */
typedef int (*LatheKernel)(void* const* buffers, const int64_t* sizes, void* workspace,
                           const LatheParallel* pool);

#ifdef __cplusplus
}
#endif
#endif /* LATHE_KERNEL_ABI_H */
