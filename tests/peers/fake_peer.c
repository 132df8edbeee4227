/* A peer for the tests: it doubles its one input. Each form is right, wrong or unable in a way of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lathe/peer_abi.h"

#ifndef FAKE_ABI_VERSION
#define FAKE_ABI_VERSION LATHE_PEER_ABI_VERSION
#endif

enum { kRight, kWrong, kRough, kWinograd, kOnce, kSilent, kBroken, kEnvironment, kFormCount };

static const LathePeerForm kForms[kFormCount] = {
    {"fake", ""},                  /* right */
    {"fake_wrong", ""},            /* one element is off */
    {"fake_rough", ""},            /* off by more than rounding explains */
    {"fake_winograd", "winograd"}, /* off by as much, which that algorithm's rounding explains */
    {"fake_once", ""},             /* right in the first run alone */
    {"fake_silent", ""},           /* gives no output */
    {"fake_broken", ""},           /* does not run */
    {"fake_environment", ""}, /* right, but only in a process that was started with what peers are to find */
};

struct LathePeerCase {
  int32_t form;
  int runs;
  int64_t elements;
  float* input;
  float* output;
};

static const char* last_error = "";

static int refuse(int code, const char* reason) {
  last_error = reason;
  return code;
}

/* Whether this process was started with a variable that begins so, not whether it has it now. */
static int started_with(const char* beginning) {
  char text[1 << 16];
  FILE* file = fopen("/proc/self/environ", "rb");
  if (file == NULL) return 0;
  size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = '\0';
  for (size_t at = 0; at < size; at += strlen(text + at) + 1) {
    if (strncmp(text + at, beginning, strlen(beginning)) == 0) return 1;
  }
  return 0;
}

static int open_case(int32_t form, const char* entry, int32_t cores, const LathePeerInput* inputs,
                     int32_t input_count, LathePeerCase** opened) {
  if (strstr(entry, "\"op\":\"expression\"") == NULL || input_count != 1)
    return refuse(LATHE_PEER_UNSUPPORTED, "it doubles vectors and does nothing else");
  if (cores != 1) return refuse(LATHE_PEER_UNSUPPORTED, "it has one thread");
  if (form == kEnvironment && !started_with("GOMP_SPINCOUNT=0"))
    return refuse(LATHE_PEER_UNSUPPORTED, "its threads would spin");
  if (form == kEnvironment && !started_with("OPENBLAS_CORETYPE="))
    return refuse(LATHE_PEER_UNSUPPORTED, "it would have to know the processor");
  size_t bytes = (size_t)inputs[0].elements * sizeof(float);
  LathePeerCase* made = calloc(1, sizeof *made);
  made->form = form;
  made->elements = inputs[0].elements;
  made->input = malloc(bytes);
  made->output = malloc(bytes);
  memcpy(made->input, inputs[0].values, bytes);
  *opened = made;
  return LATHE_PEER_OK;
}

static int run_case(LathePeerCase* opened) {
  if (opened->form == kBroken) return refuse(LATHE_PEER_FAILED, "the fake peer is broken");
  float factor = 2;
  if (opened->form == kRough || opened->form == kWinograd) factor = 2.00002F;
  if (opened->form == kOnce && opened->runs > 0) factor = 3;
  for (int64_t i = 0; i < opened->elements; ++i) opened->output[i] = factor * opened->input[i];
  if (opened->form == kWrong) opened->output[opened->elements - 1] += 1;
  opened->runs = 1;
  return LATHE_PEER_OK;
}

static int read_case(LathePeerCase* opened, float* output, int64_t elements) {
  if (elements != opened->elements) return refuse(LATHE_PEER_FAILED, "the output has another size");
  if (opened->form != kSilent) memcpy(output, opened->output, (size_t)elements * sizeof(float));
  return LATHE_PEER_OK;
}

static void close_case(LathePeerCase* opened) {
  free(opened->input);
  free(opened->output);
  free(opened);
}

static const char* describe_error(void) { return last_error; }

static const LathePeer kPeer = {FAKE_ABI_VERSION, kFormCount, "fake 1.0", kForms,        open_case,
                                run_case,         read_case,  close_case, describe_error};

#ifdef FAKE_WITHOUT_ENTRY
LATHE_PEER_EXPORT const LathePeer* another_function(void);
const LathePeer* another_function(void) { return &kPeer; }
#else
const LathePeer* lathe_peer(void) { return &kPeer; }
#endif
