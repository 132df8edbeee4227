#include "nn/matrix.h"

#include <algorithm>

#include "base/check.h"

namespace lathe::nn {
namespace {

constexpr size_t kRows = 4;  // of the result at once: each row of b that is read serves so many

// c[rows][n] += a[rows][k] b[k][n], a by its strides: its rows or its columns are walked.
void add_rows(const float* a, size_t row_stride, size_t stride, size_t k, const Matrix& b, float* const* c,
              size_t rows) {
  const size_t n = b.columns;
  for (size_t p = 0; p < k; ++p) {
    const float* from = b.row(p);
    for (size_t i = 0; i < rows; ++i) {
      const float factor = a[i * row_stride + p * stride];
      float* into = c[i];
      for (size_t j = 0; j < n; ++j) into[j] += factor * from[j];
    }
  }
}

void add_all(const float* a, size_t row_stride, size_t stride, size_t k, const Matrix& b, Matrix& c) {
  for (size_t i = 0; i < c.rows; i += kRows) {
    const size_t rows = std::min(kRows, c.rows - i);
    float* into[kRows] = {};
    for (size_t r = 0; r < rows; ++r) into[r] = c.row(i + r);
    add_rows(a + i * row_stride, row_stride, stride, k, b, into, rows);
  }
}

}  // namespace

void add_product(const Matrix& a, const Matrix& b, Matrix& c) {
  LATHE_CHECK(a.columns == b.rows && c.rows == a.rows && c.columns == b.columns);
  add_all(a.values.data(), a.columns, 1, a.columns, b, c);
}

void add_product_of_transposed(const Matrix& a, const Matrix& b, Matrix& c) {
  LATHE_CHECK(a.rows == b.rows && c.rows == a.columns && c.columns == b.columns);
  add_all(a.values.data(), 1, a.columns, a.rows, b, c);
}

void add_product_with_transposed(const Matrix& a, const Matrix& b, Matrix& c) {
  LATHE_CHECK(a.columns == b.columns && c.rows == a.rows && c.columns == b.rows);
  Matrix turned = Matrix::zeros(b.columns, b.rows);
  for (size_t i = 0; i < b.rows; ++i)
    for (size_t j = 0; j < b.columns; ++j) turned.row(j)[i] = b.row(i)[j];
  add_product(a, turned, c);
}

}  // namespace lathe::nn
