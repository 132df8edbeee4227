/* Two models linked into one program: what the first computes, the second goes on with.
 *
 *   lathe compile --workload examples/04_two_models.json --out out
 *   cc -Iout examples/04_two_models.c -Lout/product -llathe_product -Lout/positive -llathe_positive \
 *     -Wl,-rpath,$PWD/out/product,-rpath,$PWD/out/positive -o two_models
 *   ./two_models out/product out/positive
 *
 * Each model's functions bear its name, which `--name` chooses; headers and libraries go together in any
 * order. */
#include <stdio.h>

#include "positive/model.h"
#include "product/model.h"

enum { M = 16, N = 24, K = 8 };

/* Whole numbers, so that every order of summation gives the same result. */
static float a_at(int i, int r) { return (float)((i + 2 * r) % 7 - 3); }
static float b_at(int r, int j) { return (float)((3 * r + j) % 5 - 2); }

static int count_errors(const float* d) {
  int errors = 0;
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      float expected = 0;
      for (int r = 0; r < K; ++r) expected += a_at(i, r) * b_at(r, j);
      if (d[i * N + j] != (expected > 0 ? expected : 0)) ++errors;
    }
  }
  return errors;
}

int main(int count, char** arguments) {
  static float a[M * K], b[K * N], c[M * N];
  for (int i = 0; i < M * K; ++i) a[i] = a_at(i / K, i % K);
  for (int i = 0; i < K * N; ++i) b[i] = b_at(i / N, i % N);
  if (count != 3) {
    fprintf(stderr, "usage: %s PRODUCT POSITIVE\n", arguments[0]);
    return 1;
  }
  lathe_model* product = lathe_product_open(arguments[1], 1);
  if (product == NULL) {
    fprintf(stderr, "%s\n", lathe_product_error());
    return 1;
  }
  lathe_model* positive = lathe_positive_open(arguments[2], 1);
  if (positive == NULL) {
    fprintf(stderr, "%s\n", lathe_positive_error());
    return 1;
  }
  const void* factors[] = {a, b};
  void* products[] = {c};
  if (lathe_product_run(product, factors, products) != 0) {
    fprintf(stderr, "%s\n", lathe_product_error());
    return 1;
  }
  /* An output may lie where an input does. */
  const void* numbers[] = {c};
  if (lathe_positive_run(positive, numbers, products) != 0) {
    fprintf(stderr, "%s\n", lathe_positive_error());
    return 1;
  }
  lathe_positive_close(positive);
  lathe_product_close(product);
  const int errors = count_errors(c);
  printf("%d of %d elements are wrong\n", errors, M * N);
  return errors == 0 ? 0 : 1;
}
