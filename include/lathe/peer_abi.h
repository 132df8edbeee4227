/* The face of a peer: another library that computes the same cases, so that `lathe bench --peers` can measure
 * it beside Lathe's programs. A plug-in is a shared object `lathe_peer_NAME.so` that exports lathe_peer().
 * Plain C: a plug-in needs this header and the library that it wraps, nothing of Lathe.
 *
 * All calls come from one thread. That thread is kept on the cpus that the figures are taken on while it
 * opens a case and runs it first, and threads that the library starts then inherit them; runs that are timed
 * find it on the first of them. */
#ifndef LATHE_PEER_ABI_H
#define LATHE_PEER_ABI_H

#include <stdint.h>

#define LATHE_PEER_ABI_VERSION 1

/* What a call comes to. After another code than LATHE_PEER_OK, error() says why. */
#define LATHE_PEER_OK 0
#define LATHE_PEER_UNSUPPORTED 1 /* the form does not have this case: it is left out */
#define LATHE_PEER_FAILED 2

#define LATHE_PEER_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* One way in which the library computes cases, where it lets its caller choose. */
typedef struct LathePeerForm {
  const char* name;      /* what its figures are called; no other form, of any peer, has it */
  const char* algorithm; /* "winograd" where it rounds as that algorithm does; else empty */
} LathePeerForm;

/* A tensor of f32, row-major. */
typedef struct LathePeerInput {
  const float* values;
  int64_t elements;
} LathePeerInput;

/* A case that is ready to run; the plug-in says what that is. */
typedef struct LathePeerCase LathePeerCase;

typedef struct LathePeer {
  int32_t abi_version; /* LATHE_PEER_ABI_VERSION; the first field in every version */
  int32_t form_count;  /* at least 1 */
  const char* name;    /* the library and its version, for people */
  const LathePeerForm* forms;

  /* Makes a case ready: all that may happen beforehand happens here, the reordering of inputs into the
   * library's layouts and the packing of constants included. `entry` is the case's object in its workload
   * file, as JSON (workloads/README.md says which inputs it has and which of them are constants); `cores` is
   * how many threads it may use; the inputs come in the order of the formula and may go when the call
   * returns. */
  int (*open)(int32_t form, const char* entry, int32_t cores, const LathePeerInput* inputs,
              int32_t input_count, LathePeerCase** opened);
  /* Computes the case once, to the end: this is what is timed. */
  int (*run)(LathePeerCase* opened);
  /* What the last run computed, row-major in the order of the formula. */
  int (*read)(LathePeerCase* opened, float* output, int64_t elements);
  void (*close)(LathePeerCase* opened);
  /* One sentence on the last call that did not come to LATHE_PEER_OK, without a full stop; valid until the
   * next call. */
  const char* (*error)(void);
} LathePeer;

/* The one function that a plug-in exports. What it returns lives as long as the process. */
LATHE_PEER_EXPORT const LathePeer* lathe_peer(void);

#ifdef __cplusplus
}
#endif
#endif /* LATHE_PEER_ABI_H */
