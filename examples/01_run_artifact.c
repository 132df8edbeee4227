/* Runs an operator's artifact from C and checks what it computes.
 *
 *   lathe compile --workload examples/01_matmul.json --out out
 *   cc -Iout/matmul examples/01_run_artifact.c out/matmul/model.so -Wl,-rpath,$PWD/out/matmul -o run_artifact
 *   ./run_artifact out/matmul
 *
 * An artifact of a network is used in the same way; its model.h lists its inputs and outputs. */
#include <stdio.h>

#include "model.h"

enum { M = 64, N = 48, K = 32 };

/* Whole numbers, so that every order of summation gives the same result. */
static float a_at(int i, int r) { return (float)((i + 2 * r) % 7 - 3); }
static float b_at(int r, int j) { return (float)((3 * r + j) % 5 - 2); }

static int count_errors(const float* c) {
  int errors = 0;
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      float expected = 0;
      for (int r = 0; r < K; ++r) expected += a_at(i, r) * b_at(r, j);
      if (c[i * N + j] != expected) ++errors;
    }
  }
  return errors;
}

int main(int count, char** arguments) {
  static float a[M * K];
  static float b[K * N];
  static float c[M * N];
  for (int i = 0; i < M * K; ++i) a[i] = a_at(i / K, i % K);
  for (int i = 0; i < K * N; ++i) b[i] = b_at(i / N, i % N);
  if (count != 2) {
    fprintf(stderr, "usage: %s ARTIFACT\n", arguments[0]);
    return 1;
  }
  lathe_model* model = lathe_open(arguments[1], 1);
  if (model == NULL) {
    fprintf(stderr, "%s\n", lathe_error());
    return 1;
  }
  const void* inputs[] = {a, b};
  void* outputs[] = {c};
  if (lathe_run(model, inputs, outputs) != 0) {
    fprintf(stderr, "%s\n", lathe_error());
    return 1;
  }
  lathe_close(model);
  const int errors = count_errors(c);
  printf("%d of %d elements are wrong\n", errors, M * N);
  return errors == 0 ? 0 : 1;
}
